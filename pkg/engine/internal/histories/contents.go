package histories

import (
	"context"
	"crypto/sha256"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// contentReader reads stored contents for a comparison. An error is kept and returned at the end.
type contentReader struct {
	incarnation conversation.ID
	read        func(store.Query) (*store.Snapshot, error)
	err         error
}

func (f *Finder) contents(ctx context.Context, key store.Key, snap *store.Snapshot) *contentReader {
	return &contentReader{
		incarnation: snap.Head.Incarnation, read: func(q store.Query) (*store.Snapshot, error) { return f.store.Read(ctx, key, q) },
	}
}

// Text implements history.Contents.
func (r *contentReader) Text(c conversation.Content) (string, bool) {
	switch {
	case c.Erased != nil || r.err != nil:
		return "", false
	case c.Ref == nil:
		return c.Inline, true
	}
	snap, err := r.read(store.Query{Incarnation: r.incarnation, Contents: []store.ContentRange{{ID: c.Ref.ID, Length: -1}}})
	if err == nil && int64(len(snap.Contents[0])) != c.Ref.Bytes {
		err = conversation.Errorf(conversation.CorruptRecord, "a stored content is not whole")
	}
	if r.err = err; err != nil {
		return "", false
	}
	return string(snap.Contents[0]), true
}

// Is implements history.Contents. An erased content is compared by its hash.
func (r *contentReader) Is(c conversation.Content, text string) bool {
	sum := sha256.Sum256([]byte(text))
	switch {
	case c.Ref != nil:
		return c.Ref.SHA256 == sum
	case c.Erased != nil:
		return c.Erased.Hash == txn.KeyedHash(r.incarnation, sum)
	default:
		return false
	}
}
