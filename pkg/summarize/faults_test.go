package summarize_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/palimpsest-context/palimpsest/internal/testlane"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
	"github.com/palimpsest-context/palimpsest/pkg/summarize/anthropic"
	"github.com/palimpsest-context/palimpsest/pkg/summarize/openai"
)

const key = "sk-a-key-that-nobody-may-see"

// client is a Model that lets go of its connections.
type client interface {
	summarize.Model
	Close()
}

// wires are the clients, and how their servers wrap a text.
var wires = map[string]struct {
	dial func(url string) (client, error)
	wrap func(text string) string
}{
	"openai": {
		func(url string) (client, error) { return openai.New(openai.Options{URL: url, Key: key}) },
		func(text string) string {
			return fmt.Sprintf(`{"choices":[{"message":{"content":%s},"finish_reason":"stop"}],"usage":{"prompt_tokens":70,"completion_tokens":7}}`, text)
		},
	},
	"anthropic": {
		func(url string) (client, error) { return anthropic.New(anthropic.Options{URL: url, Key: key}) },
		func(text string) string {
			return fmt.Sprintf(`{"content":[{"type":"text","text":%s}],"stop_reason":"end_turn","usage":{"input_tokens":30,"cache_read_input_tokens":40,"output_tokens":7}}`, text)
		},
	},
}

func text(summary string) string {
	inner, _ := json.Marshal(map[string]string{"summary": summary})
	outer, _ := json.Marshal(string(inner))
	return string(outer)
}

func ask(content string) *summarize.Request {
	return &summarize.Request{
		Scope: summarize.Scope{Namespace: "n", Conversation: "c"}, Content: content, Hash: sha256.Sum256([]byte(content)),
		Chars: len(content), Target: 100,
	}
}

// handler answers with a fault. wrap puts a text into the answer that the client expects.
type handler func(w http.ResponseWriter, r *http.Request, wrap func(string) string)

// body sends an answer with headers of the kind "Name: value".
func body(status int, text string, headers ...string) handler {
	return func(w http.ResponseWriter, _ *http.Request, _ func(string) string) {
		for _, h := range headers {
			name, value, _ := strings.Cut(h, ": ")
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}
}

func wrapped(text string, contentType string) handler {
	return func(w http.ResponseWriter, _ *http.Request, wrap func(string) string) {
		w.Header().Set("Content-Type", contentType)
		_, _ = io.WriteString(w, wrap(text))
	}
}

func drip(w http.ResponseWriter, r *http.Request, wrap func(string) string) {
	for _, c := range []byte(wrap(text("short"))) {
		_, _ = w.Write([]byte{c})
		_ = http.NewResponseController(w).Flush()
		select {
		case <-time.After(100 * time.Millisecond):
		case <-r.Context().Done():
			return
		}
	}
}

func flood(w http.ResponseWriter, _ *http.Request, _ func(string) string) {
	chunk := []byte(strings.Repeat(`{"summary":"x"} `, 1<<12))
	for range 100 << 20 / len(chunk) {
		if _, err := w.Write(chunk); err != nil {
			return
		}
	}
}

func hangUp(w http.ResponseWriter, _ *http.Request, _ func(string) string) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = conn.Close()
	}
}

func silentAfterHeaders(w http.ResponseWriter, r *http.Request, _ func(string) string) {
	w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}

func silent(_ http.ResponseWriter, r *http.Request, _ func(string) string) { <-r.Context().Done() }

func echo(w http.ResponseWriter, r *http.Request, wrap func(string) string) {
	var q struct {
		Messages []struct{ Content string }
	}
	_ = json.NewDecoder(r.Body).Decode(&q)
	_, _ = io.WriteString(w, wrap(text(q.Messages[len(q.Messages)-1].Content)))
}

func manyHeaders(w http.ResponseWriter, _ *http.Request, wrap func(string) string) {
	for i := range 2000 {
		w.Header().Set(fmt.Sprint("X-", i), strings.Repeat("x", 100))
	}
	_, _ = io.WriteString(w, wrap(text("short")))
}

