package openai

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const good = `{"choices":[{"message":{"content":"answer"}}]}`

// serve runs a client against a server that answers a request's body.
func serve(t *testing.T, answer func(body string) (status int, text string)) (c *Client, bodies *[]string) {
	t.Helper()
	bodies = &[]string{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		*bodies = append(*bodies, string(b))
		status, text := answer(string(b))
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}))
	c, err := New(Options{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	t.Cleanup(c.Close)
	return c, bodies
}

func TestClient_Complete_TheFieldForTheMostTokens(t *testing.T) {
	for name, test := range map[string]struct {
		takes  string
		newer  bool
		status int
		says   string
		calls  int
		ok     bool
	}{
		"a server with the older one":   {takes: `"max_tokens":5`, calls: 1, ok: true},
		"a newer model behind a proxy":  {takes: `"max_completion_tokens":5`, status: 400, says: "Unsupported parameter: 'max_tokens'", calls: 2, ok: true},
		"an older model where it is":    {takes: `"max_tokens":5`, newer: true, status: 400, says: "unknown field max_completion_tokens", calls: 2, ok: true},
		"a newer model where it is":     {takes: `"max_completion_tokens":5`, newer: true, calls: 1, ok: true},
		"takes neither":                 {takes: "nothing", status: 400, says: "max_tokens", calls: 2},
		"refuses something else":        {takes: "nothing", status: 400, says: "context too long", calls: 1},
		"another status, the same text": {takes: "nothing", status: 403, says: "max_tokens", calls: 1},
	} {
		t.Run(name, func(t *testing.T) {
			c, bodies := serve(t, func(body string) (int, string) {
				if strings.Contains(body, test.takes) {
					return 200, good
				}
				return test.status, test.says
			})
			c.newer = test.newer
			answer, err := c.Complete(t.Context(), summarize.Call{Model: "m", MaxOutput: 5})
			if (err == nil) != test.ok || (answer.Text == "answer") != test.ok || len(*bodies) != test.calls {
				t.Errorf("%+v, %v after %d calls", answer, err, len(*bodies))
			}
			var f *summarize.Failure
			if errors.As(err, &f) && f.Status != test.status {
				t.Errorf("status %d", f.Status)
			}
			for _, body := range *bodies {
				if strings.Contains(body, "max_tokens") == strings.Contains(body, "max_completion_tokens") {
					t.Errorf("both fields, or none: %s", body)
				}
			}
		})
	}
}

func TestNew_TheFieldThatGoesFirst(t *testing.T) {
	for url, want := range map[string]bool{
		DefaultURL: true, "https://x.openai.azure.com/openai/v1?api-version=preview": true,
		"http://localhost:11434/v1": false, "https://api.openai.com.example/v1": false,
	} {
		c, err := New(Options{URL: url})
		if err != nil || c.newer != want {
			t.Errorf("%s: %v, %v", url, c.newer, err)
		}
	}
}

func TestClient_Complete_Answers(t *testing.T) {
	for text, want := range map[string]summarize.Answer{
		`{"choices":[{"message":{"content":null,"refusal":"no"},"finish_reason":"stop"}]}`:                            {},
		`{"choices":[{"message":{"content":"","reasoning_content":"hm"},"finish_reason":"length"}],"usage":null}`:     {Truncated: true},
		`{"choices":[{"message":{"content":"a"}},{"message":{"content":"b"}}],"usage":{"prompt_tokens":2},"more":[]}`: {Text: "a", InputTokens: 2},
		// What was read from the cache, and what was written to it, is part of the prompt's tokens.
		`{"choices":[{"message":{"content":"a"}}],"usage":{"prompt_tokens":2600,"prompt_tokens_details":{"cached_tokens":2000,"cache_write_tokens":400}}}`: {Text: "a", InputTokens: 2600, CacheReadTokens: 2000, CacheWriteTokens: 400},
	} {
		c, _ := serve(t, func(string) (int, string) { return 200, text })
		if got, err := c.Complete(t.Context(), summarize.Call{}); err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{`{}`, `{"choices":[]}`, `[]`, `{"choices":[{"message":{"content":["a"]}}]}`} {
		c, _ := serve(t, func(string) (int, string) { return 200, text })
		if got, err := c.Complete(t.Context(), summarize.Call{}); summarize.ReasonOf(err) != summarize.BadAnswer {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
}

func TestClient_WithoutAKey_SaysNothingOfOne(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, ok := r.Header["Authorization"]; ok {
			t.Error("sends an Authorization")
		}
		_, _ = io.WriteString(w, good)
	}))
	defer server.Close()
	c, err := New(Options{URL: server.URL, UserAgent: "palimpsest/1"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Complete(t.Context(), summarize.Call{}); err != nil {
		t.Error(err)
	}
}
