package property

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// TestEngine_LargerBudget_ShowsNoLess: what is shown in full of a record at a budget is shown in full at a larger one, in a conversation
// that goes on there as in one that begins there (behaviour §8).
func TestEngine_LargerBudget_ShowsNoLess(t *testing.T) {
	proptest.CheckN(t, cases/10, func(rt *rapid.T) {
		bubbled(t, func() { enlarge(rt) })
	})
}

func enlarge(t *rapid.T) {
	g := newGenerator(t)
	policy := g.stagePolicy()
	at := newStage(t, g, policy)
	defer at.end()
	then := at
	fresh := rapid.Bool().Draw(t, "both are fresh")
	if fresh {
		then = newStage(t, g, policy)
		then.format = at.format
		defer then.end()
	}
	small := rapid.SampledFrom([]int32{400, 700, 1500, 4000}).Draw(t, "budget")
	large := int32(float64(small) * rapid.SampledFrom([]float64{1.1, 1.3, 1.6, 2, 4, 10, 50}).Draw(t, "times"))
	at.own, then.own = small, large
	for range rapid.IntRange(1, 25).Draw(t, "messages") {
		m, _ := g.told(small)
		at.put(m, engine.AppendExtra{})
		if fresh {
			then.put(m, engine.AppendExtra{})
		} else if rapid.IntRange(0, 2).Draw(t, "built") == 0 {
			_, _ = at.show(small, nil)
		}
	}
	before, err := at.show(small, nil)
	if err != nil {
		return
	}
	after, err := then.show(large, nil)
	if err != nil {
		t.Fatalf("what is built at %d is refused at %d: %v", small, large, err)
	}
	l := &larger{before: before, after: after, stage: then, fresh: fresh}
	l.noLess()
	l.everything(small, large)
	then.manifests()
}

// larger compares what two budgets show of one record.
type larger struct {
	*stage
	before, after *sight
	fresh         bool
}

// noLess demands that no message that was shown in full is not, and that as much is shown of them together. A summary that gave way at the
// smaller budget is exempt, and so is a request or an opening that had less than its share: where it has room it comes before the rest,
// and may take the room of a message. So is a record of
// which the larger budget has made a summary: that cuts down to a target of its own.
func (l *larger) noLess() {
	if slices.ContainsFunc(l.before.build.Manifest.Window.Cuts, l.short) || l.fresh && summarized(l.after) {
		return
	}
	was, is := 0, 0
	for i, e := range l.before.record {
		if e.hidden {
			continue
		}
		if o := l.record[i]; l.before.whole(e) && !l.after.whole(o) {
			l.t.Fatalf("message %d is shown in full in a context of %d tokens, and not in one of %d: %q", i, l.before.build.Manifest.Budget, l.after.build.Manifest.Budget, brief(flatAll(l.after.parts(o))))
		}
		was += (&claims{stage: l.stage, sight: l.before}).shownWeight(e)
		is += (&claims{stage: l.stage, sight: l.after}).shownWeight(l.record[i])
	}
	if is < was {
		l.t.Fatalf("%d tokens of messages are shown in a context of %d, and %d in one of %d", was, l.before.build.Manifest.Budget, is, l.after.build.Manifest.Budget)
	}
}

// short says whether a cut left less than has a claim.
func (l *larger) short(cut conversation.Cut) bool {
	if cut.Summary > 0 {
		return cut.Leaves()
	}
	c, e := &claims{stage: l.stage, sight: l.before, budget: int(l.before.build.Manifest.Budget)}, l.before.record[cut.Message]
	return c.shownWeight(e) < min(l.stage.weight(e), c.share(e))*9/10
}

// summarized says whether a build has made a summary.
func summarized(v *sight) bool {
	return slices.ContainsFunc(v.edits, func(e conversation.Edit) bool { return e.Kind == conversation.EditSummarize })
}

// everything demands the whole record where it fits, unless the window of a budget that is little smaller goes on.
func (l *larger) everything(small, large int32) {
	c := &claims{stage: l.stage, sight: l.after, budget: int(large)}
	if c.together(0) > int(large) || !l.fresh && 2*large <= 3*small {
		return
	}
	for _, e := range l.visible() {
		if e.message.Role != conversation.RoleTool && !l.after.whole(e) {
			l.t.Fatalf("all fits %d, and message %d is shown as %q", large, e.index, brief(flatAll(l.after.parts(e))))
		}
	}
	for _, d := range l.after.build.Decisions {
		if d.Kind == conversation.DecisionLeftOut || d.Kind == conversation.DecisionSummarized {
			l.t.Fatalf("all fits %d, and is not shown: %+v", large, d)
		}
	}
}
