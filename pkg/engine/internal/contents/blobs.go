package contents

import (
	"context"
	"crypto/sha256"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// Blobs stores large contents apart from the records that refer to them.
type Blobs struct {
	store store.Store
	ids   func() conversation.ID
	clock func() time.Time
}

// NewBlobs returns blobs of a store.
func NewBlobs(s store.Store, ids func() conversation.ID, clock func() time.Time) *Blobs {
	return &Blobs{store: s, ids: ids, clock: clock}
}

// Large reports whether any content of the parts is stored as chunks.
func Large(parts []conversation.Part) bool {
	return slices.ContainsFunc(conversation.Contents(parts), func(c *conversation.Content) bool { return len(c.Inline) >= ChunkFrom })
}

// StageParts uploads the large contents of parts and puts references in their place. It returns the ids of the uploads that it began, also
// with an error.
func (b *Blobs) StageParts(ctx context.Context, key store.Key, incarnation conversation.ID, parts []conversation.Part) ([]conversation.ID, error) {
	var ids []conversation.ID
	for _, c := range conversation.Contents(parts) {
		if len(c.Inline) < ChunkFrom {
			continue
		}
		id := b.ids()
		ids = append(ids, id)
		ref, err := b.stageContent(ctx, key, incarnation, id, c.Inline)
		if err != nil {
			return ids, err
		}
		*c = conversation.Content{Ref: ref}
	}
	return ids, nil
}

func (b *Blobs) stageContent(ctx context.Context, key store.Key, incarnation, id conversation.ID, content string) (*conversation.ContentRef, error) {
	if err := b.upload(ctx, key, incarnation, id, content); err != nil {
		return nil, err
	}
	return &conversation.ContentRef{
		ID: id, Bytes: int64(len(content)), Chars: int64(utf8.RuneCountInString(content)), SHA256: sha256.Sum256([]byte(content)),
	}, nil
}

func (b *Blobs) upload(ctx context.Context, key store.Key, incarnation, id conversation.ID, content string) error {
	data, chunk := []byte(content), int32(0)
	for piece := range slices.Chunk(data, store.ChunkBytes) {
		u := &store.Upload{Incarnation: incarnation, Time: b.clock().UTC(), ID: id, Chunk: chunk, Data: piece}
		if err := b.store.Stage(ctx, key, u); err != nil {
			return err
		}
		chunk++
	}
	return nil
}

// Inline reads the contents of parts into memory. It returns the parts themselves if none of their contents is stored as chunks.
func (b *Blobs) Inline(ctx context.Context, key store.Key, incarnation conversation.ID, parts []conversation.Part) ([]conversation.Part, error) {
	if !slices.ContainsFunc(conversation.Contents(parts), view.Stored) {
		return parts, nil
	}
	parts = conversation.CloneParts(parts)
	q := store.Query{Incarnation: incarnation}
	var wanted []*conversation.Content
	for _, c := range conversation.Contents(parts) {
		if view.Stored(c) {
			wanted = append(wanted, c)
			q.Contents = append(q.Contents, store.ContentRange{ID: c.Ref.ID, Length: -1})
		}
	}
	snap, err := b.store.Read(ctx, key, q)
	if err != nil {
		return nil, txn.Failure(err)
	}
	for i, c := range wanted {
		if int64(len(snap.Contents[i])) != c.Ref.Bytes {
			return nil, conversation.Errorf(conversation.CorruptRecord, "a stored content is not whole")
		}
		*c = conversation.Content{Inline: string(snap.Contents[i])}
	}
	return parts, nil
}

// StageSummaries moves the texts of summaries into contents. Builds read the edits about ranges again and again, but need a summary's text
// only where it is shown. It returns the edits in the form to be stored.
func (b *Blobs) StageSummaries(ctx context.Context, key store.Key, incarnation conversation.ID, edits []conversation.Edit) ([]conversation.Edit, []conversation.ID, error) {
	out, ids := slices.Clone(edits), []conversation.ID(nil)
	for i := range out {
		if out[i].Summary == nil {
			continue
		}
		s := *out[i].Summary
		for _, c := range []*conversation.Content{&s.Text, &s.Facts} {
			if len(c.Inline) < summaryFrom {
				continue
			}
			ref, err := b.stageContent(ctx, key, incarnation, b.ids(), c.Inline)
			if err != nil {
				return nil, nil, err
			}
			*c = conversation.Content{Ref: ref}
			ids = append(ids, ref.ID)
		}
		out[i].Summary = &s
	}
	return out, ids, nil
}

// summaryFrom is the size in bytes from which a summary's text is stored apart from its edit.
const summaryFrom = 512

// Texts reads contents into memory.
func (b *Blobs) Texts(ctx context.Context, key store.Key, incarnation conversation.ID, contents ...conversation.Content) ([]string, error) {
	parts, err := b.Inline(ctx, key, incarnation, view.TextParts(contents))
	if err != nil {
		return nil, err
	}
	return view.InlineTexts(parts), nil
}

// ChunkFrom is the size in bytes from which content is stored as chunks (behaviour §14).
const ChunkFrom = 32 << 10

// WholeOf returns the one content that holds a text, or a result that does not consist of several pieces.
func WholeOf(p *conversation.Part) *conversation.Content {
	if p.Kind == conversation.PartText {
		return &p.Text
	}
	return &p.Result.Text
}
