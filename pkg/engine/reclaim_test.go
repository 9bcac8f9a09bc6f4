package engine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store/memory"
)

// pruning is a bench that clears results older than the given number of tokens as soon as any can be cleared.
func pruning(protect int32, change func(*conversation.PruningPolicy)) *bench {
	return lifeBench(memory.New(memory.Options{}), func(o *engine.Options) {
		p := conversation.PruningPolicy{Off: ptr(false), ProtectTokens: &protect, MinimumTokens: ptr(int32(0))}
		if change != nil {
			change(&p)
		}
		o.Defaults.Pruning = p
	})
}

// TestEngine_Build_Prunes: old results are replaced with placeholders, all at once and for good. An expansion brings one back for 5
// turns (behaviour §7, §10).
func TestEngine_Build_Prunes(t *testing.T) {
	b := pruning(500, nil)
	b.append(t, "c", user("go"))
	b.steps(t, "c", 10, 100)
	r := b.turn(t, "c")
	pruned := 0
	for _, e := range r.Events {
		if e.Type == conversation.EventPruned {
			pruned++
		}
	}
	if pruned != 5 || r.Tokens.SavedByPruning == 0 {
		t.Errorf("%d pruned, %+v", pruned, r.Tokens)
	}
	wantShown(t, r, 2, "[Old tool result content cleared. Full text: expand_message(2)]")
	if d := decision(r, 2); d == nil || d.Kind != conversation.DecisionPruned || d.Reason != conversation.ReasonPruned {
		t.Errorf("%+v", d)
	}
	if again := b.turn(t, "c"); len(again.Events) != 0 || again.Prefix.BrokenBy != engine.BreakNone {
		t.Errorf("again: %+v, %+v", again.Events, again.Prefix)
	}
	if _, err := b.Expand(ctx, engine.ExpandRequest{Key: keyOf("c"), Index: ptr(int32(2)), MaxBytes: 1 << 20, Size: func(*engine.MessageInView) int { return 1 }}); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		wantShown(t, b.turn(t, "c"), 2, words(100))
	}
	wantShown(t, b.turn(t, "c"), 2, "[Old tool result content cleared. Full text: expand_message(2)]")
	b.rebuildsAll(t, "c", 8)
}

// TestEngine_Build_ReclaimsWhatWasPruned: with erase_after, a pruned result is erased after that time, unless it was expanded.
func TestEngine_Build_ReclaimsWhatWasPruned(t *testing.T) {
	b := pruning(100, func(p *conversation.PruningPolicy) { p.EraseAfter = ptr(time.Hour) })
	b.append(t, "c", user("go"), call("k"), result("k", strings.Repeat("secret", 100)), call("l"), result("l", words(200)))
	b.turn(t, "c")
	b.now = b.now.Add(59 * time.Minute)
	b.turn(t, "c")
	if m := b.records(t, "c"); conversation.Erased(m[2].Parts) {
		t.Error("erased before its time")
	}
	b.now = b.now.Add(time.Minute)
	r := b.turn(t, "c")
	wantShown(t, r, 2, "[Old tool result content cleared.]")
	if m := b.records(t, "c"); !conversation.Erased(m[2].Parts) || conversation.Erased(m[4].Parts) {
		t.Error("not erased when its time was over, or too much was")
	}
	if len(r.Events) != 1 || r.Events[0].Expandable {
		t.Errorf("%+v", r.Events)
	}
	if again := b.turn(t, "c"); len(again.Events) != 0 {
		t.Errorf("again: %+v", again.Events)
	}
}
