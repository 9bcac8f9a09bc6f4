package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/contents"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// maxTurnsAhead is how far a build may jump (behaviour §3).
const maxTurnsAhead = 1000

// manifestMemory and manifestsKept are how long, and how many, manifests are kept (behaviour §13).
const (
	manifestMemory = 30 * 24 * time.Hour
	manifestsKept  = 1000
)

// Build begins the next turn, unless the request says otherwise, and answers what the model should see now. A refused build
// begins nothing and commits nothing.
func (e *Engine) Build(ctx context.Context, r BuildRequest) (*BuildResult, error) {
	if r.Format == conversation.FormatUnspecified {
		r.Format = conversation.FormatNeutral
	}
	var result *BuildResult
	w := &waits{around: r.Waiting}
	for {
		err := e.txn.Do(ctx, r.Key, func() (err error) {
			result, err = e.attemptBuild(ctx, &r, w)
			return err
		})
		if again, err := e.again(ctx, r.Key, w, err); !again {
			return result, err
		}
	}
}

// again says whether there is to be another attempt, once what the last one lacked is there. Nobody is kept from the conversation meanwhile.
func (e *Engine) again(ctx context.Context, key Key, w *waits, err error) (bool, error) {
	switch {
	case errors.Is(err, errWait):
		err = e.wait(ctx, w)
		return err == nil, err
	case errors.Is(err, contents.ErrOverdue):
		err = e.contents.ExpireOverdue(ctx, key)
		return err == nil, err
	default:
		return false, err
	}
}

func (e *Engine) attemptBuild(ctx context.Context, r *BuildRequest, wait *waits) (*BuildResult, error) {
	w, snap, err := e.views.Open(ctx, r.Key, r.Request)
	if err != nil {
		return nil, err
	}
	if err := e.settled(ctx, w); err != nil {
		return nil, err
	}
	result, committed, err := e.buildIn(ctx, w, snap, r, wait)
	if !committed && !errors.Is(err, store.ErrConflict) {
		e.views.Release(w)
	}
	return result, err
}

// buildIn builds in a window; committed says whether the window has moved on with it.
func (e *Engine) buildIn(ctx context.Context, w *view.Loaded, snap *store.Snapshot, r *BuildRequest, wait *waits) (result *BuildResult, committed bool, err error) {
	first, err := e.txn.Recall(snap, r.Request)
	if err != nil {
		return nil, false, err
	}
	if first != nil {
		result, err = e.repeatBuild(ctx, w, first, r)
		return result, false, err
	}
	blank, report, err := e.prepare(ctx, w, r)
	if err != nil {
		return nil, false, err
	}
	blank.await(wait)
	d, err := e.runBuild(ctx, blank, (*deciding).decide)
	if err != nil {
		return nil, false, err
	}
	return e.finish(ctx, d, r, report)
}

// runBuild decides on a build by a plan, and loads what the plan needs. blank is what it is decided with; each run begins with a copy.
func (e *Engine) runBuild(ctx context.Context, blank *deciding, plan func(*deciding) error) (d *deciding, err error) {
	err = e.views.RunPlan(ctx, blank.Loaded, func() error {
		fresh, settings := *blank, *blank.settings
		d = &fresh
		d.settings = &settings
		d.waits.reset()
		if err := d.open(); err != nil {
			return err
		}
		return plan(d)
	})
	return d, err
}

// prepare gets everything together that a build is decided on. report is the manifest that last_usage counted for, nil for none.
func (e *Engine) prepare(ctx context.Context, w *view.Loaded, r *BuildRequest) (d *deciding, report *conversation.Manifest, err error) {
	turn, err := nextTurn(w.Head.Turn, r)
	if err != nil {
		return nil, nil, err
	}
	if report, err = e.lastUsage(ctx, w, r); err != nil {
		return nil, nil, err
	}
	s, err := e.settings(ctx, w, r)
	if err != nil {
		return nil, nil, err
	}
	kept := conversation.Kept{LeadingSystem: w.Head.LeadingSystem, Pins: w.Head.Pins}
	c, err := e.views.Composer(w, kept, r.Format, r.Model, w.Info.Counter)
	if err != nil {
		return nil, nil, err
	}
	d = &deciding{
		Composer: c, settings: s, summaries: e.summaries, turn: turn, aging: turn > w.Head.Turn, dry: r.DryRun, closes: r.CloseOpenCalls, now: e.txn.Now(),
		fixed: w.WeighFixed(r.Fixed, s.counter).Tokens,
	}
	d.before, err = e.views.Previous(ctx, c)
	return d, report, err
}

