package plan

import (
	"bytes"
	"crypto/sha256"
	"maps"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/expiry"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// Erasures is what a build erases: messages rewritten, edits rewritten, contents released.
type Erasures struct {
	Messages map[int32]*conversation.Message
	edits    map[int64]*conversation.Edit
	release  []conversation.ID
	shared   []conversation.ContentRef // among what is released, what other contents may have too
	inline   int64                     // bytes that callers gave, in records
	chunks   map[conversation.ID]int64 // and in chunks, of which others may keep some
}

// eraseFromMessage erases parts of a message: a tool result, or its words; and what earlier edits showed of them.
func (d erasing) eraseFromMessage(index int32, positions []int32) {
	m, ok := d.Loaded.Message(index)
	if !ok {
		return
	}
	if d.Erased.Messages == nil {
		d.Erased = Erasures{
			Messages: map[int32]*conversation.Message{}, edits: map[int64]*conversation.Edit{}, chunks: map[conversation.ID]int64{},
		}
	}
	copied := d.Erased.Messages[index]
	if copied == nil {
		whole := *d.Loaded.Original(m)
		whole.Parts = conversation.CloneParts(whole.Parts)
		copied = &whole
		d.Erased.Messages[index] = copied
	}
	for _, p := range positions {
		d.countErased(copied.Parts[p : p+1])
		d.eraseParts(copied.Parts[p : p+1])
	}
	d.eraseEdits(index, positions)
	d.markSummaries(index)
}

// markSummaries says of the summaries that stand for a message that something of what they stand for is gone. They stay.
func (d erasing) markSummaries(index int32) {
	for i := range d.Loaded.Edits {
		if e := &d.Loaded.Edits[i]; e.Summary != nil && e.Range.Contains(index) {
			d.rewrittenEdit(e).Summary.Erased = true // whose facts go too, also where it is marked already
		}
	}
}

// countErased counts what parts hold that a caller gave and that is about to be erased.
func (d erasing) countErased(parts []conversation.Part) {
	for i := range parts {
		d.Erased.inline += parts[i].Residue.Bytes()
	}
	for _, c := range conversation.Contents(parts) {
		d.Erased.inline += int64(len(c.Inline))
		if c.Ref != nil {
			d.Erased.chunks[c.Ref.ID] = c.Ref.Bytes
		}
	}
}

// freed is how many bytes that callers gave are on record no more.
func (e *Erasures) freed() int64 {
	n := e.inline
	for id, size := range e.chunks {
		if slices.Contains(e.release, id) {
			n += size
		}
	}
	return n
}

// eraseParts leaves of parts what is known of them: what is unknown may tell what is erased.
func (d erasing) eraseParts(parts []conversation.Part) {
	for i := range parts {
		parts[i].Unknown, parts[i].Residue = "", nil
		if parts[i].Result != nil {
			parts[i].Result.Unknown = ""
		}
	}
	for _, c := range conversation.Contents(parts) {
		switch {
		case c.Erased != nil || c.Bytes() == 0:
			continue
		case c.Ref != nil:
			d.Erased.release = append(d.Erased.release, c.Ref.ID)
			d.Erased.shared = append(d.Erased.shared, *c.Ref)
			*c = txn.Blank(d.Loaded.Head.Incarnation, *c, c.Ref.SHA256)
		default:
			*c = txn.Blank(d.Loaded.Head.Incarnation, *c, sha256.Sum256([]byte(c.Inline)))
		}
	}
}

// eraseEdits erases what edits before this build showed of the parts: excerpts of what is erased, and what it was corrected to.
func (d erasing) eraseEdits(index int32, positions []int32) {
	for i := range d.Loaded.Edits {
		e := &d.Loaded.Edits[i]
		if e.Kind != conversation.EditParts && e.Kind != conversation.EditCorrect || e.Range.First != index {
			continue
		}
		for p := range e.Parts {
			if slices.Contains(positions, e.Parts[p].Part) {
				if cited := e.Parts[p].Shown.Citation; cited != nil {
					d.ErasedContents = append(d.ErasedContents, cited.ContentID)
				}
				shown := []conversation.Part{d.rewrittenEdit(e).Parts[p].Shown}
				if e.Kind == conversation.EditCorrect {
					d.countErased(shown)
				}
				d.eraseParts(shown)
				d.rewrittenEdit(e).Parts[p].Shown = shown[0]
			}
		}
	}
}

// rewrittenEdit is the edit as it is rewritten in this build; its shown parts are copies.
func (d erasing) rewrittenEdit(e *conversation.Edit) *conversation.Edit {
	if c := d.Erased.edits[e.Seq]; c != nil {
		return c
	}
	c := *e
	if e.Summary != nil {
		s := *e.Summary
		c.Summary = &s
	}
	c.Parts = slices.Clone(e.Parts)
	for i := range c.Parts {
		c.Parts[i].Shown = conversation.CloneParts([]conversation.Part{c.Parts[i].Shown})[0]
	}
	d.Erased.edits[e.Seq] = &c
	return &c
}

// loadErasures loads the messages of which something is to be erased in this turn, wherever they are.
func (d erasing) loadErasures() error {
	list, err := ParseErasures(d.Loaded.Slots[EraseSlot])
	if err != nil || !d.NewTurn {
		return err
	}
	var ranges []conversation.Range
	for _, x := range list {
		if x.Turn <= d.Turn {
			ranges = append(ranges, conversation.Range{First: x.Index, End: x.Index + 1})
		}
	}
	d.erasures = list
	return d.Loaded.Require(ranges...)
}

// eraseOutsideView erases what is due of messages that the view does not show, and takes what is done off the list.
func (d erasing) eraseOutsideView() error {
	shown := make(map[int32]bool)
	for i := range d.Composed.Units {
		if expiry.IsEmptied(&d.Composed.Units[i]) {
			continue
		}
		for j := range d.Composed.Units[i].Items {
			shown[d.Composed.Units[i].Items[j].Message.Index] = true
		}
	}
	var left []record.Erasure
	for _, x := range d.erasures {
		if x.Turn > d.Turn {
			left = append(left, x)
			continue
		}
		if !shown[x.Index] {
			if err := d.Loaded.IgnoreMissing(d.eraseUnshown(x.Index)); err != nil {
				return err
			}
		}
		if d.staysScheduled(x.Index) {
			x.Turn = d.Turn + 1
			left = append(left, x)
		}
	}
	d.erasures = left
	return d.Loaded.Incomplete()
}

// eraseUnshown lets go what is due of a message that the view does not show.
func (d erasing) eraseUnshown(index int32) error {
	m, ok := d.Loaded.Message(index)
	if !ok || d.Kept.Has(index) {
		return nil
	}
	in := d.lifetimes().expiryInput([]conversation.Unit{{Items: []conversation.Item{{Message: m, Parts: m.Parts}}}})
	in.KeepUnits = true
	for _, x := range expiry.Plan(in) {
		if !x.Erases() {
			continue
		}
		if err := d.expirations().applyExpiration(&x); err != nil {
			return err
		}
	}
	return nil
}

// staysScheduled says whether a message whose turn has come is still to be erased: it is in the newest unit, was expanded, is given
// more time by an override of this build, or waits for the conversation's policy to say when.
func (d erasing) staysScheduled(index int32) bool {
	m := d.Erased.Messages[index]
	if m == nil {
		m, _ = d.Loaded.Message(index)
	}
	if m == nil || d.Kept.Has(index) {
		return false
	}
	asAppended := expiry.Input{
		Turn: d.Turn, Units: []conversation.Unit{{Items: []conversation.Item{{Message: m, Parts: m.Parts}}}},
		View: &conversation.View{}, KeepUnits: true, Policy: d.Settings.policy.Expiration.Results,
	}
	return expiry.MayErase(m) || slices.ContainsFunc(expiry.Plan(asAppended), func(x expiry.Due) bool { return x.Erases() })
}

// isErased says whether a part of a message is gone, before this build or by it.
func (d *Attempt) isErased(m *conversation.Message, part int32) bool {
	if e := d.Erased.Messages[m.Index]; e != nil {
		m = e
	}
	return conversation.Erased(m.Parts[part : part+1])
}

// writeErasures adds what is erased to the build's change.
func (d erasing) writeErasures(c *store.Change) {
	for _, index := range slices.Sorted(maps.Keys(d.Erased.Messages)) {
		c.ReplaceMessages = append(c.ReplaceMessages, *d.Erased.Messages[index])
	}
	for _, seq := range slices.Sorted(maps.Keys(d.Erased.edits)) {
		c.ReplaceEdits = append(c.ReplaceEdits, *d.Erased.edits[seq])
	}
	c.Release = d.Erased.release
	txn.AddBytes(&c.Head, -d.Erased.freed())
	if d.contentSlots != nil {
		d.contentSlots.Apply(c)
	}
	stored := d.Loaded.Slots[EraseSlot]
	if !d.NewTurn || stored == nil {
		return
	}
	var value []byte
	if len(d.erasures) > 0 {
		value = record.EncodeErasures(d.erasures, stored)
	}
	if !bytes.Equal(value, stored) {
		c.Slots[EraseSlot] = value
	}
}
