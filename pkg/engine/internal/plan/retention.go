package plan

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/retention"
)

// applyRetention shows the persistent variant of messages that an earlier turn has seen, and, at the beginning of a turn, drops blocks
// that are past their time (behaviour §6). None of it is ever deferred.
func (d lifetimes) applyRetention() {
	for it := range conversation.Items(d.Composed.Units) {
		if it.Message.Index < d.seenBefore() && it.Message.Carries() {
			d.retainMessage(it)
		}
	}
}

// seenBefore is how many messages an earlier turn's build has seen.
func (d lifetimes) seenBefore() int32 {
	if d.NewTurn {
		return d.Loaded.Head.Seen
	}
	return d.Loaded.Head.SeenBefore
}

func (d lifetimes) retainMessage(it *conversation.Item) {
	m := it.Message
	var past []int32
	if d.NewTurn {
		past = slices.DeleteFunc(retention.Expired(m, d.numberFromNewest(m)), func(p int32) bool { return d.View.Masked(m.Index, p) })
	}
	if len(past) == 0 && (d.View.Settled(m.Index) || !m.Varied()) {
		return
	}
	d.addEdit(conversation.Edit{
		Kind: conversation.EditMask, Range: conversation.Range{First: m.Index, End: m.Index + 1}, Mask: past,
		Reason: conversation.ReasonRetention, Before: it.Tokens(),
	})
	after, shown := d.View.Beside(m) // a window may show what a summary stands for elsewhere
	if shown {
		d.Edits[len(d.Edits)-1].After = after.Tokens()
		return
	}
	d.addEdit(conversation.Edit{ // no block is left: what the mask has taken is all of it
		Kind: conversation.EditRemove, Range: conversation.Range{First: m.Index, End: m.Index + 1}, Reason: conversation.ReasonRetention,
	})
}

// numberFromNewest is the message's number from the newest, among the messages that count. For one that was expanded, those count that
// came since.
func (d lifetimes) numberFromNewest(m *conversation.Message) int32 {
	all := d.Settings.Policy.Retention.AllInputs
	inputs := all != nil && *all
	if edit, _, ok := d.View.Restored(m.Index); ok {
		return d.countSince(m, edit, inputs)
	}
	if inputs {
		return d.Loaded.Head.Place.Inputs - m.Place.Inputs
	}
	return d.Loaded.Head.Place.Carrying - m.Place.Carrying
}

// countSince counts the messages of the window that were appended after an edit restored a message. A turn would not tell: what the
// agent appended in it before it asked for the expansion would count, and drop at once what was asked for.
func (d lifetimes) countSince(m *conversation.Message, edit int64, inputs bool) int32 {
	at := slices.IndexFunc(d.Loaded.Edits, func(e conversation.Edit) bool { return e.Seq == edit })
	if at < 0 {
		return 0
	}
	n, restored := int32(0), d.Loaded.Edits[at].Commit
	for i := range d.Loaded.Messages {
		o := &d.Loaded.Messages[i]
		counts := o.Carries() || inputs && (o.Role == conversation.RoleUser || o.Role == conversation.RoleTool)
		if o.Index > m.Index && o.Index >= d.Start.Start && o.Commit > restored && counts {
			n++
		}
	}
	return n
}