// await gives the build what it may wait for models; the first attempt knows how long that is.
func (d *deciding) await(w *waits) {
	if !w.begun {
		w.begun, w.left, w.calls = true, d.settings.maxWait, maxWaits
	}
	d.waits = w
}

// nextTurn is the turn of a build.
func nextTurn(current int32, r *BuildRequest) (int32, error) {
	switch {
	case r.Turn == nil && r.SameTurn && current > 0:
		return current, nil
	case r.Turn == nil:
		return current + 1, nil
	case *r.Turn < current || *r.Turn == 0:
		return 0, conversation.Errorf(conversation.TurnPassed, "turn %d has passed; the current one is %d", *r.Turn, current)
	case int64(*r.Turn) > int64(current)+maxTurnsAhead:
		err := conversation.Errorf(conversation.InvalidField, "the turn is too far ahead")
		err.Violations = []conversation.Violation{{Field: "turn", Text: fmt.Sprintf("at most %d after the current turn, %d", maxTurnsAhead, current)}}
		return 0, err
	default:
		return *r.Turn, nil
	}
}

// lastUsage learns from what the provider reported for the previous build.
func (e *Engine) lastUsage(ctx context.Context, w *view.Loaded, r *BuildRequest) (*conversation.Manifest, error) {
	if r.LastUsage == nil || w.Head.ManifestSeq == 0 {
		return nil, nil
	}
	m, err := e.views.Manifest(ctx, w, w.Head.ManifestSeq)
	if err != nil {
		return nil, view.IgnoreKind(err, conversation.ManifestNotFound)
	}
	profile, err := e.catalogues.Profile(ctx, w.Key.Namespace, m.Model)
	if err != nil {
		return nil, err
	}
	counted, err := w.ObserveUsage(m, m.Model, *r.LastUsage, profile)
	if err != nil || !counted {
		return nil, err
	}
	return m, nil
}

// finish makes the answer, lets the caller check it, and commits it.
func (e *Engine) finish(ctx context.Context, d *deciding, r *BuildRequest, report *conversation.Manifest) (result *BuildResult, committed bool, err error) {
	assembly := d.Cache().Assembly.With(d.out.Blocks)
	c, manifest, err := d.change(r, report, assembly)
	if err != nil {
		return nil, false, err
	}
	result = d.result(assembly, manifest)
	if result.Compaction.OwnCalls, err = e.ownCalls(ctx, d.Loaded.Key); err != nil {
		return nil, false, err
	}
	result.Prefix = d.prefix(d.before, &manifest)
	result.renderSystem(d.Format, r.Fixed, d.out)
	if r.DryRun {
		result.Manifest.Seq, result.Revision = 0, d.Loaded.Head.Revision
	}
	if r.Check != nil {
		if err := r.Check(result); err != nil {
			return nil, false, err
		}
	}
	if r.DryRun {
		return result, false, nil
	}
	if c.Edits, c.Uploads, err = e.blobs.StageSummaries(ctx, d.Loaded.Key, d.Loaded.Head.Incarnation, c.Edits); err != nil {
		return nil, false, err
	}
	replaced, uploads, err := e.blobs.StageSummaries(ctx, d.Loaded.Key, d.Loaded.Head.Incarnation, c.ReplaceEdits)
	if err != nil {
		return nil, false, err
	}
	c.ReplaceEdits, c.Uploads = replaced, append(c.Uploads, uploads...)
	if err := e.store.Commit(ctx, d.Loaded.Key, c); err != nil {
		return nil, false, err
	}
	e.startForeseen(ctx, d)
	e.prepareSummary(ctx, d)
	result.Compaction.State = d.draftState() // a draft may have been begun
	if len(d.erased.messages) > 0 {
		e.forgetErased(d)
	} else {
		e.keepWarm(d, c, assembly, manifest.Seq)
	}
	return result, true, nil
}

