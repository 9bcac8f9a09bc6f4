package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

// agent keeps a whole conversation in one API's JSON.
type agent struct {
	path     string
	list     string // the member that holds the conversation
	request  object // without it
	messages []any  // the conversation
	user     func(text string) any
	// reply adds an answer to the conversation, and returns its calls and its text.
	reply func(a *agent, answer object) (calls []call, text string)
	// results adds what the calls return.
	results func(a *agent, calls []call)
	// assemble makes an answer of a stream's data.
	assemble func(events []object) object
}

// tools of the toy, under names as frameworks may write them.
var toolNames = []string{"get_weather", "web_search", "fetch_log", "mcp__palimpsest__retrieve_content", "expand_message", "search_conversation"}

// returned is what a tool of the toy says.
func returned(name string) string {
	switch toolOf(name) {
	case "fetch_log":
		return `[c4-k3v7q2mz: 1000000 chars. Full text: expand_message(4)]`
	case "retrieve_content":
		return "line 7\n09:00 FATAL billing: disk full\nline 9"
	}
	return "fine"
}

func schema() object { return object{"type": "object", "properties": object{}} }

func agents() map[string]func() *agent {
	return map[string]func() *agent{"chat": chatAgent, "responses": responsesAgent, "anthropic": anthropicAgent, "gemini": geminiAgent}
}

// run plays the toy and returns the final texts and the number of the model's calls.
func (a *agent) run(t *testing.T, s http.Handler, stream bool) (texts []string, called int) {
	t.Helper()
	for _, said := range []string{"Why does billing fail?", again} {
		a.messages = append(a.messages, a.user(said))
		for range 10 {
			called++
			calls, text := a.reply(a, a.call(t, s, stream))
			if len(calls) == 0 {
				texts = append(texts, text)
				break
			}
			a.results(a, calls)
		}
	}
	return texts, called
}

func (a *agent) call(t *testing.T, s http.Handler, stream bool) object {
	t.Helper()
	path := a.path
	body := with(a.request, object{a.list: a.messages})
	switch {
	case stream && a.list == "contents":
		path = strings.Replace(path, ":generateContent", ":streamGenerateContent", 1)
	case stream:
		body["stream"] = true
	}
	sent, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(string(sent)))
	r.Header.Set("Anthropic-Version", "2023-06-01")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		t.Fatalf("refused: %s\nof %s", w.Body, sent)
	}
	if stream {
		return a.assemble(eventsOf(t, w.Body))
	}
	return decode(t, w.Body.String())
}

func decode(t *testing.T, text string) (o object) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return o
}

func eventsOf(t *testing.T, body io.Reader) (out []object) {
	t.Helper()
	scanner := bufio.NewScanner(body)
	for scanner.Scan() {
		if data, ok := strings.CutPrefix(scanner.Text(), "data: "); ok && data != "[DONE]" {
			out = append(out, decode(t, data))
		}
	}
	return out
}

func TestToy_EveryAPI_TakesSevenCallsWholeAndStreamed(t *testing.T) {
	t.Parallel()
	for api, create := range agents() {
		for _, stream := range []bool{false, true} {
			s := newServer(0)
			texts, called := create().run(t, s, stream)
			const want = "The log says: 09:00 FATAL billing: disk full"
			if called != 7 || !slices.Equal(texts, []string{want, want + " " + want}) {
				t.Errorf("%s, stream %v: %d calls of the model, which said %q", api, stream, called, texts)
			}
			_, answer := get(s, "/stats")
			want2 := `"calls":{"expand_message":1,"fetch_log":1,"get_weather":2,"retrieve_content":1,"search_conversation":1,"web_search":1}`
			if !strings.Contains(answer, want2) || !strings.Contains(answer, `"refused":0`) {
				t.Errorf("%s, stream %v: %s", api, stream, answer)
			}
		}
	}
}

// A tool that is not offered leaves its step out, and a caller who wants one call at a time gets one.
func TestToy_FewerTools_LeavesStepsOut(t *testing.T) {
	t.Parallel()
	a := chatAgent()
	a.request["tools"] = chatTools(toolNames[:2])
	a.request["parallel_tool_calls"] = false
	if texts, called := a.run(t, newServer(0), false); called != 5 || texts[0] != "I have seen no fatal line." {
		t.Errorf("%d calls of the model, which said %q", called, texts)
	}
	a = chatAgent()
	a.request["tool_choice"] = "none"
	if _, called := a.run(t, newServer(0), false); called != 2 {
		t.Errorf("%d calls of the model without tools", called)
	}
}

func TestServer_Abort_EndsWithinTheLastCall(t *testing.T) {
	t.Parallel()
	for api, create := range agents() {
		a := create()
		a.path = strings.Replace(a.path, "models/fake", "models/"+aborting, 1)
		if a.request["model"] != nil {
			a.request["model"] = aborting
		}
		a.messages = append(a.messages, a.user("Why?"))
		web := httptest.NewServer(newServer(0))
		body, err := a.broken(t, web.URL)
		web.Close()
		if err == nil || !strings.Contains(body, "get_weather") || !strings.Contains(body, "Let") || strings.Contains(body, `outage`) {
			t.Errorf("%s: ended with %v after %s", api, err, body)
		}
	}
}

// broken reads a stream until it breaks off.
func (a *agent) broken(t *testing.T, base string) (string, error) {
	t.Helper()
	path := strings.Replace(a.path, ":generateContent", ":streamGenerateContent?alt=sse", 1)
	body := with(a.request, object{a.list: a.messages})
	if a.list != "contents" {
		body["stream"] = true
	}
	sent, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+path, strings.NewReader(string(sent)))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Anthropic-Version", "2023-06-01")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	read, err := io.ReadAll(answer.Body)
	return string(read), err
}

func TestServer_Slow_PausesBetweenPieces(t *testing.T) {
	t.Parallel()
	const pause = 5 * time.Millisecond
	begin := time.Now()
	status, body := post(newServer(pause), "/v1/chat/completions", `{"model":"fake-slow","stream":true,"messages":[{"role":"user","content":"hi"}]}`)
	if n := strings.Count(body, "data: "); status != http.StatusOK || time.Since(begin) < time.Duration(n)*pause {
		t.Errorf("%d, %d pieces in %v", status, n, time.Since(begin))
	}
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

func mapOf(v any) object {
	o, _ := v.(object)
	return o
}

func listOf(v any) []any {
	l, _ := v.([]any)
	return l
}

// callOf is a call of an answer, with arguments as text or as an object.
func callOf(id, name, arguments any) call {
	if o, ok := arguments.(object); ok {
		arguments = fmt.Sprint(len(o))
	}
	return call{text(id), text(name), text(arguments)}
}
