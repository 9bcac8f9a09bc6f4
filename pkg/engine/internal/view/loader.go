package view

import (
	"context"
	"errors"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
)

// Loader opens the views of conversations, keeps them in memory, and loads what plans need.
type Loader struct {
	store    store.Store
	txn      *txn.Manager
	Cache    *Cache
	counters map[string]tokens.Counter
	Formats  map[conversation.Format]provider.Format
}

// NewLoader returns a loader.
func NewLoader(s store.Store, t *txn.Manager, cache *Cache, counters []tokens.Counter, formats []provider.Format) *Loader {
	l := &Loader{
		store: s, txn: t, Cache: cache,
		counters: make(map[string]tokens.Counter, len(counters)), Formats: make(map[conversation.Format]provider.Format, len(formats)),
	}
	for _, c := range counters {
		l.counters[c.Name()] = c
	}
	for _, f := range formats {
		l.Formats[f.Format()] = f
	}
	return l
}

// Open reads the state of a conversation, from a window in memory if there is one, and the outcome of the request. The caller must have the
// turn on the conversation, so that nobody erases what the window holds before the window is released.
func (l *Loader) Open(ctx context.Context, key store.Key, r txn.Request) (*Loaded, *store.Snapshot, error) {
	warm := l.Cache.Take(ctx, key)
	q := store.Query{Info: true, SlotsOf: BuildSlots, Request: r.Key(), Manifest: &store.ManifestRange{Limit: 1}}
	if warm != nil {
		q.Incarnation = warm.Head.Incarnation
		q.Edits = &store.EditRange{After: warm.Head.EditSeq}
		q.Ranges = []store.MessageRange{{Range: conversation.Range{First: warm.Head.Messages, End: MaxIndex}, Limit: maxDelta}}
	}
	snap, err := l.store.Read(ctx, key, q)
	if warm != nil && err != nil && !isStale(err) {
		l.Cache.Put(warm)
		return nil, nil, txn.Failure(err)
	}
	if warm != nil && (err != nil || !warm.behind(&snap.Head) || snap.Head.Messages-warm.Head.Messages > maxDelta || slices.ContainsFunc(snap.Edits, erases)) {
		return l.Open(ctx, key, r) // reads all, because the window is no longer in the cache
	}
	if err != nil {
		return nil, nil, txn.Failure(err)
	}
	if err := l.txn.Live(&snap.Head); err != nil {
		return nil, nil, err
	}
	if warm == nil {
		warm = New(key, snap)
	} else {
		warm.advance(snap)
	}
	warm.lastManifest = snap.Manifests
	return warm, snap, nil
}

// behind reports whether the window holds the state of a head or an earlier one. In another epoch, the commits that it holds may be lost.
func (w *Loaded) behind(h *store.Head) bool {
	return h.Epoch == w.Head.Epoch && h.Version >= w.Head.Version
}

// isStale reports whether the error means that a window in memory is useless: its conversation is gone, or later records are damaged.
func isStale(err error) bool {
	return errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrCorrupt)
}

// Release puts back the window of a call that did not commit to it. Units written for uncommitted edits are dropped.
func (l *Loader) Release(w *Loaded) {
	w.dropUncommitted()
	l.Cache.Put(w)
}

// RunPlan runs a plan over a window. A plan does no reads: if the window lacks something, the plan ends, the missing parts are loaded, and
// the plan runs again from the beginning. So a plan must leave nothing behind that disturbs a second run.
func (l *Loader) RunPlan(ctx context.Context, w *Loaded, plan func() error) error {
	for {
		w.Extras.missing = missing{}
		err := plan()
		if !errors.Is(err, ErrMissing) {
			return err
		}
		w.dropUncommitted() // the next run may make other edits with the same numbers
		if err := l.loadMissing(ctx, w); err != nil {
			return err
		}
	}
}

func (l *Loader) loadMissing(ctx context.Context, w *Loaded) error {
	m := w.Extras.missing
	if m.none() {
		return conversation.Errorf(conversation.Internal, "a plan lacks something that it does not name")
	}
	if err := w.Load(ctx, l.store, m.ranges...); err != nil {
		return err
	}
	if m.back != nil {
		if err := w.loadBack(ctx, l.store, *m.back); err != nil {
			return err
		}
	}
	return w.Extras.load(m, func(q store.Query) (*store.Snapshot, error) { return w.readMore(ctx, l.store, q) })
}

// Composer returns a composer for a format and a model.
func (l *Loader) Composer(w *Loaded, kept conversation.Kept, f conversation.Format, model, counter string) (*Composer, error) {
	format, err := l.Format(f)
	if err != nil {
		return nil, err
	}
	c, err := l.Counter(counter)
	if err != nil {
		return nil, err
	}
	return NewComposer(w, kept, format, model, c), nil
}

// Format returns a format by its number.
func (l *Loader) Format(f conversation.Format) (provider.Format, error) {
	format, ok := l.Formats[f]
	if !ok {
		return nil, conversation.Errorf(conversation.Internal, "the format is not built in")
	}
	return format, nil
}

// Counter returns a counter by its name.
func (l *Loader) Counter(name string) (tokens.Counter, error) {
	if c, ok := l.counters[name]; ok {
		return c, nil
	}
	return nil, conversation.Errorf(conversation.Internal, "the counter %s is not built in", name)
}