// change is what the build commits.
func (d *deciding) change(r *BuildRequest, report *conversation.Manifest, a *provider.Assembly) (*store.Change, conversation.Manifest, error) {
	w := d.Loaded
	c := &store.Change{Expect: w.Head.Version, Head: txn.NextHead(w.Head, d.now), Edits: d.edits, Slots: map[string][]byte{}}
	moved, err := d.changeFits(c)
	if err != nil {
		return nil, conversation.Manifest{}, err
	}
	if report != nil {
		c.ReplaceManifests = []conversation.Manifest{*report}
		c.Slots[view.UsageSlot(report.Model)], c.Slots[view.UsedSlot] = w.Slots[view.UsageSlot(report.Model)], w.Slots[view.UsedSlot]
	}
	if err := d.spend(c); err != nil {
		return nil, conversation.Manifest{}, err
	}
	for i := range c.Edits {
		c.Edits[i].Commit = c.Head.Version
	}
	d.changeErased(c)
	d.changeAsked(c)
	if err := d.changeReclaims(c); err != nil {
		return nil, conversation.Manifest{}, err
	}
	if err := d.changeDraft(c); err != nil {
		return nil, conversation.Manifest{}, err
	}
	h := &c.Head
	if d.aging {
		h.SeenBefore = h.Seen
	}
	if len(c.Edits) > 0 || moved {
		h.Revision++
	}
	h.EditSeq, h.Turn, h.Seen, h.Start = h.EditSeq+int64(len(c.Edits)), d.turn, h.Messages, d.out.Window.Start
	h.ManifestSeq++
	h.LastManifest[r.Format] = h.ManifestSeq
	h.NextDue = txn.Earliest(h.NextDue, d.now.Add(manifestMemory))
	if h.ManifestSeq%64 == 0 {
		c.DropManifests = h.ManifestSeq - manifestsKept + 1
	}
	m := d.manifest(r, a, h)
	c.Manifest = &m
	txn.Remember(c, r.Request, store.Outcome{Manifest: m.Seq, Revision: h.Revision})
	return c, m, nil
}

// changeFits remembers the window for the budget, and says whether it shows other messages than the last one did.
func (d *deciding) changeFits(c *store.Change) (moved bool, err error) {
	known, err := d.Loaded.BudgetWindows()
	if err != nil {
		return false, err
	}
	before, ok := known.Of(d.settings.budget)
	if !ok {
		before = conversation.WindowFrom(0)
	}
	moved = !d.out.Window.Equal(&before)
	if ok && !moved && known.Last(d.settings.budget) {
		return false, nil
	}
	c.Slots[view.BudgetWindowsSlot] = record.EncodeFits(known.With(d.settings.budget, d.out.Window), d.Loaded.Slots[view.BudgetWindowsSlot])
	return moved, nil
}

// manifest holds the coordinates of the build; head is the one that it commits.
func (d *deciding) manifest(r *BuildRequest, a *provider.Assembly, head *Head) conversation.Manifest {
	return conversation.Manifest{
		Seq: head.ManifestSeq, Turn: d.turn, Format: r.Format, Model: r.Model,
		MessageCount: head.Messages, EditSeq: head.EditSeq, Window: d.out.Window,
		LeadingSystem: d.Kept.LeadingSystem, Pins: d.Kept.Pins,
		Budget: d.settings.budget, Tokens: d.out.Tokens(), FixedTokens: d.fixed, FixedHash: d.Loaded.Fixed.Hash,
		Counter: d.Loaded.Info.Counter, Factor: d.settings.factor, PolicyHash: d.settings.hash,
		RendererVersion: provider.RendererVersion, SHA256: a.Sum(), Time: d.now, Revision: head.Revision, Blocks: int32(len(a.Blocks())),
	}
}

// keepWarm keeps the window for the next build.
func (e *Engine) keepWarm(d *deciding, c *store.Change, a *provider.Assembly, manifest int64) {
	w, cache := d.Loaded, d.Cache()
	w.ApplyCommit(c, d.view)
	cache.Assembly, cache.Manifest, cache.Units = a, manifest, d.out.Used
	if known, err := w.BudgetWindows(); err == nil {
		w.Trim(known.Earliest(d.out.Window.Start), d.needed(d.out.Window))
		e.views.Cache.Put(w)
	}
}

// repeatBuild answers a retry with the first outcome: the manifest rebuilt.
func (e *Engine) repeatBuild(ctx context.Context, w *view.Loaded, o *store.Outcome, r *BuildRequest) (*BuildResult, error) {
	m, err := e.views.Manifest(ctx, w, o.Manifest)
	if err != nil {
		return nil, err
	}
	result, out, err := e.rebuild(ctx, w, m, m.Format)
	if err != nil {
		return nil, err
	}
	later, err := e.weightFrom(ctx, w, m.MessageCount)
	if err != nil {
		return nil, err
	}
	result.renderSystem(e.views.Formats[m.Format], r.Fixed, out)
	result.Revision, result.Duplicate = o.Revision, true
	result.Tokens = TokenReport{
		Fixed: m.FixedTokens, Messages: out.Tokens(), Total: scaled(m.FixedTokens+out.Tokens(), m.Factor),
		Budget: m.Budget, Counter: m.Counter, Factor: m.Factor,
	}
	result.Compaction.Used = result.Tokens.Total
	result.explain(out, m, w.Head.Tokens-later)
	if r.Check != nil {
		return result, r.Check(result)
	}
	return result, nil
}