// TestService_FaultyServers_EachEndsInTimeWithItsReason runs both clients against a server with each fault.
func TestService_FaultyServers_EachEndsInTimeWithItsReason(t *testing.T) {
	for name, test := range map[string]struct {
		fault  handler
		reason summarize.Reason // "" for a good answer
		status int
		calls  int64 // at most 3, with pauses that differ, where it is 0
		whole  bool  // takes the whole deadline
	}{
		"good":                     {fault: wrapped(text("short"), "application/json"), calls: 1},
		"text/plain":               {fault: wrapped(text("short"), "text/plain"), calls: 1},
		"event stream":             {fault: body(200, "data: {}\n\n", "Content-Type: text/event-stream"), reason: summarize.BadAnswer, calls: 1},
		"a page":                   {fault: body(200, "<html>Sign in</html>", "Content-Type: text/html"), reason: summarize.BadAnswer, calls: 1},
		"black hole":               {fault: silent, reason: summarize.Timeout, calls: 1, whole: true},
		"hang after headers":       {fault: silentAfterHeaders, reason: summarize.Timeout, calls: 1, whole: true},
		"a byte at a time":         {fault: drip, reason: summarize.Timeout, calls: 1, whole: true},
		"hangs up":                 {fault: hangUp, reason: summarize.Unreachable},
		"429, an hour":             {fault: body(429, key, "Retry-After: 3600"), reason: summarize.RateLimited, status: 429, calls: 1},
		"429, a date":              {fault: body(429, "", "Date: Mon, 01 Jan 2024 00:00:00 GMT", "Retry-After: Mon, 01 Jan 2024 01:00:00 GMT"), reason: summarize.RateLimited, status: 429, calls: 1},
		"503, an hour":             {fault: body(503, "", "Retry-After: 3600"), reason: summarize.Status, status: 503, calls: 1},
		"500":                      {fault: body(500, `{"error":{"message":"`+key+`"}}`), reason: summarize.Status, status: 500},
		"401":                      {fault: body(401, "wrong key "+key), reason: summarize.Status, status: 401, calls: 1},
		"100 MB":                   {fault: flood, reason: summarize.BadAnswer, calls: 1},
		"100 KB of headers":        {fault: manyHeaders, reason: summarize.Unreachable},
		"bad JSON":                 {fault: body(200, `{"choices":[`), reason: summarize.BadAnswer, calls: 1},
		"another JSON":             {fault: body(200, `{"error":"no"}`), reason: summarize.BadAnswer, calls: 1},
		"no body":                  {fault: body(200, ""), reason: summarize.BadAnswer, calls: 1},
		"invalid UTF-8":            {fault: wrapped("\"{\\\"summary\\\":\\\"a\xff\\\"}\"", "application/json"), reason: summarize.BadAnswer, calls: 1},
		"not the JSON asked for":   {fault: wrapped(`"Sorry."`, "application/json"), reason: summarize.BadAnswer, calls: 1},
		"empty summary":            {fault: wrapped(text(""), "application/json"), reason: summarize.Empty, calls: 1},
		"longer than the content":  {fault: wrapped(text(strings.Repeat("x", 390)), "application/json"), reason: summarize.NotShorter, calls: 1},
		"far longer":               {fault: wrapped(text(strings.Repeat("x", 5000)), "application/json"), reason: summarize.TooLong, calls: 1},
		"echo":                     {fault: echo, reason: summarize.Echo, calls: 1},
		"redirect to another host": {fault: body(307, "", "Location: http://127.0.0.2:1/"), reason: summarize.Status, status: 307, calls: 1},
	} {
		for wire, with := range wires {
			t.Run(name+"/"+wire, func(t *testing.T) {
				defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
				var calls atomic.Int64
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					calls.Add(1)
					question, _ := io.ReadAll(r.Body) // a server that has not read it does not see that its client went away
					r.Body = io.NopCloser(bytes.NewReader(question))
					test.fault(w, r, with.wrap)
				}))
				defer server.Close()
				deadline := time.Second
				if test.calls == 0 { // beside other tests a second passes before three tries have failed
					deadline += testlane.Slack(0)
				}
				began := time.Now()
				got := once(t, with.dial, server.URL, deadline)
				took := time.Since(began)
				made, want := calls.Load(), test.calls
				if want == 0 && made <= 3 {
					want = made
				}
				if summarize.ReasonOf(got.Err) != test.reason || made != want {
					t.Errorf("%q, %v after %d calls; want %q after %d", got.Text, got.Err, made, test.reason, want)
				}
				if took > deadline+testlane.Slack(500*time.Millisecond) || !test.whole && took > deadline+testlane.Slack(0) {
					t.Errorf("took %v", took)
				}
				var failure *summarize.Failure
				if errors.As(got.Err, &failure) && failure.Status != test.status {
					t.Errorf("status %d", failure.Status)
				}
			})
		}
	}
}

