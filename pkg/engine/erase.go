package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"maps"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/contents"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/expiry"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

// eraseSlot holds which messages have something to be erased, and when: they must be found wherever they are by then, in the
// view or not (behaviour §2).
const eraseSlot = view.BuildSlots + "erase"

// maxErasures is how many messages of a conversation may wait to be erased.
const maxErasures = 2048

func parseErasures(value []byte) ([]record.Erasure, error) {
	if value == nil {
		return nil, nil
	}
	list, err := record.DecodeErasures(value)
	if err != nil {
		return nil, conversation.Errorf(conversation.CorruptRecord, "the stored erasures are damaged").Because(err)
	}
	return list, nil
}

// scheduleErasures adds to an append what of its messages is to be erased, and when.
func (e *Engine) scheduleErasures(ctx context.Context, key Key, c *store.Change) error {
	fresh := make([]record.Erasure, 0, len(c.Messages))
	for i := range c.Messages {
		fresh = append(fresh, erasuresOf(&c.Messages[i])...)
	}
	if len(fresh) == 0 {
		return nil
	}
	var stored []byte
	if int(c.Head.Messages) > len(c.Messages) { // of a conversation without messages, nothing waits
		snap, err := e.store.Read(ctx, key, store.Query{Incarnation: c.Head.Incarnation, Slots: []string{eraseSlot}})
		if err != nil {
			return txn.Failure(err)
		}
		stored = snap.Slots[eraseSlot]
	}
	list, err := parseErasures(stored)
	if err != nil {
		return err
	}
	if len(list)+len(fresh) > maxErasures {
		return conversation.Errorf(conversation.LimitExceeded, "at most %d messages of a conversation may wait to be erased", maxErasures)
	}
	c.Slots = map[string][]byte{eraseSlot: record.EncodeErasures(append(list, fresh...), stored)}
	return nil
}

// erasuresOf is when something of a message is to be erased: once for each turn.
func erasuresOf(m *conversation.Message) []record.Erasure {
	var out []record.Erasure
	add := func(part int32, x *conversation.Expiration) {
		turn, ok := expiry.EraseTurn(m, part, x)
		if e := (record.Erasure{Index: m.Index, Turn: turn}); ok && !m.Pinned && !slices.Contains(out, e) {
			out = append(out, e)
		}
	}
	add(expiry.Words, m.Expiration)
	for i := range m.Parts {
		if r := m.Parts[i].Result; r != nil {
			add(int32(i), r.Expiration)
		}
	}
	return out
}

// erasing is what a build erases: messages rewritten, edits rewritten, contents released.
type erasing struct {
	messages map[int32]*conversation.Message
	edits    map[int64]*conversation.Edit
	release  []conversation.ID
	shared   []conversation.ContentRef // among what is released, what other contents may have too
}

// erase erases parts of a message: a tool result, or its words; and what earlier edits showed of them.
func (d *deciding) erase(index int32, positions []int32) {
	m, ok := d.Loaded.Message(index)
	if !ok {
		return
	}
	if d.erased.messages == nil {
		d.erased = erasing{messages: map[int32]*conversation.Message{}, edits: map[int64]*conversation.Edit{}}
	}
	copied := d.erased.messages[index]
	if copied == nil {
		whole := *d.Loaded.Original(m)
		whole.Parts = conversation.CloneParts(whole.Parts)
		copied = &whole
		d.erased.messages[index] = copied
	}
	for _, p := range positions {
		d.eraseParts(copied.Parts[p : p+1])
	}
	d.eraseEdits(index, positions)
	d.markSummaries(index)
}

// markSummaries says of the summaries that stand for a message that something of what they stand for is gone. They stay.
func (d *deciding) markSummaries(index int32) {
	for i := range d.Loaded.Edits {
		if e := &d.Loaded.Edits[i]; e.Summary != nil && e.Range.Contains(index) {
			d.copyEdit(e).Summary.Erased = true // whose facts go too, also where it is marked already
		}
	}
}

// eraseParts leaves of parts what is known of them: what is unknown may tell what is erased.
func (d *deciding) eraseParts(parts []conversation.Part) {
	for i := range parts {
		parts[i].Unknown = ""
		if parts[i].Result != nil {
			parts[i].Result.Unknown = ""
		}
	}
	for _, c := range conversation.Contents(parts) {
		switch {
		case c.Erased != nil || c.Bytes() == 0:
			continue
		case c.Ref != nil:
			d.erased.release = append(d.erased.release, c.Ref.ID)
			d.erased.shared = append(d.erased.shared, *c.Ref)
			*c = txn.Blank(d.Loaded.Head.Incarnation, *c, c.Ref.SHA256)
		default:
			*c = txn.Blank(d.Loaded.Head.Incarnation, *c, sha256.Sum256([]byte(c.Inline)))
		}
	}
}

// eraseEdits erases what edits before this build showed of the parts: excerpts of what is erased, and what it was corrected to.
func (d *deciding) eraseEdits(index int32, positions []int32) {
	for i := range d.Loaded.Edits {
		e := &d.Loaded.Edits[i]
		if e.Kind != conversation.EditParts && e.Kind != conversation.EditCorrect || e.Range.First != index {
			continue
		}
		for p := range e.Parts {
			if slices.Contains(positions, e.Parts[p].Part) {
				if cited := e.Parts[p].Shown.Citation; cited != nil {
					d.gone = append(d.gone, cited.ContentID)
				}
				shown := []conversation.Part{d.copyEdit(e).Parts[p].Shown}
				d.eraseParts(shown)
				d.copyEdit(e).Parts[p].Shown = shown[0]
			}
		}
	}
}

