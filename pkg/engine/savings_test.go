package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store/memory"
)

// addsUp requires that the weight of a context, and what the report says each mechanism keeps out of it, add up to the record.
func addsUp(t tb, b *bench, r *engine.BuildResult) {
	t.Helper()
	addsUpIn(t, b, "c", r)
}

func addsUpIn(t tb, b *bench, id string, r *engine.BuildResult) {
	t.Helper()
	k := &r.Tokens
	apart := int64(0) // what the caller keeps out, and no mechanism
	for _, d := range r.Decisions {
		if d.Kind == conversation.DecisionHidden || d.Reason == conversation.ReasonRemovedByCaller {
			apart += d.Before
		}
	}
	saved := apart + k.SavedByClipping + k.SavedByFit + k.SavedByExpiry + k.SavedByRetention + k.SavedByPruning + k.SavedByCiting + k.SavedByDeduplication + k.SavedByCompaction
	c, err := b.Get(ctx, keyOf(id))
	if err != nil {
		t.Fatalf("%v", err)
	}
	if k.Messages+saved != c.Head.Tokens {
		t.Fatalf("%d tokens and %d saved are not the %d on record: %+v, decisions %+v", k.Messages, saved, c.Head.Tokens, *k, r.Decisions)
	}
}

// TestEngine_Build_SavingsAddUp: with only the opening left out, with a summary heavier than its messages, with a message brought back from
// under a summary, and with a new window that shows the newest messages of a summary.
func TestEngine_Build_SavingsAddUp(t *testing.T) {
	for name, tt := range map[string]struct {
		strategy conversation.Strategy
		opening  bool
		budgets  []int32
		messages []conversation.Message
		restored int32 // before the last build; -1 for none
	}{
		"the opening has no room": {conversation.StrategySummarize, true, []int32{700}, []conversation.Message{user(long("opening", 600)), user(long("newest", 2600))}, -1},
		"a summary of little":     {conversation.StrategyHierarchical, false, []int32{700}, []conversation.Message{user("Hello."), user(long("long", 5600)), user("Go on.")}, -1},
		"brought back": {conversation.StrategySummarize, false, []int32{700, 700}, []conversation.Message{
			user("Hello."), answer(long("short", 200)), user("Go on."), answer(long("long", 2800)), user("Go on."),
		}, 0},
		"opened afresh": {conversation.StrategySummarize, false, []int32{700, 1400}, []conversation.Message{
			user(long("opening", 5700)), answer("a"), user("b"),
		}, -1},
	} {
		t.Run(name, func(t *testing.T) {
			p := conversation.Policy{}
			p.Compaction.Strategy, p.Compaction.KeepRecent, p.Compaction.TailPercent, p.Compaction.SummaryTokens = tt.strategy, ptr(int32(2)), ptr(int32(12)), ptr(int32(100))
			p.Fit.KeepOpening = &tt.opening
			b := newBenchWith(memory.New(memory.Options{}), func(o *engine.Options) { o.CacheBytes, o.Defaults = 1<<20, p })
			for _, m := range tt.messages {
				b.append(t, "c", m)
			}
			for i, budget := range tt.budgets {
				if i == len(tt.budgets)-1 && tt.restored >= 0 {
					if _, err := b.expand(tt.restored); err != nil {
						t.Fatal(err)
					}
				}
				r := b.asked(t, "c", budget, asMessages)
				addsUp(t, b, r)
			}
		})
	}
}

