package anthropic

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"go.uber.org/goleak"

	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func complete(t *testing.T, answer string) (summarize.Answer, error) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, ok := r.Header["X-Api-Key"]; ok {
			t.Error("sends a key")
		}
		_, _ = io.WriteString(w, answer)
	}))
	defer server.Close()
	c, err := New(Options{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	return c.Complete(t.Context(), summarize.Call{})
}

func TestClient_Complete_Answers(t *testing.T) {
	for text, want := range map[string]summarize.Answer{
		`{"content":[{"type":"thinking","thinking":"hm","text":"no"},{"type":"text","text":"a"},{"type":"text","text":"b"}],"stop_reason":"end_turn"}`: {Text: "ab"},
		`{"content":[],"stop_reason":"refusal"}`: {},
		`{"content":[],"stop_reason":"max_tokens","usage":{"input_tokens":1,"cache_creation_input_tokens":2,"cache_read_input_tokens":4,"output_tokens":8}}`: {Truncated: true, InputTokens: 7, OutputTokens: 8, CacheReadTokens: 4, CacheWriteTokens: 2},
	} {
		if got, err := complete(t, text); err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{`{}`, `{"content":null}`, `{"content":"a"}`, `[]`, `{"type":"error","error":{}}`} {
		if got, err := complete(t, text); summarize.ReasonOf(err) != summarize.BadAnswer {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
}
