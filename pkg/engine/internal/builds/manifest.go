package builds

import (
	"context"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/report"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// Manifest rebuilds an earlier build, in its own format or in another.
func (b *Service) Manifest(ctx context.Context, key store.Key, seq int64, f conversation.Format) (*ManifestResult, error) {
	snap, err := b.Contents.ReadSettled(ctx, key, store.Query{Info: true})
	if err != nil {
		return nil, err
	}
	w := view.New(key, snap)
	m, err := b.Views.Manifest(ctx, w, seq)
	if err != nil {
		return nil, err
	}
	if f == conversation.FormatUnspecified {
		f = m.Format
	}
	r, _, err := rebuild(ctx, b.Views, w, m, f)
	if err != nil {
		return nil, err
	}
	return &ManifestResult{
		Manifest: *m, Messages: r.Messages, System: r.System, MessagesJSON: r.MessagesJSON,
		SHA256: r.SHA256, Blocks: r.Blocks, Breakpoints: r.Breakpoints,
	}, nil
}

// Manifests lists the manifests with a seq below before (0: all), newest first.
func (b *Service) Manifests(ctx context.Context, key store.Key, before int64, limit int) (list []conversation.Manifest, more bool, err error) {
	snap, err := b.Txn.Read(ctx, key, store.Query{Manifest: &store.ManifestRange{Before: before, Limit: limit + 1}})
	if err != nil {
		return nil, false, err
	}
	list = snap.Manifests
	if len(list) > limit {
		return list[:limit], true, nil
	}
	return list, false, nil
}

// rebuild writes an earlier build again. In its own format the bytes must be the same.
func rebuild(ctx context.Context, views *view.Loader, w *view.Loaded, m *conversation.Manifest, f conversation.Format) (*report.Result, *view.Composition, error) {
	out, err := views.Recompose(ctx, w, m, f)
	if err != nil {
		return nil, nil, err
	}
	assembly := provider.NewAssembly(views.Formats[f].Traits()).With(out.Blocks)
	if f == m.Format && assembly.Sum() != m.SHA256 {
		return nil, nil, conversation.Errorf(conversation.ManifestNotRebuildable, "the rebuilt context differs from the recorded one")
	}
	r := &report.Result{Turn: m.Turn, Manifest: *m, Revision: m.Revision}
	r.SetContext(f, out, assembly)
	return r, out, nil
}

// weightFrom is what the messages from an index on weigh: what was appended after a build.
func weightFrom(ctx context.Context, s store.Store, w *view.Loaded, index int32) (int64, error) {
	weight := int64(0)
	for index < w.Head.Messages {
		snap, err := s.Read(ctx, w.Key, store.Query{
			Incarnation: w.Head.Incarnation, Ranges: []store.MessageRange{{Range: conversation.Range{First: index, End: w.Head.Messages}, Limit: view.UnitPage}},
		})
		if err != nil || len(snap.Messages) == 0 {
			return weight, txn.Failure(err)
		}
		for i := range snap.Messages {
			weight += int64(snap.Messages[i].Tokens)
		}
		index = snap.Messages[len(snap.Messages)-1].Index + 1
	}
	return weight, nil
}
