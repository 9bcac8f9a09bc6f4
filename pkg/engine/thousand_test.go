package engine_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/palimpsest-context/palimpsest/internal/testlane"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store/memory"
)

// TestEngine_Manifest_ThousandBuilds: of a conversation that lives under all policies at once, and is expanded and taken back now
// and then, every build that is kept is built again, SHA-256 equal (behaviour §13).
func TestEngine_Manifest_ThousandBuilds(t *testing.T) {
	testlane.OneCaller(t)
	for _, strategy := range []conversation.Strategy{conversation.StrategySummarize, conversation.StrategyHierarchical} {
		b := lifeBench(memory.New(memory.Options{}), func(o *engine.Options) {
			o.Defaults = conversation.Policy{
				Pruning:    conversation.PruningPolicy{ProtectTokens: ptr(int32(1500)), MinimumTokens: ptr(int32(700))},
				Compaction: conversation.CompactionPolicy{Strategy: strategy},
				Expiration: conversation.ExpirationPolicy{Results: conversation.Expiration{
					Turns: ptr(int32(6)), Mode: conversation.ExpirationCompact, CompactLength: ptr(int32(200)),
				}},
			}
		})
		random := rand.New(rand.NewPCG(1, uint64(strategy)))
		formats := []conversation.Format{conversation.FormatNeutral, conversation.FormatOpenAIChat}
		b.append(t, "c", text(conversation.RoleSystem, "s"), user("Read the parts."))
		for i := range 1000 {
			k := fmt.Sprint("k", i)
			b.append(t, "c", call(k), result(k, fmt.Sprintf("part%d.csv %s", i, words(random.IntN(500)))))
			switch last := b.head(t, "c").Messages - 1; random.IntN(40) {
			case 0:
				b.append(t, "c", user(fmt.Sprintf("Never forget number %d.", i)))
			case 1:
				b.append(t, "c", text(conversation.RoleSystem, fmt.Sprintf("rule %d", i)))
			case 2:
				index := random.Int32N(last)
				_, _ = b.Expand(ctx, engine.ExpandRequest{Key: keyOf("c"), Index: &index, MaxBytes: 1 << 20, Size: func(*engine.MessageInView) int { return 1 }})
			case 3:
				if _, err := b.Rewind(ctx, engine.RewindRequest{Key: keyOf("c"), From: last - 2*random.Int32N(40)}); err != nil {
					t.Fatal(err)
				}
				b.append(t, "c", user("Once more."))
			}
			_, err := b.ask("c", 6000, func(r *engine.BuildRequest) { r.Format = formats[random.IntN(len(formats))] })
			for conversation.KindOf(err) == conversation.PendingToolCalls { // a call that a rewind has left open
				h := b.head(t, "c")
				b.append(t, "c", result(h.Unanswered[len(h.Unanswered)-1].CallID, "again"))
				_, err = b.ask("c", 6000, nil)
			}
			if err != nil {
				t.Fatal(i, err)
			}
		}
		b.rebuildsAll(t, "c", 1000)
	}
}
