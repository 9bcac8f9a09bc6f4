package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/provider/neutral"
	"github.com/palimpsest-context/palimpsest/pkg/provider/openaichat"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/memory"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
	"github.com/palimpsest-context/palimpsest/pkg/tokens/chars4"
)

// room is a budget that these tests never fill.
const room = 1_000_000

// eager makes edits as soon as they are due.
var eager = conversation.Policy{Rewrite: conversation.RewritePolicy{Mode: conversation.RewriteEager}}

// lifeBench is a bench whose options a test may change. By default, due edits are made at once.
func lifeBench(s store.Store, change func(*engine.Options)) *bench {
	b := &bench{store: s, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	o := engine.Options{
		Store: s, Counters: []tokens.Counter{chars4.New(), named{chars4.New(), "o200k"}},
		Formats: []provider.Format{neutral.New(), openaichat.New()},
		Clock:   func() time.Time { return b.now }, IDs: b.id, CacheBytes: 1 << 24, Defaults: eager,
		OnError: func(err error) { panic(err) },
	}
	if change != nil {
		change(&o)
	}
	o.Defaults = o.Defaults.Or(sliding())
	b.Engine = engine.New(o)
	return b
}

func newEager() *bench { return lifeBench(memory.New(memory.Options{}), nil) }

// modelBench is an eager bench whose summaries a model writes. The test closes the service by ending.
func modelBench(t testing.TB, m summarize.Model, change func(*engine.Options)) *bench {
	service := summarize.New(summarize.Options{Providers: map[string]summarize.Model{"m": m}, Models: []string{"m/x"}})
	t.Cleanup(service.Close)
	return lifeBench(memory.New(memory.Options{}), func(o *engine.Options) {
		o.Summaries = service
		if change != nil {
			change(o)
		}
	})
}

// scribe is a model that does what a test says, and records what it was asked.
type scribe struct {
	mu    sync.Mutex
	asked []summarize.Call
	reply func(ctx context.Context, n int, c summarize.Call) (string, error)
}

func (s *scribe) Complete(ctx context.Context, c summarize.Call) (summarize.Answer, error) {
	s.mu.Lock()
	s.asked = append(s.asked, c)
	n := len(s.asked)
	s.mu.Unlock()
	summary, err := s.reply(ctx, n, c)
	if err != nil {
		return summarize.Answer{}, err
	}
	said, err := json.Marshal(map[string]string{"summary": summary})
	return summarize.Answer{Text: string(said)}, err
}

func (s *scribe) calls() []summarize.Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]summarize.Call(nil), s.asked...)
}