// once makes one request at a service with one model. No key is in what comes back.
func once(t *testing.T, dial func(string) (client, error), url string, deadline time.Duration) summarize.Result {
	t.Helper()
	c, err := dial(url)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var told []*summarize.Failure
	d := summarize.New(summarize.Options{
		Providers: map[string]summarize.Model{"p": c}, Models: []string{"p/m"}, Deadline: deadline,
		OnFailure: func(f *summarize.Failure) { told = append(told, f) },
	})
	r := ask(strings.Repeat("content ", 48))
	d.Start(r)
	d.Wait(t.Context(), []*summarize.Request{r})
	got, ok := d.Result(r)
	d.Close()
	if !ok {
		t.Fatal("has not ended")
	}
	for _, shown := range []string{fmt.Sprintf("%v %+v %#v", got.Err, got, got), fmt.Sprintf("%v %+v %#v", told, told, told), fmt.Sprintf("%v %+v", d, d.Usage())} {
		if strings.Contains(shown, key) || strings.Contains(shown, url) || strings.Contains(shown, "content content") {
			t.Errorf("shows too much: %s", shown)
		}
	}
	return got
}

func TestService_NobodyListens(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = listener.Close()
	for _, with := range wires {
		if got := once(t, with.dial, "http://"+listener.Addr().String(), time.Second); summarize.ReasonOf(got.Err) != summarize.Unreachable {
			t.Errorf("%v", got.Err)
		}
	}
}

// TestService_AcceptsAndSaysNothing: the connection is made, and not even HTTP comes.
func TestService_AcceptsAndSaysNothing(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	began := time.Now()
	got := once(t, wires["openai"].dial, "http://"+listener.Addr().String(), time.Second)
	if summarize.ReasonOf(got.Err) != summarize.Timeout || time.Since(began) > time.Second+testlane.Slack(500*time.Millisecond) {
		t.Errorf("%v after %v", got.Err, time.Since(began))
	}
}

func TestService_FloodOfBytes_TakesLittleMemory(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { flood(w, r, nil) }))
	defer server.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := once(t, wires["openai"].dial, server.URL, 10*time.Second)
	runtime.ReadMemStats(&after)
	allocated := after.TotalAlloc - before.TotalAlloc
	t.Logf("allocated %d KiB", allocated>>10)
	if summarize.ReasonOf(got.Err) != summarize.BadAnswer || allocated > 10<<20 {
		t.Errorf("%v, %d bytes allocated", got.Err, allocated)
	}
}

func TestClients_Redirect_KeyGoesNowhere(t *testing.T) {
	var visits atomic.Int64
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { visits.Add(1) }))
	defer elsewhere.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		server := httptest.NewServer(http.RedirectHandler(elsewhere.URL, status))
		for _, with := range wires {
			once(t, with.dial, server.URL, time.Second)
		}
		server.Close()
	}
	if visits.Load() != 0 {
		t.Errorf("followed %d times", visits.Load())
	}
}

