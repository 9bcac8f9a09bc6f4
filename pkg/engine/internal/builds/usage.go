package builds

import (
	"context"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// ReportUsage tells what the provider counted for a build. An empty model is the build's. It returns the factor in force, and
// whether the report counts: at most one does for a build.
func (b *Service) ReportUsage(ctx context.Context, key store.Key, manifest int64, model string, u provider.Usage) (factor float64, counted bool, err error) {
	err = b.Txn.Do(ctx, key, func() error {
		w, _, err := b.Views.Open(ctx, key, txn.Request{})
		if err != nil {
			return err
		}
		m, err := b.Views.Manifest(ctx, w, manifest)
		if err != nil {
			return err
		}
		if model == "" {
			model = m.Model
		}
		factor, counted, err = b.reportUsage(ctx, w, m, model, u)
		if err == nil {
			b.Views.Release(w)
		}
		return err
	})
	return factor, counted, err
}

func (b *Service) reportUsage(ctx context.Context, w *view.Loaded, m *conversation.Manifest, model string, u provider.Usage) (float64, bool, error) {
	profile, err := b.Catalogues.Profile(ctx, w.Key.Namespace, model)
	if err != nil {
		return 0, false, err
	}
	counted, err := w.ObserveUsage(m, model, u, profile)
	if err != nil {
		return 0, false, err
	}
	factor, err := w.Slots.Factor(model, profile)
	if err != nil || !counted {
		return factor, false, err
	}
	c := &store.Change{
		Expect: w.Head.Version, Head: txn.NextHead(w.Head, b.Txn.Now()), ReplaceManifests: []conversation.Manifest{*m},
		Slots: map[string][]byte{view.UsageSlot(model): w.Slots[view.UsageSlot(model)], view.UsedSlot: w.Slots[view.UsedSlot]},
	}
	c.Head.Revision++
	if err := b.Store.Commit(ctx, w.Key, c); err != nil {
		return 0, false, err
	}
	w.ApplyCommit(c, w.View)
	return factor, true, nil
}
