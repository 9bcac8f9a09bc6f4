package copies

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
)

// Missing are the messages of a composition that name copies which it does not show.
func Missing(out *view.Composition) []int32 {
	named := make(map[int32]*conversation.Item)
	for it := range conversation.Items(out.Units) {
		for _, c := range it.Copies {
			named[c.Message] = nil
		}
	}
	if len(named) == 0 {
		return nil
	}
	for i := range out.Units {
		if isCut(out, i) {
			continue
		}
		for j := range out.Units[i].Items {
			it := &out.Units[i].Items[j]
			if _, ok := named[it.Message.Index]; ok {
				named[it.Message.Index] = together(named[it.Message.Index], it)
			}
		}
	}
	var back []int32
	for it := range conversation.Items(out.Units) {
		if it.Missing(named) && !slices.Contains(back, it.Message.Index) {
			back = append(back, it.Message.Index)
		}
	}
	return back
}

// together is an item with what another unit shows of its message.
func together(other, it *conversation.Item) *conversation.Item {
	if other != nil && it.Of != nil && len(other.Parts)+len(it.Parts) == len(it.Of.Parts) {
		return it.Of
	}
	return it
}

// isCut says whether a window shows a part of a unit, or whether it is a summary.
func isCut(out *view.Composition, i int) bool {
	u := &out.Units[i]
	return u.Summary != nil || u.First() < out.Window.Start && !view.CutOf(&out.Window, u).Leaves()
}

// Returns are the edits by which what a composition of a view shows again comes back.
func Returns(out *view.Composition, v *conversation.View) []conversation.Edit {
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

// Gains are what units of the tail gain if the window starts behind copies that they name, or further on at all, where copies lapse by that.
func Gains(out *view.Composition, kept conversation.Kept, lapses func(message int32) bool) []compaction.Return {
	var gains []compaction.Return
	for i := out.Tail; i < len(out.Units); i++ {
		u := &out.Units[i]
		for j := range u.Items {
			it := &u.Items[j]
			needs := int32(-1)
			for _, c := range it.Copies {
				at := c.Message
				if at < out.Window.Start && lapses(at) {
					at = out.Window.Start
				}
				if at >= out.Window.Start && c.Message < u.First() && !kept.IsPinned(c.Message) && (needs < 0 || at < needs) {
					needs = at
				}
			}
			if needs >= 0 {
				whole := it.Returned()
				gains = append(gains, compaction.Return{Unit: u.First(), Needs: needs, Tokens: whole.Tokens() - it.Tokens()})
			}
		}
	}
	return gains
}
