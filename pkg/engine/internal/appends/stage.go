package appends

import (
	"context"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/contents"
)

// stage moves large contents into chunks, before the commit that refers to them. The request's messages keep their contents
// inline, so that they can be staged again if another incarnation replaces the conversation in between.
func (a *attempt) stage(ctx context.Context, incarnation conversation.ID) error {
	if a.stagedFor == incarnation && a.cited.sharesAsStaged() {
		return nil
	}
	a.discard(ctx) // chunks of an earlier try
	a.stagedFor, a.staged = incarnation, slices.Clone(a.request.Messages)
	if a.dry {
		return nil
	}
	if err := a.stageParts(ctx); err != nil {
		a.discard(ctx)
		return err
	}
	a.cited.staged = a.cited.shares
	return nil
}

func (a *attempt) stageParts(ctx context.Context) error {
	bytes := int64(0)
	for i := range a.staged {
		m := &a.staged[i]
		if !contents.Large(m.Parts) {
			continue
		}
		m.Parts = conversation.CloneParts(m.Parts)
		a.cited.share(i, m.Parts)
		bytes += inlineBytes(m.Parts)
		if err := a.service.Txn.CheckRoom(ctx, a.request.Key, a.stagedFor == a.fresh, bytes); err != nil {
			return err
		}
		uploads, err := a.service.Blobs.StageParts(ctx, a.request.Key, a.stagedFor, m.Parts)
		a.uploads = append(a.uploads, uploads...)
		if err != nil {
			return err
		}
		a.cited.learn(i, m.Parts)
	}
	return nil
}

// discard deletes what was staged.
func (a *attempt) discard(ctx context.Context) {
	incarnation, uploads := a.stagedFor, a.uploads
	a.stagedFor, a.uploads, a.shown = conversation.ID{}, nil, nil
	switch {
	case len(uploads) == 0:
		return
	case incarnation == a.fresh: // nothing else is staged under it: all of it goes
		uploads = nil
	}
	a.service.Txn.Discard(ctx, a.request.Key, incarnation, uploads...)
}

// inlineBytes is the number of bytes of parts that are yet to be staged, or that stay in the record.
func inlineBytes(parts []conversation.Part) (n int64) {
	for _, c := range conversation.Contents(parts) {
		n += int64(len(c.Inline))
	}
	return n
}
