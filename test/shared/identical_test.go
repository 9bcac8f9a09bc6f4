package shared

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/internal/dbtest"
	"github.com/palimpsest-context/palimpsest/internal/recordings"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/provider/anthropic"
	"github.com/palimpsest-context/palimpsest/pkg/provider/neutral"
	"github.com/palimpsest-context/palimpsest/pkg/provider/openaichat"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/bolt"
	"github.com/palimpsest-context/palimpsest/pkg/store/memory"
	"github.com/palimpsest-context/palimpsest/pkg/store/postgres"
	"github.com/palimpsest-context/palimpsest/pkg/store/redis"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
	"github.com/palimpsest-context/palimpsest/pkg/tokens/chars4"
)

// TestStores_LongConversation_IdenticalContexts: with clock and ids given, a long conversation under every mechanism (expiry, pruning,
// compaction, citations, additions, corrections, rewinds, what is brought back) is the same bytes to the model on every store, at every
// build, in every format.
func TestStores_LongConversation_IdenticalContexts(t *testing.T) {
	t.Parallel()
	logs := recordings.Text(t, "loghub", "HDFS_2k.log")
	want := play(t, memory.New(memory.Options{}), logs)
	if len(want) < 100 {
		t.Fatalf("only %d builds", len(want))
	}
	for name, open := range map[string]func(*testing.T) (store.Store, error){
		"bolt": func(t *testing.T) (store.Store, error) {
			return bolt.Open(filepath.Join(t.TempDir(), "store.db"), bolt.Options{})
		},
		"postgres": func(t *testing.T) (store.Store, error) {
			return postgres.Open(t.Context(), postgres.Options{DSN: dbtest.SharedPostgres(t).DSN, Schema: "identical"})
		},
		"redis": func(t *testing.T) (store.Store, error) {
			return redis.Open(t.Context(), redis.Options{URL: "redis://" + dbtest.SharedRedis(t).Address, Prefix: "identical:"})
		},
		"redis cluster": func(t *testing.T) (store.Store, error) {
			nodes := dbtest.SharedCluster(t).Addresses
			return redis.Open(t.Context(), redis.Options{URL: "redis://" + nodes[0] + "?addr=" + strings.Join(nodes[1:], "&addr="), Prefix: "identical:"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := open(t)
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, s, logs)
			for i := range want {
				if i >= len(got) || got[i] != want[i] {
					t.Fatalf("build %d of %d differs from that in memory", i, len(want))
				}
			}
		})
	}
}

// player is a conversation that is played on a store.
type player struct {
	*engine.Engine
	t      *testing.T
	random *rand.Rand
	logs   string
	now    time.Time
	ids    uint64
	calls  int
	builds []string
	kinds  map[conversation.DecisionKind]int
}

var talk = engine.Key{Namespace: "default", Conversation: "c"}

func play(t *testing.T, s store.Store, logs string) []string {
	t.Helper()
	p := &player{t: t, random: rand.New(rand.NewPCG(1, 2)), logs: logs, now: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), kinds: map[conversation.DecisionKind]int{}}
	turns, chars, percent, protect, least := int32(12), int32(8000), int32(30), int32(3000), int32(1500)
	on, off := true, false
	p.Engine = engine.New(engine.Options{
		Store: s, Counters: []tokens.Counter{chars4.New(), counter{}}, Formats: []provider.Format{neutral.New(), openaichat.New(), anthropic.New()},
		Clock: func() time.Time { return p.now }, CacheBytes: 1 << 20, ContentCacheBytes: 1 << 20, OnError: func(err error) { t.Error(err) },
		IDs: func() (id conversation.ID) {
			p.ids++
			binary.BigEndian.PutUint64(id[8:], p.ids)
			return id
		},
		Defaults: conversation.Policy{
			Expiration: conversation.ExpirationPolicy{Results: conversation.Expiration{Turns: &turns, Mode: conversation.ExpirationCompact, PreserveOriginal: &off}},
			Citations:  conversation.CitationsPolicy{On: &on, ThresholdChars: &chars},
			Pruning:    conversation.PruningPolicy{ProtectTokens: &protect, MinimumTokens: &least},
			Compaction: conversation.CompactionPolicy{Strategy: conversation.StrategyHierarchical},
			Fit:        conversation.FitPolicy{MaxResultPercent: &percent},
		},
	})
	defer func() { p.Close(); p.must(s.Close()) }()
	for i := range 160 {
		p.now = p.now.Add(time.Duration(p.random.IntN(90)) * time.Second)
		p.step(i)
	}
	t.Logf("%d builds, decisions by kind: %v", len(p.builds), p.kinds)
	return p.builds
}

