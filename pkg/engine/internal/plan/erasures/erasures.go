// Package erasures erases: it rewrites messages and earlier edits, takes facts from summaries, and releases contents, so that what is erased
// stands nowhere on record any more (behaviour §2).
package erasures

import (
	"crypto/sha256"
	"maps"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/contents"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// Erasures is what a build erases.
type Erasures struct {
	Messages map[int32]*conversation.Message // rewritten
	Hashes   [][32]byte                      // texts that were erased, of which summaries may be kept
	Contents []string                        // handles of contents that were erased with their messages

	loaded       *view.Loaded
	edits        map[int64]*conversation.Edit // rewritten
	release      []conversation.ID
	shared       []conversation.ContentRef // among what is released, what other contents may have too
	inline       int64                     // bytes that callers gave, in records
	chunks       map[conversation.ID]int64 // and in chunks, of which others may keep some
	contentSlots *contents.SlotChanges     // what that changes of contents; nil for nothing
}

// New begins with nothing erased of what is loaded.
func New(w *view.Loaded) *Erasures {
	return &Erasures{
		loaded: w, Messages: map[int32]*conversation.Message{}, edits: map[int64]*conversation.Edit{}, chunks: map[conversation.ID]int64{},
	}
}

// Clone is the same, to erase more: what it erases, the original does not know.
func (x *Erasures) Clone() *Erasures {
	out := *x
	out.Messages, out.edits, out.chunks = make(map[int32]*conversation.Message, len(x.Messages)), make(map[int64]*conversation.Edit, len(x.edits)), maps.Clone(x.chunks)
	for index, m := range x.Messages {
		copied := *m
		copied.Parts = conversation.CloneParts(m.Parts)
		out.Messages[index] = &copied
	}
	for seq, e := range x.edits {
		out.edits[seq] = cloneEdit(e)
	}
	out.Hashes, out.Contents, out.release, out.shared = slices.Clone(x.Hashes), slices.Clone(x.Contents), slices.Clone(x.release), slices.Clone(x.shared)
	return &out
}

// cloneEdit is an edit whose summary and shown parts are copies.
func cloneEdit(e *conversation.Edit) *conversation.Edit {
	c := *e
	if e.Summary != nil {
		s := *e.Summary
		c.Summary = &s
	}
	c.Parts = slices.Clone(e.Parts)
	for i := range c.Parts {
		c.Parts[i].Shown = conversation.CloneParts([]conversation.Part{c.Parts[i].Shown})[0]
	}
	return &c
}

// Erase erases parts of a message: a tool result, or its words; and what earlier edits showed of them.
func (x *Erasures) Erase(index int32, positions []int32) {
	m, ok := x.loaded.Message(index)
	if !ok {
		return
	}
	copied := x.Messages[index]
	if copied == nil {
		whole := *x.loaded.Original(m)
		whole.Parts = conversation.CloneParts(whole.Parts)
		copied = &whole
		x.Messages[index] = copied
	}
	for _, p := range positions {
		x.countErased(copied.Parts[p : p+1])
		x.eraseParts(copied.Parts[p : p+1])
	}
	x.eraseEdits(index, positions)
	x.markSummaries(index)
}

// markSummaries says of the summaries that stand for a message that something of what they stand for is gone. They stay.
func (x *Erasures) markSummaries(index int32) {
	for i := range x.loaded.Edits {
		if e := &x.loaded.Edits[i]; e.Summary != nil && e.Range.Contains(index) {
			x.rewrittenEdit(e).Summary.Erased = true // whose facts go too, also where it is marked already
		}
	}
}

// countErased counts what parts hold that a caller gave and that is about to be erased.
func (x *Erasures) countErased(parts []conversation.Part) {
	for i := range parts {
		x.inline += parts[i].Residue.Bytes()
	}
	for _, c := range conversation.Contents(parts) {
		x.inline += int64(len(c.Inline))
		if c.Ref != nil {
			x.chunks[c.Ref.ID] = c.Ref.Bytes
		}
	}
}

// freed is how many bytes that callers gave are on record no more.
func (x *Erasures) freed() int64 {
	n := x.inline
	for id, size := range x.chunks {
		if slices.Contains(x.release, id) {
			n += size
		}
	}
	return n
}

// eraseParts leaves of parts what is known of them: what is unknown may tell what is erased.
func (x *Erasures) eraseParts(parts []conversation.Part) {
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
			x.release = append(x.release, c.Ref.ID)
			x.shared = append(x.shared, *c.Ref)
			*c = txn.ErasedContent(x.loaded.Head.Incarnation, *c, c.Ref.SHA256)
		default:
			*c = txn.ErasedContent(x.loaded.Head.Incarnation, *c, sha256.Sum256([]byte(c.Inline)))
		}
	}
}

// eraseEdits erases what edits before this build showed of the parts: excerpts of what is erased, and what it was corrected to.
func (x *Erasures) eraseEdits(index int32, positions []int32) {
	for i := range x.loaded.Edits {
		e := &x.loaded.Edits[i]
		if e.Kind != conversation.EditParts && e.Kind != conversation.EditCorrect || e.Range.First != index {
			continue
		}
		for p := range e.Parts {
			if slices.Contains(positions, e.Parts[p].Part) {
				if cited := e.Parts[p].Shown.Citation; cited != nil {
					x.Contents = append(x.Contents, cited.ContentID)
				}
				shown := []conversation.Part{x.rewrittenEdit(e).Parts[p].Shown}
				if e.Kind == conversation.EditCorrect {
					x.countErased(shown)
				}
				x.eraseParts(shown)
				x.rewrittenEdit(e).Parts[p].Shown = shown[0]
			}
		}
	}
}

// rewrittenEdit is the edit as it is rewritten in this build; its shown parts are copies.
func (x *Erasures) rewrittenEdit(e *conversation.Edit) *conversation.Edit {
	if c := x.edits[e.Seq]; c != nil {
		return c
	}
	c := cloneEdit(e)
	x.edits[e.Seq] = c
	return c
}

// IsErased says whether a part of a message is gone, before this build or by it.
func (x *Erasures) IsErased(m *conversation.Message, part int32) bool {
	if e := x.Messages[m.Index]; e != nil {
		m = e
	}
	return conversation.Erased(m.Parts[part : part+1])
}

// Write adds what is erased to the build's change.
func (x *Erasures) Write(c *store.Change) {
	for _, index := range slices.Sorted(maps.Keys(x.Messages)) {
		c.ReplaceMessages = append(c.ReplaceMessages, *x.Messages[index])
	}
	for _, seq := range slices.Sorted(maps.Keys(x.edits)) {
		c.ReplaceEdits = append(c.ReplaceEdits, *x.edits[seq])
	}
	c.Release = x.release
	txn.AddBytes(&c.Head, -x.freed())
	if x.contentSlots != nil {
		x.contentSlots.Apply(c)
	}
}
