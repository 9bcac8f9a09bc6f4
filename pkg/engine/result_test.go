package engine_test

import (
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// TestEngine_Build_Duplicate_ShowsWhatItUsed: a retry says what the first build took of its budget, and by which summary, whatever has
// come since.
func TestEngine_Build_Duplicate_ShowsWhatItUsed(t *testing.T) {
	b := summarizes(conversation.StrategySummarize)
	b.append(t, "c", user("Read the parts."))
	b.steps(t, "c", 60, 200)
	ask := func(r *engine.BuildRequest) {
		r.Budget, r.Request = budgetOf(8000), request("BuildContext", "r", "same")
	}
	first := b.turn(t, "c", ask)
	if len(summarizedIn(first)) != 1 || first.Compaction.Used != first.Tokens.Total {
		t.Fatalf("%+v of %+v: nothing is tested", first.Compaction, first.Tokens)
	}
	b.steps(t, "c", 5, 200)
	again := b.turn(t, "c", ask)
	if !again.Duplicate || again.Compaction.Used != first.Compaction.Used || again.Compaction.Summary != first.Compaction.Summary {
		t.Errorf("first %+v, again %+v", first.Compaction, again.Compaction)
	}
}
