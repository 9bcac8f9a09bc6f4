package summaries

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/provider/anthropic"
	"github.com/palimpsest-context/palimpsest/pkg/provider/gemini"
	"github.com/palimpsest-context/palimpsest/pkg/provider/neutral"
	"github.com/palimpsest-context/palimpsest/pkg/provider/openaichat"
	"github.com/palimpsest-context/palimpsest/pkg/provider/openairesponses"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/memory"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
	"github.com/palimpsest-context/palimpsest/pkg/summarize/openai"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
	"github.com/palimpsest-context/palimpsest/pkg/tokens/chars4"
)

// counter is chars4 under the default's name: what is held here holds for any counter, and this one is quick.
type counter struct{ tokens.Counter }

func (counter) Name() string { return conversation.DefaultCounter }

// world is an engine over a store, with a service that asks one model.
type world struct {
	*engine.Engine
	service *summarize.Service
}

func newWorld(s store.Store, m summarize.Model) *world { return worldOf(s, m, nil) }

// worldOf is a world whose options a test changes.
func worldOf(s store.Store, m summarize.Model, change func(*engine.Options, *summarize.Options)) *world {
	service := summarize.Options{Providers: map[string]summarize.Model{"openai": m}, Models: []string{"openai/m"}}
	off := true
	o := engine.Options{
		Defaults: conversation.Policy{ // what these tests are about is not how old messages are summarized
			Pruning:    conversation.PruningPolicy{Off: &off},
			Compaction: conversation.CompactionPolicy{Strategy: conversation.StrategySlidingWindow},
		},
		Store: s, Counters: []tokens.Counter{counter{chars4.New()}}, Clock: time.Now, CacheBytes: 8 << 20,
		Formats: []provider.Format{openaichat.New(), openairesponses.New(), anthropic.New(), gemini.New(), neutral.New()},
		IDs:     func() (id conversation.ID) { _, _ = rand.Read(id[:]); return id },
		OnError: func(error) {},
	}
	if change != nil {
		change(&o, &service)
	}
	o.Summaries = summarize.New(service)
	return &world{Engine: engine.New(o), service: o.Summaries}
}

// close ends what is under way.
func (w *world) close() {
	w.Engine.Close()
	w.service.Close()
}

// served is a world whose model is an HTTP server, asked as the sidecar asks it.
func served(t *testing.T, answer http.HandlerFunc) *world {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // a server that has not read all does not notice that the client hangs up
		r.Body = io.NopCloser(bytes.NewReader(body))
		answer(w, r)
	}))
	return servedBy(t, server.URL, server.Close)
}

func servedBy(t *testing.T, url string, closeServer func()) *world {
	t.Helper()
	client, err := openai.New(openai.Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	s := memory.New(memory.Options{})
	w := newWorld(s, client)
	t.Cleanup(func() {
		w.service.Close()
		client.Close()
		closeServer()
		_ = s.Close()
	})
	return w
}

// reply is what an OpenAI-compatible server says for a text.
func reply(text string) []byte {
	b, err := json.Marshal(map[string]any{"choices": []any{map[string]any{
		"message": map[string]any{"role": "assistant", "content": text}, "finish_reason": "stop",
	}}})
	if err != nil {
		panic(err)
	}
	return b
}

// summed is the answer that the prompt asks for.
func summed(summary string) string {
	b, err := json.Marshal(map[string]string{"summary": summary})
	if err != nil {
		panic(err)
	}
	return string(b)
}

// requests records what a model was asked.
type requests struct {
	mu   sync.Mutex
	seen []string
}

func (r *requests) record(request *http.Request) {
	body, _ := io.ReadAll(request.Body)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = append(r.seen, string(body))
}

func (r *requests) all() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.seen, "\n")
}

func text(role conversation.Role, s string) conversation.Message {
	return conversation.Message{Role: role, Parts: []conversation.Part{{Kind: conversation.PartText, Text: conversation.Content{Inline: s}}}}
}

// exchange is a call and a result that a model is to summarize after a turn.
func exchange(id, output string) []conversation.Message {
	call := text(conversation.RoleAssistant, "I look it up.")
	call.Parts = append(call.Parts, conversation.Part{Kind: conversation.PartToolCall, Call: &conversation.ToolCall{
		CallID: id, Name: "search", Arguments: conversation.Content{Inline: `{"q":"x"}`},
	}})
	turns, length := int32(1), int32(300)
	result := &conversation.ToolResult{CallID: id, Name: "search", Text: conversation.Content{Inline: output}, Expiration: &conversation.Expiration{
		Turns: &turns, Mode: conversation.ExpirationCompact, CompactMode: conversation.CompactSummary, CompactLength: &length,
	}}
	return []conversation.Message{call, {Role: conversation.RoleTool, Parts: []conversation.Part{{Kind: conversation.PartToolResult, Result: result}}}}
}

// output is what a tool found: long, and nowhere twice the same.
func output(of string) string {
	var b strings.Builder
	for i := range 80 {
		fmt.Fprintf(&b, "line %d of %s says %x\n", i, of, i*7919)
	}
	return b.String()
}

const (
	secretSystem = "LEADING-RULE: you are careful"
	secretPinned = "PINNED-RULE: never delete files"
)

// begun is a conversation with rules, and a result that falls due in turn 2.
func (w *world) begun(t *testing.T, key engine.Key, maxWait time.Duration) string {
	t.Helper()
	return w.begunWithin(t, key, maxWait, conversation.FitPolicy{})
}

func (w *world) begunWithin(t *testing.T, key engine.Key, maxWait time.Duration, fit conversation.FitPolicy) string {
	t.Helper()
	found := output(key.Conversation)
	pinned := text(conversation.RoleUser, secretPinned)
	pinned.Pinned = true
	_, err := w.Create(t.Context(), engine.CreateRequest{Key: key, Info: store.Info{Counter: conversation.DefaultCounter, Policy: conversation.Policy{
		Fit: fit, MaxWait: &maxWait, Rewrite: conversation.RewritePolicy{Mode: conversation.RewriteEager},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	messages := append([]conversation.Message{text(conversation.RoleSystem, secretSystem), pinned, text(conversation.RoleUser, "find it")}, exchange("c1", found)...)
	w.say(t, key, append(messages, text(conversation.RoleUser, "and now?"))...)
	return found
}

func (w *world) say(t *testing.T, key engine.Key, messages ...conversation.Message) {
	t.Helper()
	if _, err := w.Append(t.Context(), engine.AppendRequest{Key: key, Messages: messages}); err != nil {
		t.Fatal(err)
	}
}

func (w *world) build(t *testing.T, key engine.Key, turn int32, f conversation.Format) *engine.BuildResult {
	t.Helper()
	window := int32(128_000)
	got, err := w.Build(context.WithoutCancel(t.Context()), engine.BuildRequest{
		Key: key, Turn: &turn, Format: f, Budget: engine.BudgetOverride{ContextWindow: &window},
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}