// TestEngine_Build_AnyPolicy_SavingsAddUp: what a context weighs, and what the report says that each mechanism keeps out of it, is what is on
// record, to the token.
func TestEngine_Build_AnyPolicy_SavingsAddUp(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		p := conversation.Policy{}
		p.Compaction.Strategy = rapid.SampledFrom([]conversation.Strategy{
			conversation.StrategySummarize, conversation.StrategySummarize, conversation.StrategyHierarchical, conversation.StrategySlidingWindow,
		}).Draw(t, "strategy")
		p.Compaction.KeepRecent = ptr(rapid.SampledFrom([]int32{2, 6, 1000}).Draw(t, "keep recent"))
		p.Compaction.TailPercent = ptr(rapid.SampledFrom([]int32{12, 30, 60}).Draw(t, "tail"))
		p.Compaction.SummaryTokens = ptr(rapid.SampledFrom([]int32{100, 300, 1500}).Draw(t, "summary"))
		p.Citations.On = ptr(rapid.Bool().Draw(t, "cites"))
		p.Citations.ThresholdChars = ptr(int32(2000))
		p.Deduplication.On = ptr(rapid.Bool().Draw(t, "deduplicates"))
		p.Pruning.Off = ptr(rapid.Bool().Draw(t, "prunes nothing"))
		p.Fit.KeepOpening = ptr(rapid.IntRange(0, 3).Draw(t, "opening") > 0)
		p.Rewrite = rapid.SampledFrom([]conversation.RewritePolicy{{}, eager.Rewrite}).Draw(t, "rewrite")
		b := newBenchWith(memory.New(memory.Options{}), func(o *engine.Options) { o.CacheBytes, o.Defaults = 1<<20, p })
		add := func(messages ...conversation.Message) {
			if err := b.appends("c", messages...); err != nil {
				t.Fatal(err)
			}
		}
		size := func() int { return rapid.SampledFrom([]int{1, 5, 30, 100, 400, 900}).Draw(t, "tokens") }
		said := func(i int) string {
			var s strings.Builder
			for j := range size() {
				fmt.Fprintf(&s, "w%d-%d", i, j%200)
				if j%7 == 0 {
					s.WriteString("\n")
				} else {
					s.WriteString(" ")
				}
			}
			return s.String()
		}
		if rapid.Bool().Draw(t, "system") {
			add(text(conversation.RoleSystem, "Be brief."))
		}
		add(user("The opening: " + said(0)))
		budget := rapid.SampledFrom([]int32{700, 1000, 2000, 4000}).Draw(t, "budget")
		for i := range rapid.IntRange(5, 40).Draw(t, "steps") {
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0:
				m := user(said(i))
				m.Pinned = rapid.IntRange(0, 5).Draw(t, "pinned") == 0
				add(m)
			case 1:
				add(answer(said(i)), user("Go on."))
			case 2:
				_, err := b.Append(ctx, engine.AppendRequest{Key: keyOf("c"), Messages: []conversation.Message{user(said(i))}, Extras: []engine.AppendExtra{{
					Additions: []conversation.Addition{adds("p", "H", "added", true, rapid.SampledFrom([]conversation.Retention{never, keepLast(1)}).Draw(t, "kept"))},
				}}})
				if err != nil {
					t.Fatal(err)
				}
			case 3:
				id := fmt.Sprint("k", i)
				add(call(id), resultLiving(id, said(i), rapid.SampledFrom([]*conversation.Expiration{removed(2), compacted(2, 50)}).Draw(t, "expires")))
			case 4:
				c, err := b.Get(ctx, keyOf("c"))
				if err != nil {
					t.Fatal(err)
				}
				_, _ = b.expand(rapid.Int32Range(0, c.Head.Messages-1).Draw(t, "expanded"))
			default:
				id := fmt.Sprint("k", i)
				add(call(id), result(id, said(rapid.IntRange(0, i).Draw(t, "of"))))
			}
			r, err := b.ask("c", rapid.SampledFrom([]int32{budget, budget, budget, 2 * budget, 20 * budget}).Draw(t, "room"), func(r *engine.BuildRequest) { r.Format = conversation.FormatNeutral })
			if err != nil {
				if conversation.KindOf(err) != conversation.ContextCannotFit {
					t.Fatal(err)
				}
				continue
			}
			if slices.ContainsFunc(r.Decisions, func(d conversation.Decision) bool { return d.Kind == conversation.DecisionRepaired }) {
				continue
			}
			addsUp(t, b, r)
		}
	})
}
