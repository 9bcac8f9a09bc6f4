package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// asks sends a request, and returns the answer's status and text.
func asks(t *testing.T, s http.Handler, method, path, body string) (status int, text string) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	r.Header.Set("Anthropic-Version", "2023-06-01")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

func TestSession_Script_IsAnsweredAndRequestsAreKept(t *testing.T) {
	t.Parallel()
	for api, request := range asked() {
		s := newServer(time.Millisecond)
		script := `[{"text":"first","thinking":"hm","calls":[{"name":"get_weather","arguments":{"city":"A"}}],"ids":true},{"text":"last"},{"status":500}]`
		if status, text := asks(t, s, "PUT", "/s/a", script); status != http.StatusOK {
			t.Fatal(status, text)
		}
		for i, want := range []string{"first", "last", "the script says so", "the script says so"} {
			if _, text := asks(t, s, "POST", "/s/a"+request.path, request.body); !strings.Contains(text, want) {
				t.Errorf("%s: answer %d is %s", api, i, text)
			}
		}
		asks(t, s, "POST", "/s/a"+request.path, `{}`)
		_, kept := asks(t, s, "GET", "/s/a/requests", "")
		var all []sent
		if err := json.Unmarshal([]byte(kept), &all); err != nil || len(all) != 5 {
			t.Fatalf("%s: %d requests are kept: %v", api, len(all), err)
		}
		if len(all[0].Faults) != 0 || len(all[4].Faults) == 0 || all[0].Path != "/s/a"+request.path {
			t.Errorf("%s: %+v", api, all)
		}
		asks(t, s, "DELETE", "/s/a", "")
		if _, kept := asks(t, s, "GET", "/s/a/requests", ""); strings.TrimSpace(kept) != "[]" {
			t.Errorf("%s: a session that was ended has requests", api)
		}
	}
}

func TestSession_ScriptsOfTheSame_HaveTheSameIDs(t *testing.T) {
	t.Parallel()
	for api, request := range asked() {
		s := newServer(time.Millisecond)
		var answers []string
		for _, name := range []string{"a", "b"} {
			asks(t, s, "PUT", "/s/"+name, `[{"text":"x","thinking":"y","calls":[{"name":"get_weather","arguments":{}}]}]`)
			_, text := asks(t, s, "POST", "/s/"+name+request.path, request.body)
			answers = append(answers, text)
		}
		if answers[0] != answers[1] {
			t.Errorf("%s: two runs of one script differ", api)
		}
	}
}

func TestSession_Begin_RefusesWhatIsNoScript(t *testing.T) {
	t.Parallel()
	for _, script := range []string{`[]`, `{}`, `x`} {
		if status, _ := asks(t, newServer(time.Millisecond), "PUT", "/s/a", script); status != http.StatusBadRequest {
			t.Errorf("%s: %d", script, status)
		}
	}
}
