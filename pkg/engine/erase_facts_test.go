package engine_test

import (
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// summaries returns all summaries of a conversation, oldest first, as an export holds them.
func (b *bench) summaries(t testing.TB, id string) (out []*conversation.Summary) {
	t.Helper()
	for _, r := range b.export(t, id) {
		if r.Edit != nil && r.Edit.Summary != nil {
			out = append(out, r.Edit.Summary)
		}
	}
	return out
}

// TestEngine_Build_Erased_LeavesTheFactsOfSummaries: facts that only an erased message mentioned are removed from what is stored with the
// summaries over it, and from the list after their successor. Facts that another message mentions too stay.
func TestEngine_Build_Erased_LeavesTheFactsOfSummaries(t *testing.T) {
	for name, strategy := range map[string]conversation.Strategy{
		"one summary": conversation.StrategySummarize, "a hierarchy": conversation.StrategyHierarchical,
	} {
		t.Run(name, func(t *testing.T) {
			b := summarizes(strategy)
			const gone, stays = "/srv/secret-7731/plan.csv", "/srv/shared-1/plan.csv"
			b.append(t, "c", user("Read the parts."), call("a"), resultLiving("a", "see "+gone+" and "+stays, erasing(removed(150))),
				call("b"), result("b", "see "+stays))
			b.worked(t, "c", 0, 100, 100, 8000)
			before := b.summaries(t, "c")
			if len(before) == 0 || !strings.Contains(before[0].Facts.Inline, gone) || !strings.Contains(before[0].Facts.Inline, stays) {
				t.Fatalf("%d summaries: the test looks in the wrong place", len(before))
			}
			b.worked(t, "c", 100, 300, 100, 8000)
			after := b.summaries(t, "c")
			if m := b.records(t, "c")[2]; !conversation.Erased(m.Parts) {
				t.Fatal("nothing was erased")
			}
			for _, s := range after {
				if strings.Contains(s.Facts.Inline, gone) {
					t.Errorf("s%d of %d still has the fact; erased is %v", s.ID, len(after), s.Erased)
				}
			}
			if !after[0].Erased || !strings.Contains(after[0].Facts.Inline, stays) {
				t.Errorf("s%d: erased is %v, its facts are %s", after[0].ID, after[0].Erased, after[0].Facts.Inline)
			}
			last := after[len(after)-1]
			if len(after) < len(before)+2 || strings.Contains(last.Text.Inline, gone) {
				t.Errorf("the last of %d summaries tells of it: %s", len(after), last.Text.Inline)
			}
		})
	}
}
