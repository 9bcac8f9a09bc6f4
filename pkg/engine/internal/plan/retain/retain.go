// Package retain shows what an earlier turn has seen as it is to stay, and drops what plugins added and is past its time (behaviour §6).
package retain

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/pass"
	"github.com/palimpsest-context/palimpsest/pkg/retention"
)

// Retain shows the persistent variant of messages that an earlier turn has seen, and, at the beginning of a turn, drops blocks that are past
// their time. None of it is ever deferred. start is where the window in force begins. The pass that expires lays the view out behind it.
func Retain(g *pass.Given, d pass.Draft, start int32) pass.Result {
	r := retaining{Sketch: g.Sketch(d), start: start}
	for it := range conversation.Items(d.Composed.Units) {
		if it.Message.Index < r.seenBefore() && it.Message.Carries() {
			r.retainMessage(it)
		}
	}
	return r.Result()
}

type retaining struct {
	*pass.Sketch
	start int32
}

// seenBefore is how many messages an earlier turn's build has seen.
func (d *retaining) seenBefore() int32 {
	if d.Given.NewTurn {
		return d.Given.Loaded.Head.Seen
	}
	return d.Given.Loaded.Head.SeenBefore
}

func (d *retaining) retainMessage(it *conversation.Item) {
	m := it.Message
	var past []int32
	if d.Given.NewTurn {
		past = slices.DeleteFunc(retention.Expired(m, d.numberFromNewest(m)), func(p int32) bool { return d.View.Masked(m.Index, p) })
	}
	if len(past) == 0 && (d.View.Settled(m.Index) || !m.Varied()) {
		return
	}
	d.Add(conversation.Edit{
		Kind: conversation.EditMask, Range: conversation.Range{First: m.Index, End: m.Index + 1}, Mask: past,
		Reason: conversation.ReasonRetention, Before: it.Tokens(),
	})
	after, shown := d.View.Beside(m) // a window may show what a summary stands for elsewhere
	if shown {
		d.Last().After = after.Tokens()
		return
	}
	d.Add(conversation.Edit{ // no block is left: what the mask has taken is all of it
		Kind: conversation.EditRemove, Range: conversation.Range{First: m.Index, End: m.Index + 1}, Reason: conversation.ReasonRetention,
	})
}

// numberFromNewest is the message's number from the newest, among the messages that count. For one that was expanded, those count that
// came since.
func (d *retaining) numberFromNewest(m *conversation.Message) int32 {
	inputs := conversation.ValueOr(d.Given.Settings.Policy.Retention.AllInputs, false)
	if edit, _, ok := d.View.Restored(m.Index); ok {
		return d.countSince(m, edit, inputs)
	}
	if inputs {
		return d.Given.Loaded.Head.Place.Inputs - m.Place.Inputs
	}
	return d.Given.Loaded.Head.Place.Carrying - m.Place.Carrying
}

// countSince counts the messages of the window that were appended after an edit restored a message. A turn would not tell: what the
// agent appended in it before it asked for the expansion would count, and drop at once what was asked for.
func (d *retaining) countSince(m *conversation.Message, edit int64, inputs bool) int32 {
	at := slices.IndexFunc(d.Given.Loaded.Edits, func(e conversation.Edit) bool { return e.Seq == edit })
	if at < 0 {
		return 0
	}
	n, restored := int32(0), d.Given.Loaded.Edits[at].Commit
	for i := range d.Given.Loaded.Messages {
		o := &d.Given.Loaded.Messages[i]
		counts := o.Carries() || inputs && (o.Role == conversation.RoleUser || o.Role == conversation.RoleTool)
		if o.Index > m.Index && o.Index >= d.start && o.Commit > restored && counts {
			n++
		}
	}
	return n
}
