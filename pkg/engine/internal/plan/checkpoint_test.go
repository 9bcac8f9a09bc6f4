package plan

import (
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/settings"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/spans"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
)

// TestAttempt_KeepIfSmaller_LeavesNoTraceOfWhatWasNotWorthIt: a summary that is taken back is in no view, and no important unit is told to
// have given way to it.
func TestAttempt_KeepIfSmaller_LeavesNoTraceOfWhatWasNotWorthIt(t *testing.T) {
	w := &view.Loaded{View: &conversation.View{}}
	d := &Attempt{Composer: &view.Composer{Loaded: w}, Settings: &settings.Settings{}, View: w.View, Composed: &view.Composition{}}
	saved := d.compacting().checkpoint()
	w.View = w.View.Fold(nil)
	d.addEdit(conversation.Edit{
		Kind: conversation.EditSummarize, Range: conversation.Range{End: 3}, Summary: &conversation.Summary{ID: 1},
	})
	d.important = append(d.important, spans.ImportantUnit{})
	if len(d.View.Summaries()) != 1 {
		t.Fatal("the summary is not in the view")
	}
	if d.compacting().keepIfSmaller(0, saved) || len(d.important) > 0 || len(d.View.Summaries()) > 0 || len(w.View.Summaries()) > 0 || len(d.Edits) > 0 {
		t.Errorf("the view has %d summaries, the window's %d, and there are %d edits", len(d.View.Summaries()), len(w.View.Summaries()), len(d.Edits))
	}
}
