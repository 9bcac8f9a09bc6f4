package engine

import (
	"context"
	"crypto/sha256"
	"slices"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// chunkFrom is the size in bytes from which content is stored as chunks (behaviour §14).
const chunkFrom = 32 << 10

// stage moves large contents out to chunks, outside of any compare. The request's messages stay whole, so that another
// incarnation can be staged for if the conversation is replaced in between.
func (a *appending) stage(ctx context.Context, incarnation conversation.ID) error {
	if a.stagedFor == incarnation && a.cited.sharesAsStaged() {
		return nil
	}
	a.staged, a.uploads = slices.Clone(a.request.Messages), nil
	for i := range a.staged {
		m := &a.staged[i]
		if !large(m.Parts) {
			continue
		}
		m.Parts = conversation.CloneParts(m.Parts)
		a.cited.share(i, m.Parts)
		refs, err := a.engine.stageParts(ctx, a.request.Key, incarnation, m.Parts)
		if err != nil {
			return err
		}
		a.cited.learn(i, m.Parts)
		a.uploads = append(a.uploads, refs...)
	}
	a.stagedFor = incarnation
	a.cited.staged = a.cited.shares
	return nil
}

func large(parts []conversation.Part) bool {
	for _, c := range conversation.Contents(parts) {
		if len(c.Inline) >= chunkFrom {
			return true
		}
	}
	return false
}

// stageParts uploads the large contents of parts and leaves references in their place.
func (e *Engine) stageParts(ctx context.Context, key Key, incarnation conversation.ID, parts []conversation.Part) ([]conversation.ID, error) {
	var ids []conversation.ID
	for _, c := range conversation.Contents(parts) {
		if len(c.Inline) < chunkFrom {
			continue
		}
		ref, err := e.stageContent(ctx, key, incarnation, c.Inline)
		if err != nil {
			return nil, err
		}
		*c = conversation.Content{Ref: ref}
		ids = append(ids, ref.ID)
	}
	return ids, nil
}

func (e *Engine) stageContent(ctx context.Context, key Key, incarnation conversation.ID, content string) (*conversation.ContentRef, error) {
	id := e.ids()
	if err := e.upload(ctx, key, incarnation, id, content); err != nil {
		return nil, err
	}
	return &conversation.ContentRef{
		ID: id, Bytes: int64(len(content)), Chars: int64(utf8.RuneCountInString(content)), SHA256: sha256.Sum256([]byte(content)),
	}, nil
}

func (e *Engine) upload(ctx context.Context, key Key, incarnation, id conversation.ID, content string) error {
	data, chunk := []byte(content), int32(0)
	for piece := range slices.Chunk(data, store.ChunkBytes) {
		u := &store.Upload{Incarnation: incarnation, Time: e.txn.Now(), ID: id, Chunk: chunk, Data: piece}
		if err := e.store.Stage(ctx, key, u); err != nil {
			return err
		}
		chunk++
	}
	return nil
}

// inline brings the contents of parts into memory. It returns the parts themselves if nothing of them is stored as chunks.
func (e *Engine) inline(ctx context.Context, key Key, incarnation conversation.ID, parts []conversation.Part) ([]conversation.Part, error) {
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
	snap, err := e.store.Read(ctx, key, q)
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

// stageSummaries moves what summaries say out to contents: builds read the edits about ranges again and again, and what summaries
// say only where it is shown. It returns the edits as they are to be stored.
func (e *Engine) stageSummaries(ctx context.Context, key Key, incarnation conversation.ID, edits []conversation.Edit) ([]conversation.Edit, []conversation.ID, error) {
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
			ref, err := e.stageContent(ctx, key, incarnation, c.Inline)
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

// summaryFrom is the size in bytes from which what a summary says is stored apart from its edit.
const summaryFrom = 512

// contents reads contents into memory.
func (e *Engine) contents(ctx context.Context, key Key, incarnation conversation.ID, contents ...conversation.Content) ([]string, error) {
	parts, err := e.inline(ctx, key, incarnation, view.TextParts(contents))
	if err != nil {
		return nil, err
	}
	return view.InlineTexts(parts), nil
}