// writes is a scribe that always answers the same, after a time.
func writes(summary string, after time.Duration) *scribe {
	return &scribe{reply: func(ctx context.Context, _ int, _ summarize.Call) (string, error) {
		select {
		case <-time.After(after):
			return summary, nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}}
}

// turn begins the next turn in the neutral form.
func (b *bench) turn(t testing.TB, id string, change ...func(*engine.BuildRequest)) *engine.BuildResult {
	t.Helper()
	r, err := b.tryTurn(id, change...)
	if err != nil {
		t.Fatal(err, causeOf(err))
	}
	return r
}

func (b *bench) tryTurn(id string, change ...func(*engine.BuildRequest)) (*engine.BuildResult, error) {
	r := engine.BuildRequest{Key: keyOf(id), Format: conversation.FormatNeutral, Budget: budgetOf(room)}
	for _, c := range change {
		c(&r)
	}
	return b.Build(ctx, r)
}

func dry(r *engine.BuildRequest) { r.DryRun = true }

func sameTurn(r *engine.BuildRequest) { r.SameTurn = true }

func within(budget int32) func(*engine.BuildRequest) {
	return func(r *engine.BuildRequest) { r.Budget = budgetOf(budget) }
}

func overriding(o conversation.ExpirationOverride) func(*engine.BuildRequest) {
	return func(r *engine.BuildRequest) { r.Override = &o }
}

func by(p conversation.Policy) func(*engine.BuildRequest) {
	return func(r *engine.BuildRequest) { r.PolicyOverride = p }
}

// seen returns what a build shows, one string per message: the texts of its parts.
func seen(r *engine.BuildResult) []string {
	var out []string
	for i := range r.Messages {
		var parts []string
		for j := range r.Messages[i].Parts {
			parts = append(parts, told(&r.Messages[i].Parts[j]))
		}
		out = append(out, strings.Join(parts, "|"))
	}
	return out
}

func told(p *conversation.Part) string {
	switch p.Kind {
	case conversation.PartText:
		return p.Text.Inline
	case conversation.PartToolCall:
		return "call"
	case conversation.PartToolResult:
		if p.Result.Output == conversation.OutputParts {
			return fmt.Sprintf("result of %d parts", len(p.Result.Parts))
		}
		return p.Result.Text.Inline
	case conversation.PartMedia:
		return "media:" + p.Media.MIMEType
	case conversation.PartReasoning:
		return "reasoning:" + p.Reasoning.Text.Inline
	case conversation.PartOpaque:
		return "opaque:" + p.Opaque.JSON.Inline
	default:
		return "?"
	}
}

// message returns what a build shows of a message; false if it does not show it.
func message(r *engine.BuildResult, index int32) (string, bool) {
	for i, s := range seen(r) {
		if r.Messages[i].Index == index {
			return s, true
		}
	}
	return "", false
}

// wantShown fails unless a build shows a message as want; "" means not at all.
func wantShown(t testing.TB, r *engine.BuildResult, index int32, want string) {
	t.Helper()
	got, _ := message(r, index)
	if got != want {
		t.Errorf("turn %d shows of message %d\n%s\nwant\n%s", r.Turn, index, abridged(got), abridged(want))
	}
}

func abridged(s string) string {
	if len(s) <= 700 {
		return s
	}
	return fmt.Sprintf("%s <%d bytes> %s", s[:300], len(s)-600, s[len(s)-300:])
}

// decision returns the decision about a message; nil if there is none.
func decision(r *engine.BuildResult, index int32) *conversation.Decision {
	for i := range r.Decisions {
		if d := &r.Decisions[i]; d.First <= index && index <= d.Last {
			return d
		}
	}
	return nil
}

// lives says how long something lives.
func lives(turns int32, mode conversation.ExpirationMode) *conversation.Expiration {
	return &conversation.Expiration{Turns: &turns, Mode: mode}
}

func removed(turns int32) *conversation.Expiration {
	return lives(turns, conversation.ExpirationRemove)
}

func compacted(turns, length int32) *conversation.Expiration {
	e := lives(turns, conversation.ExpirationCompact)
	e.CompactLength = &length
	return e
}

func summarized(turns, target int32) *conversation.Expiration {
	e := compacted(turns, target)
	e.CompactMode = conversation.CompactSummary
	return e
}

// erasing is an expiration that does not preserve the original.
func erasing(e *conversation.Expiration) *conversation.Expiration {
	out := *e
	out.PreserveOriginal = ptr(false)
	return &out
}

// living gives the words and the results of a message a lifetime.
func living(m conversation.Message, e *conversation.Expiration) conversation.Message {
	m.Expiration = e
	return m
}

// resultLiving is a result with settings of its own.
func resultLiving(id, s string, e *conversation.Expiration) conversation.Message {
	m := result(id, s)
	m.Parts[0].Result.Expiration = e
	return m
}

// long returns a text of the given length that contains its name.
func long(name string, chars int) string {
	return name + strings.Repeat(" and so on it goes"[:18], chars/18+1)[:chars-len(name)]
}

// firstChars is what compaction leaves of a text of ASCII.
func firstChars(s string, n int, index int32) string {
	return fmt.Sprintf("%s...\n\n[Compacted: first %d of %d characters shown. Full text: expand_message(%d)]", s[:n], n, len(s), index)
}

// neutralMessages are messages as the neutral form would show them.
func neutralMessages(messages ...conversation.Message) []provider.Message {
	var out []provider.Message
	for i := range messages {
		out = append(out, provider.Message{Role: messages[i].Role, Parts: messages[i].Parts, Index: messages[i].Index})
	}
	return out
}