// copyEdit is the edit as it is rewritten in this build; its shown parts are copies.
func (d *deciding) copyEdit(e *conversation.Edit) *conversation.Edit {
	if c := d.erased.edits[e.Seq]; c != nil {
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
	d.erased.edits[e.Seq] = &c
	return &c
}

// loadErasures loads the messages of which something is to be erased in this turn, wherever they are.
func (d *deciding) loadErasures() error {
	list, err := parseErasures(d.Loaded.Slots[eraseSlot])
	if err != nil || !d.aging {
		return err
	}
	var ranges []conversation.Range
	for _, x := range list {
		if x.Turn <= d.turn {
			ranges = append(ranges, conversation.Range{First: x.Index, End: x.Index + 1})
		}
	}
	d.erasures = list
	return d.Loaded.Require(ranges...)
}

// eraseApart erases what is due of messages that the view does not show, and takes what is done off the list.
func (d *deciding) eraseApart() error {
	shown := make(map[int32]bool)
	for i := range d.out.Units {
		if expiry.Gone(&d.out.Units[i]) {
			continue
		}
		for j := range d.out.Units[i].Items {
			shown[d.out.Units[i].Items[j].Message.Index] = true
		}
	}
	var left []record.Erasure
	for _, x := range d.erasures {
		if x.Turn > d.turn {
			left = append(left, x)
			continue
		}
		if !shown[x.Index] {
			if err := d.Loaded.IgnoreMissing(d.eraseUnseen(x.Index)); err != nil {
				return err
			}
		}
		if d.waitsToBeErased(x.Index) {
			x.Turn = d.turn + 1
			left = append(left, x)
		}
	}
	d.erasures = left
	return d.Loaded.Incomplete()
}

// eraseUnseen lets go what is due of a message that the view does not show.
func (d *deciding) eraseUnseen(index int32) error {
	m, ok := d.Loaded.Message(index)
	if !ok || index < d.Kept.LeadingSystem || d.pinned(index) {
		return nil
	}
	in := d.expiryInput([]conversation.Unit{{Items: []conversation.Item{{Message: m, Parts: m.Parts}}}})
	in.Apart = true
	for _, x := range expiry.Plan(in) {
		if !erases(&x) {
			continue
		}
		if err := d.let(&x); err != nil {
			return err
		}
	}
	return nil
}

// waitsToBeErased says whether a message whose turn has come is still to be erased: it is in the newest unit, was expanded, is given
// more time by an override of this build, or waits for the conversation's policy to say when.
func (d *deciding) waitsToBeErased(index int32) bool {
	m := d.erased.messages[index]
	if m == nil {
		m, _ = d.Loaded.Message(index)
	}
	if m == nil || index < d.Kept.LeadingSystem || d.pinned(index) {
		return false
	}
	asAppended := expiry.Input{
		Turn: d.turn, Units: []conversation.Unit{{Items: []conversation.Item{{Message: m, Parts: m.Parts}}}},
		View: &conversation.View{}, Apart: true, Policy: d.settings.policy.Expiration.Results,
	}
	return expiry.Open(m) || slices.ContainsFunc(expiry.Plan(asAppended), func(x expiry.Due) bool { return erases(&x) })
}

// isErased says whether a part of a message is gone, before this build or by it.
func (d *deciding) isErased(m *conversation.Message, part int32) bool {
	if e := d.erased.messages[m.Index]; e != nil {
		m = e
	}
	return conversation.Erased(m.Parts[part : part+1])
}

// changeErased adds what is erased to the build's change.
func (d *deciding) changeErased(c *store.Change) {
	for _, index := range slices.Sorted(maps.Keys(d.erased.messages)) {
		c.ReplaceMessages = append(c.ReplaceMessages, *d.erased.messages[index])
	}
	for _, seq := range slices.Sorted(maps.Keys(d.erased.edits)) {
		c.ReplaceEdits = append(c.ReplaceEdits, *d.erased.edits[seq])
	}
	c.Release = d.erased.release
	if d.contents != nil {
		d.contents.Apply(c)
	}
	stored := d.Loaded.Slots[eraseSlot]
	if !d.aging || stored == nil {
		return
	}
	var value []byte
	if len(d.erasures) > 0 {
		value = record.EncodeErasures(d.erasures, stored)
	}
	if !bytes.Equal(value, stored) {
		c.Slots[eraseSlot] = value
	}
}

// forgetErased makes everybody forget what a build has erased: the window, which is not kept warm, who summarizes, and who searches.
func (e *Engine) forgetErased(d *deciding) {
	for _, handle := range d.gone {
		if n, ok := contents.NumberOf(handle); ok {
			e.contents.Cache.Drop(d.Loaded.Head.Incarnation, n)
		}
	}
	for index := range d.erased.messages {
		e.contents.Cache.DropMessage(d.Loaded.Head.Incarnation, index)
	}
	scope := summarize.Scope{Namespace: d.Loaded.Key.Namespace, Conversation: d.Loaded.Key.Conversation}
	for _, hash := range d.forget {
		e.summaries.Forget(scope, hash)
	}
	for index := range d.erased.messages { // of all the words that it had, only the last are known by their hash
		if _, corrected := d.Loaded.Originals[index]; corrected {
			e.summaries.ForgetConversation(scope)
			return
		}
	}
	e.summaries.ForgetSpans(scope)
}