// TestClients_Request_OnTheWire holds what is sent to what the APIs document.
func TestClients_Request_OnTheWire(t *testing.T) {
	for wire, want := range map[string]struct {
		path, auth, version, body string
		cached                    int64
	}{
		"openai": {
			"/base/chat/completions?v=1", "Bearer " + key, "",
			`{"model":"vendor/m","messages":[{"role":"system","content":"S"},{"role":"user","content":"<P> \"q\""}],"max_tokens":9}`, 0,
		},
		"anthropic": {
			"/base/v1/messages?v=1", key, "2023-06-01",
			`{"model":"vendor/m","max_tokens":9,"system":"S","messages":[{"role":"user","content":"<P> \"q\""}]}`, 40,
		},
	} {
		t.Run(wire, func(t *testing.T) {
			var got, sent string
			var header http.Header
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				b, _ := io.ReadAll(r.Body)
				got, sent, header = r.URL.String(), strings.TrimSpace(string(b)), r.Header
				_, _ = io.WriteString(w, wires[wire].wrap(`"answer"`))
			}))
			defer server.Close()
			c, err := wires[wire].dial(server.URL + "/base/?v=1")
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			answer, err := c.Complete(t.Context(), summarize.Call{Model: "vendor/m", System: "S", Prompt: `<P> "q"`, MaxOutput: 9})
			if err != nil || answer != (summarize.Answer{Text: "answer", InputTokens: 70, OutputTokens: 7, CacheReadTokens: want.cached}) {
				t.Errorf("%+v, %v", answer, err)
			}
			auth := header.Get("Authorization") + header.Get("X-Api-Key")
			if got != want.path || sent != want.body || auth != want.auth || header.Get("Anthropic-Version") != want.version ||
				header.Get("User-Agent") != "palimpsest" || header.Get("Content-Type") != "application/json" {
				t.Errorf("%s %s %v", got, sent, header)
			}
		})
	}
}

func TestClients_Key_NeverInTheClear(t *testing.T) {
	for url, want := range map[string]struct{ keyless, keyed bool }{
		"https://api.example.com/v1": {true, true}, "http://127.0.0.1:1": {true, true}, "http://[::1]:1/v1": {true, true},
		"http://localhost:11434/v1": {true, true}, "http://10.0.0.1/v1": {true, false}, "http://localhost.evil.example/": {true, false},
		"HTTPS://host": {true, true}, "ftp://host": {}, "host:80": {}, "": {}, "http://": {}, "https://user:pass@host": {},
		"https://host/#x": {}, "https://ho st/": {}, "/v1": {}, "http://127.0.0.1.evil.example": {true, false},
	} {
		for keyed, ok := range map[bool]bool{false: want.keyless, true: want.keyed} {
			if err := summarize.CheckEndpoint(url, keyed); (err == nil) != ok || err != nil && strings.Contains(err.Error(), "pass") && strings.Contains(err.Error(), "user:") {
				t.Errorf("%s, with a key: %v: %v", url, keyed, err)
			}
		}
		for _, with := range wires {
			if c, err := with.dial(url); (err == nil) != want.keyed {
				t.Errorf("%s: %v", url, err)
			} else if err == nil {
				c.Close()
			}
		}
	}
}

// TestClients_ContextEnds_TheCallDoes: whoever asks decides how long.
func TestClients_ContextEnds_TheCallDoes(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = bufio.NewReader(r.Body).ReadByte()
		<-r.Context().Done()
	}))
	defer server.Close()
	for _, with := range wires {
		c, err := with.dial(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		began := time.Now()
		_, err = c.Complete(ctx, summarize.Call{})
		if summarize.ReasonOf(err) != summarize.Timeout || time.Since(began) > testlane.Slack(time.Second) {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		cancel()
		c.Close()
	}
}

// TestClients_AnswerThatIsLeftUnread_LetsGoOfItsConnection, though the context goes on: the server's writing fails, and it ends.
func TestClients_AnswerThatIsLeftUnread_LetsGoOfItsConnection(t *testing.T) {
	for _, with := range wires {
		ended := make(chan struct{})
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer close(ended)
			flood(w, r, nil)
		}))
		c, err := with.dial(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Complete(t.Context(), summarize.Call{}); summarize.ReasonOf(err) != summarize.BadAnswer {
			t.Error(err)
		}
		select {
		case <-ended:
		case <-time.After(5 * time.Second):
			t.Error("the server still writes")
			server.CloseClientConnections()
		}
		c.Close()
		server.Close()
	}
}
