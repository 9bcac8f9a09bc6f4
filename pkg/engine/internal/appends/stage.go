package appends

import (
	"context"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/contents"
)

// stage moves large contents out to chunks, outside of any compare. The request's messages stay whole, so that another
// incarnation can be staged for if the conversation is replaced in between.
func (a *attempt) stage(ctx context.Context, incarnation conversation.ID) error {
	if a.stagedFor == incarnation && a.cited.sharesAsStaged() {
		return nil
	}
	a.discard(ctx) // of an attempt before this one
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

// discard lets go what was staged.
func (a *attempt) discard(ctx context.Context) {
	incarnation, uploads := a.stagedFor, a.uploads
	a.stagedFor, a.uploads, a.shown = conversation.ID{}, nil, nil
	switch {
	case len(uploads) == 0:
		return
	case incarnation == a.fresh: // there is nothing else under it
		uploads = nil
	}
	a.service.Txn.Discard(ctx, a.request.Key, incarnation, uploads...)
}

// inlineBytes is what is yet to be staged of parts, and what stays in their record.
func inlineBytes(parts []conversation.Part) (n int64) {
	for _, c := range conversation.Contents(parts) {
		n += int64(len(c.Inline))
	}
	return n
}
