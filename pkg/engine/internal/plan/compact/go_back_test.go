package compact

import (
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/pass"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/settings"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/spans"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
)

// TestCompacting_KeepsIfSmaller_LeavesNoTraceOfWhatWasNotWorthIt: a summary that is taken back is in no view, the window's
// or its own, and no important unit is told to have given way to it.
func TestCompacting_KeepsIfSmaller_LeavesNoTraceOfWhatWasNotWorthIt(t *testing.T) {
	w := &view.Loaded{View: &conversation.View{}}
	g := &pass.Given{Composer: &view.Composer{Loaded: w}, Settings: &settings.Settings{}}
	d := begin(g, pass.Draft{View: w.View, Composed: &view.Composition{}}, settings.Compaction{})
	was := before{draft: d.Keep()}
	w.View = w.View.Fold(nil)
	d.Add(conversation.Edit{
		Kind: conversation.EditSummarize, Range: conversation.Range{End: 3}, Summary: &conversation.Summary{ID: 1},
	})
	d.important = append(d.important, spans.ImportantUnit{})
	if len(d.View.Summaries()) != 1 {
		t.Fatal("the summary is not in the view")
	}
	if d.keepsIfSmaller(was) || len(d.important) > 0 || len(d.View.Summaries()) > 0 || len(w.View.Summaries()) > 0 || len(d.Edits) > 0 {
		t.Errorf("the view has %d summaries, the window's %d, and there are %d edits", len(d.View.Summaries()), len(w.View.Summaries()), len(d.Edits))
	}
}
