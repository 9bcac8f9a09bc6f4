package spans

import (
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/settings"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// TestPlanner_ReachBack_TakesUpABudgetsWorth: of what the window has left out since the last summary, no more than the budget holds.
func TestPlanner_ReachBack_TakesUpABudgetsWorth(t *testing.T) {
	const messages, start, tokens = 100, 90, 100
	snap := &store.Snapshot{Head: store.Head{Messages: messages}, Info: &store.Info{}}
	for i := range int32(messages) {
		snap.Messages = append(snap.Messages, conversation.Message{Index: i, Role: conversation.RoleUser, Tokens: tokens})
	}
	w := view.New(store.Key{}, snap)
	w.Supply(snap, []conversation.Range{{End: messages}})
	for limit, want := range map[int64]int32{
		3*tokens - 1: start - 3, 3 * tokens: start - 3, 3*tokens + 1: start - 4, // whole messages, and the one that fills the budget
		view.UnitPage * tokens: start - view.UnitPage, 80 * tokens: start - 80, start * tokens: 0, 1000 * tokens: 0,
	} {
		d := &Planner{
			Loaded: w, Settings: &settings.Settings{Limit: limit}, View: w.View,
			Composed: &view.Composition{Window: conversation.WindowFrom(start)},
		}
		if from, err := d.reachBack(); err != nil || from != want {
			t.Errorf("within %d tokens from message %d, want %d: %v", limit, from, want, err)
		}
	}
}

// TestPlanner_FollowsLastSummary_OverWhatIsHidden: a summary takes up the last one where nothing lies between that somebody could miss.
func TestPlanner_FollowsLastSummary_OverWhatIsHidden(t *testing.T) {
	summary := conversation.Edit{Seq: 2, Kind: conversation.EditSummarize, Range: conversation.Range{End: 3}, Summary: &conversation.Summary{ID: 1}}
	hidden := conversation.Edit{Seq: 1, Kind: conversation.EditHide, Range: conversation.Range{First: 3, End: 5}}
	for name, tt := range map[string]struct {
		edits []conversation.Edit
		from  int32
		want  bool
	}{
		"no summary":       {nil, 5, true},
		"right behind":     {[]conversation.Edit{summary}, 3, true},
		"behind a gap":     {[]conversation.Edit{summary}, 5, false},
		"behind a rewind":  {[]conversation.Edit{hidden, summary}, 5, true},
		"partly rewound":   {[]conversation.Edit{hidden, summary}, 6, false},
		"before its end":   {[]conversation.Edit{summary}, 2, true},
		"hidden, no other": {[]conversation.Edit{hidden}, 5, true},
	} {
		d := &Planner{View: (&conversation.View{}).Fold(tt.edits)}
		if got := d.followsLastSummary(tt.from); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