// counter has the name of the default one, so that no vocabulary need be loaded.
type counter struct{ chars4.Counter }

func (counter) Name() string { return "o200k" }

func (p *player) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// words are a piece of the logs.
func (p *player) words(n int) string {
	at := p.random.IntN(len(p.logs) - n)
	return strings.ToValidUTF8(p.logs[at:at+n], "?")
}

func (p *player) say(role conversation.Role, parts ...conversation.Part) {
	p.t.Helper()
	_, err := p.Append(context.Background(), engine.AppendRequest{Key: talk, Messages: []conversation.Message{{Role: role, Parts: parts}}})
	p.must(err)
}

func textPart(s string) conversation.Part {
	return conversation.Part{Kind: conversation.PartText, Text: conversation.Content{Inline: s}}
}

// step is a request with some calls and their results, and now and then something else.
func (p *player) step(i int) {
	ctx := context.Background()
	p.say(conversation.RoleUser, textPart(fmt.Sprintf("Request %d. %s", i, p.words(50+p.random.IntN(500)))))
	p.build()
	for range p.random.IntN(3) {
		p.calls++
		id := fmt.Sprint("call", p.calls)
		p.say(conversation.RoleAssistant, textPart(p.words(100)), conversation.Part{Kind: conversation.PartToolCall, Call: &conversation.ToolCall{
			CallID: id, Name: "read", Arguments: conversation.Content{Inline: fmt.Sprintf(`{"line":%d}`, p.calls)},
		}})
		p.say(conversation.RoleTool, conversation.Part{Kind: conversation.PartToolResult, Result: &conversation.ToolResult{
			CallID: id, Text: conversation.Content{Inline: p.words(100 << p.random.IntN(8))},
		}})
		p.build()
	}
	p.say(conversation.RoleAssistant, textPart(p.words(200)))
	switch count, _, err := p.Count(ctx, talk, conversation.Range{End: 1 << 30}, engine.Filter{}); {
	case err != nil:
		p.t.Fatal(err)
	case i%17 == 16:
		last := count - 1
		_, err := p.Correct(ctx, engine.CorrectRequest{Key: talk, Index: &last, Parts: []engine.CorrectedPart{{Text: "corrected: " + p.words(40)}}})
		p.must(err)
	case i%23 == 22:
		_, err := p.Rewind(ctx, engine.RewindRequest{Key: talk, From: count - 1})
		p.must(err)
	case i%29 == 28:
		p.must(p.Sweep(ctx))
	}
}

// build builds in each format, at a large and at a small budget, and notes what came out.
func (p *player) build() {
	p.t.Helper()
	none := int32(0)
	for i, f := range []conversation.Format{conversation.FormatOpenAIChat, conversation.FormatAnthropic, conversation.FormatNeutral} {
		window := int32(32_000)
		if i == 2 {
			window = 9000
		}
		r, err := p.Build(context.Background(), engine.BuildRequest{
			Key: talk, Format: f, Budget: engine.BudgetOverride{ContextWindow: &window, ReservedOutput: &none}, DryRun: i > 0,
		})
		p.must(err)
		for _, d := range r.Decisions {
			p.kinds[d.Kind]++
		}
		p.builds = append(p.builds, fmt.Sprintf("%x %d %x", r.SHA256, r.Tokens.Total, sha256.Sum256(fmt.Append(nil, r.Decisions))))
	}
}