// Manifest reads a manifest of a conversation.
func (l *Loader) Manifest(ctx context.Context, w *Loaded, seq int64) (*conversation.Manifest, error) {
	found := w.lastManifest
	if len(found) == 0 || found[0].Seq != seq {
		snap, err := l.store.Read(ctx, w.Key, store.Query{
			Incarnation: w.Head.Incarnation, Manifest: &store.ManifestRange{Before: seq + 1, Limit: 1},
		})
		if err != nil {
			return nil, txn.Failure(err)
		}
		found = snap.Manifests
	}
	if len(found) == 0 || found[0].Seq != seq {
		return nil, conversation.Errorf(conversation.ManifestNotFound, "no such manifest, or it is no longer kept")
	}
	m := found[0]
	return &m, nil
}

// Recompose lays out and writes an earlier build again. It needs nothing but the build's manifest.
func (l *Loader) Recompose(ctx context.Context, w *Loaded, m *conversation.Manifest, f conversation.Format) (*Composition, error) {
	if m.RendererVersion < provider.OldestRebuildable || m.RendererVersion > provider.RendererVersion {
		return nil, conversation.Errorf(conversation.ManifestNotRebuildable, "the manifest was made by renderer %d, this is renderer %d",
			m.RendererVersion, provider.RendererVersion)
	}
	c, err := l.composerAt(w, m, f)
	if err != nil {
		return nil, err
	}
	var out *Composition
	err = l.RunPlan(ctx, c.Loaded, func() (err error) {
		if err := c.requireShown(m); err != nil {
			return err
		}
		out, err = c.Compose(c.Loaded.View, m.Window)
		return err
	})
	return out, err
}

// Layout lays out an earlier build again without writing it. Messages that its window cut are returned as they were shown.
func (l *Loader) Layout(ctx context.Context, w *Loaded, m *conversation.Manifest) ([]conversation.Unit, error) {
	c, err := l.composerAt(w, m, m.Format)
	if err != nil {
		return nil, err
	}
	var out []conversation.Unit
	err = l.RunPlan(ctx, c.Loaded, func() (err error) {
		if err := c.requireShown(m); err != nil {
			return err
		}
		out, err = c.layOut(m.Window)
		return err
	})
	return out, err
}

// composerAt returns a composer for the conversation as it was at an earlier build.
func (l *Loader) composerAt(w *Loaded, m *conversation.Manifest, f conversation.Format) (*Composer, error) {
	past := New(w.Key, &store.Snapshot{Head: w.Head, Info: &w.Info, Slots: w.Slots})
	past.Head.Messages, past.Head.EditSeq = m.MessageCount, m.EditSeq
	return l.Composer(past, conversation.Kept{LeadingSystem: m.LeadingSystem, Pins: m.Pins}, f, m.Model, m.Counter)
}

// requireShown ends a plan unless everything that a build showed is loaded.
func (c *Composer) requireShown(m *conversation.Manifest) error {
	return c.Loaded.Require(c.Loaded.ShownRanges(c.Kept, m.Window, m.MessageCount)...)
}

// layOut returns what a window shows, with cuts applied.
func (c *Composer) layOut(win conversation.Window) ([]conversation.Unit, error) {
	units := c.Loaded.View.Layout(c.Loaded.Messages, win, c.Kept)
	for i := range units {
		u := &units[i]
		cut := CutOf(&win, u)
		if u.Summary == nil && (u.First() >= win.Start || cut.Leaves()) {
			continue
		}
		whole, err := c.inlineUnit(u)
		if IgnoreMissing(err) != nil {
			return nil, err
		}
		if err == nil && !c.Loaded.Extras.lacksAnything() {
			units[i] = *c.shorten(whole, cut)
		}
	}
	return units, c.Loaded.Extras.Incomplete()
}

// PreviousBuild is the previous build of the same format.
type PreviousBuild struct {
	Manifest *conversation.Manifest // nil if there is none
	Blocks   []provider.Block
	Erased   *conversation.Manifest // the previous build, in place of Manifest, if something it showed was erased
}

// Previous returns the previous build of the format with its blocks, from the window in memory or by rebuilding the manifest.
func (l *Loader) Previous(ctx context.Context, c *Composer) (PreviousBuild, error) {
	w := c.Loaded
	seq := w.Head.LastManifest[c.Format.Format()]
	if seq == 0 {
		return PreviousBuild{}, nil
	}
	m, err := l.Manifest(ctx, w, seq)
	if err != nil {
		return PreviousBuild{}, IgnoreKind(err, conversation.ManifestNotFound)
	}
	if cache := c.Cache(); cache.Manifest == seq {
		return PreviousBuild{Manifest: m, Blocks: cache.Assembly.Blocks()}, nil
	}
	r, err := l.Recompose(ctx, w, m, m.Format)
	if err != nil {
		return PreviousBuild{}, IgnoreKind(err, conversation.ManifestNotRebuildable)
	}
	if provider.NewAssembly(c.Format.Traits()).With(r.Blocks).Sum() != m.SHA256 { // something that it showed was erased since
		return PreviousBuild{Erased: m}, nil
	}
	return PreviousBuild{Manifest: m, Blocks: r.Blocks}, nil
}

// ShownRanges lists what a window over the first messages (their number) may show.
func (w *Loaded) ShownRanges(k conversation.Kept, win conversation.Window, messages int32) []conversation.Range {
	ranges := append([]conversation.Range{{First: 0, End: k.LeadingSystem}}, k.Pins...)
	for _, asked := range []int32{win.Request, win.Opening} {
		if asked >= 0 {
			ranges = append(ranges, conversation.Range{First: asked, End: asked + 1})
		}
	}
	return slices.Concat(ranges, w.RestoredRanges(win.Restored), w.View.Excepted(), []conversation.Range{{First: win.Start, End: messages}})
}

// IgnoreKind drops an error of a kind, which says that an earlier build is gone: there is nothing to compare with then.
func IgnoreKind(err error, kind conversation.Kind) error {
	if conversation.KindOf(err) == kind {
		return nil
	}
	return err
}
