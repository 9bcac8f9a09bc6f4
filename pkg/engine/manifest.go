package engine

import (
	"context"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// manifest reads one manifest of a conversation.
func (e *Engine) manifest(ctx context.Context, w *window, seq int64) (*conversation.Manifest, error) {
	snap, err := e.store.Read(ctx, w.key, store.Query{
		Incarnation: w.head.Incarnation, Manifest: &store.ManifestRange{Before: seq + 1, Limit: 1},
	})
	if err != nil {
		return nil, failure(err)
	}
	if len(snap.Manifests) == 0 || snap.Manifests[0].Seq != seq {
		return nil, conversation.Errorf(conversation.ManifestNotFound, "no such manifest, or it is no longer kept")
	}
	return &snap.Manifests[0], nil
}

// Manifest rebuilds an earlier build, in its own format or in another.
func (e *Engine) Manifest(ctx context.Context, key Key, seq int64, f conversation.Format) (*ManifestResult, error) {
	snap, err := e.readSettled(ctx, key, store.Query{Info: true})
	if err != nil {
		return nil, err
	}
	w := newWindow(key, snap)
	m, err := e.manifest(ctx, w, seq)
	if err != nil {
		return nil, err
	}
	if f == conversation.FormatUnspecified {
		f = m.Format
	}
	r, _, err := e.rebuild(ctx, w, m, f)
	if err != nil {
		return nil, err
	}
	return &ManifestResult{
		Manifest: *m, Messages: r.Messages, System: r.System, MessagesJSON: r.MessagesJSON,
		SHA256: r.SHA256, Blocks: r.Blocks, Breakpoints: r.Breakpoints,
	}, nil
}

// Manifests lists the manifests with a seq below before (0: all), newest first.
func (e *Engine) Manifests(ctx context.Context, key Key, before int64, limit int) (list []conversation.Manifest, more bool, err error) {
	snap, err := e.read(ctx, key, store.Query{Manifest: &store.ManifestRange{Before: before, Limit: limit + 1}})
	if err != nil {
		return nil, false, err
	}
	list = snap.Manifests
	if len(list) > limit {
		return list[:limit], true, nil
	}
	return list, false, nil
}

// recompose lays out and writes an earlier build again, from its coordinates alone.
func (e *Engine) recompose(ctx context.Context, w *window, m *conversation.Manifest, f conversation.Format) (*composition, error) {
	if m.RendererVersion != provider.RendererVersion {
		return nil, conversation.Errorf(conversation.ManifestNotRebuildable, "the manifest was made by renderer %d, this is renderer %d",
			m.RendererVersion, provider.RendererVersion)
	}
	past := newWindow(w.key, &store.Snapshot{Head: w.head, Info: &w.info, Slots: w.slots})
	past.head.Messages, past.head.EditSeq = m.MessageCount, m.EditSeq
	k := conversation.Kept{LeadingSystem: m.LeadingSystem, Pins: m.Pins}
	tail := conversation.Range{First: m.Window.Start, End: m.MessageCount}
	c, err := e.composer(past, k, f, m.Model, m.Counter)
	if err != nil {
		return nil, err
	}
	var out *composition
	err = e.runPlan(ctx, past, func() (err error) {
		shown := slices.Concat(kept(k, m.Window), []conversation.Range{tail}, past.restored(m.Window.Restored), past.view.Excepted())
		if err := past.need(shown...); err != nil {
			return err
		}
		out, err = c.compose(past.view, m.Window)
		return err
	})
	return out, err
}

// rebuild writes an earlier build again. In its own format the bytes must be the same.
func (e *Engine) rebuild(ctx context.Context, w *window, m *conversation.Manifest, f conversation.Format) (*BuildResult, *composition, error) {
	out, err := e.recompose(ctx, w, m, f)
	if err != nil {
		return nil, nil, err
	}
	assembly := provider.NewAssembly(e.formats[f].Traits()).With(out.blocks)
	if f == m.Format && assembly.Sum() != m.SHA256 {
		return nil, nil, conversation.Errorf(conversation.ManifestNotRebuildable, "the rebuilt context differs from the recorded one")
	}
	r := &BuildResult{Turn: m.Turn, Manifest: *m, Revision: m.Revision}
	r.write(f, out, assembly)
	return r, out, nil
}

// weightFrom is what the messages from an index on weigh: what was appended after a build.
func (e *Engine) weightFrom(ctx context.Context, w *window, index int32) (int64, error) {
	_, tokens, err := e.count(ctx, w.key, w.head.Incarnation, conversation.Range{First: index, End: w.head.Messages}, &Filter{})
	return tokens, err
}
