package txn

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// AddBytes changes the head's count of bytes. The count does not fall below 0: bytes recorded before counting began are not in it.
func AddBytes(h *store.Head, n int64) { h.Bytes = max(h.Bytes+n, 0) }

// GivenBytes is the number of bytes that callers gave with the messages and corrections of a change, as recorded. Chunks uploaded with
// the change count once; chunks that were there before do not count.
func GivenBytes(c *store.Change) int64 {
	n, uploads := int64(0), slices.Clone(c.Uploads)
	for i := range c.Messages {
		n += int64(len(c.Messages[i].Metadata)) + givenBytes(c.Messages[i].Parts, &uploads)
	}
	for i := range c.Edits {
		if c.Edits[i].Kind != conversation.EditCorrect {
			continue
		}
		for p := range c.Edits[i].Parts {
			n += givenBytes([]conversation.Part{c.Edits[i].Parts[p].Shown}, &uploads)
		}
	}
	return n
}

// givenBytes counts the contents of parts, and removes the chunks that it counts from uploads.
func givenBytes(parts []conversation.Part, uploads *[]conversation.ID) (n int64) {
	for i := range parts {
		n += parts[i].Residue.Bytes()
	}
	for _, c := range conversation.Contents(parts) {
		switch {
		case c.Erased != nil:
		case c.Ref == nil:
			n += int64(len(c.Inline))
		default:
			if at := slices.Index(*uploads, c.Ref.ID); at >= 0 {
				*uploads = slices.Delete(*uploads, at, at+1)
				n += c.Ref.Bytes
			}
		}
	}
	return n
}
