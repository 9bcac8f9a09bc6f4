package plan

import (
	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
)

// Compose lays a view out for a window, with what comes back there (behaviour §21): no line names a copy that is not shown. What comes back
// shows more than it did, so that nothing else comes back by that.
func (d *Attempt) Compose(v *conversation.View, win conversation.Window) (*view.Composition, error) {
	out, err := d.Composer.Compose(v, win)
	if err != nil {
		return nil, err
	}
	back := d.returning().missing(out)
	if len(back) == 0 {
		return out, nil
	}
	return d.Composer.Compose(v.WithReturned(back), win)
}

// missing are the messages of a composition that name copies which it does not show.
func (d returning) missing(out *view.Composition) []int32 {
	named := make(map[int32]*conversation.Item)
	for i := range out.Units {
		for j := range out.Units[i].Items {
			for _, c := range out.Units[i].Items[j].Copies {
				named[c.Message] = nil
			}
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
				named[it.Message.Index] = it
			}
		}
	}
	var back []int32
	for i := range out.Units {
		for j := range out.Units[i].Items {
			if it := &out.Units[i].Items[j]; it.Missing(named) {
				back = append(back, it.Message.Index)
			}
		}
	}
	return back
}

// isCut says whether a window shows a part of a unit, or whether it is a summary.
func isCut(out *view.Composition, i int) bool {
	u := &out.Units[i]
	return u.Summary != nil || u.First() < out.Window.Start && !view.CutOf(&out.Window, u).Leaves()
}

// apply makes the edits by which what the composition shows again comes back.
func (d returning) apply() error {
	made := len(d.Edits)
	for i := range d.Composed.Units {
		for j := range d.Composed.Units[i].Items {
			it := &d.Composed.Units[i].Items[j]
			if it.EditSeq != conversation.Returning {
				continue
			}
			index := it.Message.Index
			before, _ := d.View.Item(it.Message)
			d.addEdit(conversation.Edit{
				Kind: conversation.EditReturn, Range: conversation.Range{First: index, End: index + 1}, Reason: conversation.ReasonCopyNotShown,
				Before: before.Tokens(), After: it.Tokens(),
			})
		}
	}
	if len(d.Edits) == made {
		return nil
	}
	var err error
	d.Composed, err = d.Compose(d.View, d.Composed.Window)
	return err
}

// decisions say what this build brings back.
func (d returning) decisions() []conversation.Decision {
	var out []conversation.Decision
	for i := range d.Edits {
		if e := &d.Edits[i]; e.Kind == conversation.EditReturn {
			out = append(out, conversation.Decision{
				First: e.Range.First, Last: e.Range.First, Kind: conversation.DecisionDeduplicated, Reason: e.Reason,
				Before: e.Before, After: e.After, EditSeq: e.Seq,
			})
		}
	}
	return out
}

// gains are what units of the tail gain if the window starts behind copies that they name, or further on at all, where copies lapse by that.
func (d returning) gains(lapses func(message int32) bool) []compaction.Return {
	var out []compaction.Return
	for i := d.Composed.Tail; i < len(d.Composed.Units); i++ {
		u := &d.Composed.Units[i]
		for j := range u.Items {
			it := &u.Items[j]
			needs := int32(-1)
			for _, c := range it.Copies {
				at := c.Message
				if at < d.Composed.Window.Start && lapses(at) {
					at = d.Composed.Window.Start
				}
				if at >= d.Composed.Window.Start && c.Message < u.First() && !d.Kept.IsPinned(c.Message) && (needs < 0 || at < needs) {
					needs = at
				}
			}
			if needs >= 0 {
				whole := it.Returned()
				out = append(out, compaction.Return{Unit: u.First(), Needs: needs, Tokens: whole.Tokens() - it.Tokens()})
			}
		}
	}
	return out
}
