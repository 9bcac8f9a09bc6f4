package deduplicate

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
)

// returns are the edits by which what a composition of a view shows again comes back.
func returns(out *view.Composition, v *conversation.View) []conversation.Edit {
	var edits []conversation.Edit
	for it := range conversation.Items(out.Units) {
		index := it.Message.Index
		told := slices.ContainsFunc(edits, func(e conversation.Edit) bool { return e.Range.First == index }) // of another part of it
		if it.EditSeq != conversation.Returning || told {
			continue
		}
		before, _ := v.ItemIn(it.Message, out.Window)
		edits = append(edits, conversation.Edit{
			Kind: conversation.EditReturn, Range: conversation.Range{First: index, End: index + 1}, Reason: conversation.ReasonCopyNotShown,
			Before: before.Tokens(), After: it.Tokens(),
		})
	}
	return edits
}

// Decisions say what edits bring back.
func Decisions(edits []conversation.Edit) []conversation.Decision {
	var out []conversation.Decision
	for i := range edits {
		if e := &edits[i]; e.Kind == conversation.EditReturn {
			out = append(out, conversation.Decision{
				First: e.Range.First, Last: e.Range.First, Kind: conversation.DecisionDeduplicated, Reason: e.Reason,
				Before: e.Before, After: e.After, EditSeq: e.Seq,
			})
		}
	}
	return out
}
