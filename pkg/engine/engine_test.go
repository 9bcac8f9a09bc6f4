package engine_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync/atomic"
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
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
	"github.com/palimpsest-context/palimpsest/pkg/tokens/chars4"
)

// bench is an engine over memory with a clock and ids that tests steer.
type bench struct {
	*engine.Engine
	store store.Store
	now   time.Time
	ids   atomic.Uint64
}

func newBench(cacheBytes int64) *bench {
	return newBenchOn(memory.New(memory.Options{}), cacheBytes)
}

func newBenchOn(s store.Store, cacheBytes int64) *bench {
	return newBenchWith(s, func(o *engine.Options) { o.CacheBytes = cacheBytes })
}

// newBenchWith is an engine with options that a test changes.
func newBenchWith(s store.Store, change func(*engine.Options)) *bench {
	b := &bench{store: s, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	o := engine.Options{
		Store:    s,
		Counters: []tokens.Counter{chars4.New(), named{chars4.New(), "o200k"}},
		Formats:  []provider.Format{neutral.New(), openaichat.New(), openairesponses.New(), anthropic.New(), gemini.New()},
		Clock:    func() time.Time { return b.now },
		IDs:      b.id,
		Defaults: sliding(),
		Models:   map[string]conversation.ModelProfile{"shipped": {Model: "shipped", ContextWindowTokens: ptr(int32(50_000)), ReservedOutputTokens: ptr(int32(0))}},
		OnError:  func(err error) { panic(err) },
	}
	change(&o)
	b.Engine = engine.New(o)
	return b
}

// sliding is the policy of tests that are about something else than pruning and compaction: the window's start moves.
func sliding() conversation.Policy {
	return conversation.Policy{
		Pruning:    conversation.PruningPolicy{Off: ptr(true)},
		Compaction: conversation.CompactionPolicy{Strategy: conversation.StrategySlidingWindow},
	}
}

func (b *bench) id() conversation.ID {
	n := b.ids.Add(1)
	var id conversation.ID
	binary.BigEndian.PutUint64(id[8:], n)
	return id
}

// named gives a counter the name of the default one, so that tests need not load a vocabulary.
type named struct {
	tokens.Counter
	name string
}

func (n named) Name() string { return n.name }

var ctx = context.Background()

func keyOf(id string) engine.Key { return engine.Key{Namespace: "default", Conversation: id} }

func text(role conversation.Role, s string) conversation.Message {
	return conversation.Message{Role: role, Parts: []conversation.Part{
		{Kind: conversation.PartText, Text: conversation.Content{Inline: s}},
	}}
}

func call(ids ...string) conversation.Message {
	m := conversation.Message{Role: conversation.RoleAssistant}
	for _, id := range ids {
		m.Parts = append(m.Parts, conversation.Part{Kind: conversation.PartToolCall, Call: &conversation.ToolCall{
			CallID: id, Name: "search", Arguments: conversation.Content{Inline: `{"q":"` + id + `"}`},
		}})
	}
	return m
}

func result(id, s string) conversation.Message {
	return conversation.Message{Role: conversation.RoleTool, Parts: []conversation.Part{
		{Kind: conversation.PartToolResult, Result: &conversation.ToolResult{CallID: id, Text: conversation.Content{Inline: s}}},
	}}
}

func (b *bench) append(t testing.TB, id string, messages ...conversation.Message) *engine.AppendResult {
	t.Helper()
	r, err := b.Append(ctx, engine.AppendRequest{Key: keyOf(id), Messages: messages})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func budgetOf(tokens int32) engine.BudgetOverride {
	zero := int32(0)
	return engine.BudgetOverride{ContextWindow: &tokens, ReservedOutput: &zero}
}

func (b *bench) build(t testing.TB, id string, f conversation.Format, budget int32) *engine.BuildResult {
	t.Helper()
	r, err := b.Build(ctx, engine.BuildRequest{Key: keyOf(id), Format: f, Budget: budgetOf(budget)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestEngine_Build_ShortConversationInFull(t *testing.T) {
	b := newBench(1 << 20)
	b.append(t, "c", text(conversation.RoleSystem, "Be brief."), text(conversation.RoleUser, "Find x."), call("1"), result("1", "found"))
	r := b.build(t, "c", conversation.FormatOpenAIChat, 1000)
	want := `[{"role":"system","content":"Be brief."},{"role":"user","content":"Find x."},` +
		`{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"search","arguments":"{\"q\":\"1\"}"}}]},` +
		`{"role":"tool","tool_call_id":"1","content":"found"}]`
	if got := string(r.MessagesJSON); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if r.Turn != 1 || r.Manifest.Seq != 1 || r.Prefix.BrokenBy != engine.BreakFirstBuild {
		t.Errorf("turn %d, manifest %d, prefix %+v", r.Turn, r.Manifest.Seq, r.Prefix)
	}
}

func TestEngine_Build_LongConversationMovesWindow(t *testing.T) {
	b := newBench(1 << 20)
	b.append(t, "c", text(conversation.RoleSystem, "Be brief."), text(conversation.RoleUser, "Start here."))
	moved := 0
	for i := range 200 {
		id := fmt.Sprint("k", i)
		b.append(t, "c", call(id), result(id, fmt.Sprint("the answer is ", i, " and it is quite long, so that the window fills")))
		r := b.build(t, "c", conversation.FormatAnthropic, 1000)
		if r.Tokens.Total > 1000 {
			t.Fatalf("step %d: %d tokens", i, r.Tokens.Total)
		}
		if r.Prefix.BrokenBy == engine.BreakWindowMoved {
			moved++
		} else if i > 0 && r.Prefix.StableBlocks != r.Prefix.PreviousBlocks {
			t.Fatalf("step %d: the prefix broke without a rewrite: %+v", i, r.Prefix)
		}
	}
	if moved == 0 || moved > 20 {
		t.Errorf("the window moved %d times", moved)
	}
}
