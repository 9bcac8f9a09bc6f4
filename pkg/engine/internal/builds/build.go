package builds

import (
	"context"
	"errors"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/contents"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/pass"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/report"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
)

// Build begins the next turn, unless the request says otherwise, and answers what the model should see now. A refused build
// begins nothing and commits nothing.
func (b *Service) Build(ctx context.Context, r plan.Request) (*report.Result, error) {
	return b.run(ctx, &r, &waits{around: r.Waiting}, b.attemptBuild)
}

// run makes attempts at a build until one is committed, or refused.
func (b *Service) run(ctx context.Context, r *plan.Request, w *waits, attempt attempt) (*report.Result, error) {
	if r.Format == conversation.FormatUnspecified {
		r.Format = conversation.FormatNeutral
	}
	for {
		result, err := txn.Decide(ctx, b.Txn, r.Key, func() (*report.Result, error) { return attempt(ctx, r, w) })
		again, err := b.retryAfterWait(ctx, r.Key, w, err)
		if again {
			continue
		}
		if err == nil {
			b.Observer.built(r, result, w.waited)
		}
		return result, err
	}
}

// attempt is one try of a build.
type attempt func(context.Context, *plan.Request, *waits) (*report.Result, error)

// retryAfterWait says whether there is to be another attempt, once what the last one lacked is there. Nobody is kept from the conversation meanwhile.
func (b *Service) retryAfterWait(ctx context.Context, key store.Key, w *waits, err error) (bool, error) {
	switch wanted := pass.Wanted(err); {
	case wanted != nil:
		ctx, end := b.Observer.step(ctx, StepWait)
		defer end()
		began := time.Now()
		err = b.waiter.waitFor(ctx, key, wanted, w)
		w.waited += time.Since(began)
		return err == nil, err
	case errors.Is(err, contents.ErrOverdue):
		err = b.Contents.ExpireOverdue(ctx, key)
		return err == nil, err
	default:
		return false, err
	}
}

func (b *Service) attemptBuild(ctx context.Context, r *plan.Request, wait *waits) (*report.Result, error) {
	w, snap, err := b.load(ctx, r)
	if err != nil {
		return nil, err
	}
	result, committed, err := b.buildIn(ctx, w, snap, r, wait)
	if !committed && !errors.Is(err, store.ErrConflict) {
		b.Views.Release(w)
	}
	return result, err
}

// load opens the window of a build.
func (b *Service) load(ctx context.Context, r *plan.Request) (*view.Loaded, *store.Snapshot, error) {
	ctx, end := b.Observer.step(ctx, StepLoad)
	defer end()
	w, snap, err := b.Views.Open(ctx, r.Key, r.Request)
	if err != nil {
		return nil, nil, err
	}
	return w, snap, b.requireSettled(ctx, w)
}

// buildIn builds in a window; committed says whether the window has moved on with it.
func (b *Service) buildIn(ctx context.Context, w *view.Loaded, snap *store.Snapshot, r *plan.Request, wait *waits) (result *report.Result, committed bool, err error) {
	first, err := b.Txn.Recall(snap, r.Request)
	if err != nil {
		return nil, false, err
	}
	if first != nil {
		result, err = b.repeatBuild(ctx, w, first, r)
		return result, false, err
	}
	return b.buildOn(ctx, &ground{stored: &w.Head, window: w}, r, wait)
}

// ground is what a build is decided on.
type ground struct {
	stored *store.Head   // as it is on record
	window *view.Loaded  // with what is appended
	first  *store.Change // that appends it; nil for nothing
	// appended, if set, adds to an answer what is appended.
	appended func(*report.Result)
}

func (b *Service) buildOn(ctx context.Context, g *ground, r *plan.Request, wait *waits) (result *report.Result, committed bool, err error) {
	d, reported, err := b.decide(ctx, g.window, r, wait)
	if err != nil {
		return nil, false, err
	}
	return b.finish(ctx, g, d, r, reported)
}

// decide has a plan made, with what it lacks loaded on the way. reported is the manifest that last_usage counted for, nil for none.
func (b *Service) decide(ctx context.Context, w *view.Loaded, r *plan.Request, wait *waits) (d *plan.Decided, reported *conversation.Manifest, err error) {
	ctx, end := b.Observer.step(ctx, StepPlan)
	defer end()
	given, reported, err := b.prepare(ctx, w, r)
	if err != nil {
		return nil, nil, err
	}
	given.Allowance = wait.allowance(given.Settings.MaxWait)
	err = b.Views.RunPlan(ctx, w, func() (err error) {
		d, err = plan.Decide(given)
		return err
	})
	return d, reported, err
}

// prepare gets everything together that a build is decided on. reported is the manifest that last_usage counted for, nil for none.
func (b *Service) prepare(ctx context.Context, w *view.Loaded, r *plan.Request) (g *pass.Given, reported *conversation.Manifest, err error) {
	if _, err := plan.NextTurn(w.Head.Turn, r); err != nil { // before anything is learned from a report
		return nil, nil, err
	}
	in, err := b.input(w, r)
	if err != nil {
		return nil, nil, err
	}
	if in.Known, err = b.Catalogues.Read(ctx, w.Key.Namespace); err != nil {
		return nil, nil, err
	}
	if reported, err = b.lastUsage(ctx, w, r); err != nil {
		return nil, nil, err
	}
	if g, err = plan.New(in); err != nil {
		return nil, nil, err
	}
	g.Previous, err = b.Views.Previous(ctx, g.Composer)
	return g, reported, err
}

// input is what needs no reading of what a build is decided on.
func (b *Service) input(w *view.Loaded, r *plan.Request) (in *plan.Input, err error) {
	in = &plan.Input{
		Request: r, View: w, Defaults: b.Defaults, Summaries: b.Summaries, Now: b.Txn.Now(), Recalls: b.Memories.Enabled(), RecallTools: b.RecallTools,
	}
	if r.Passes || b.Observer.Passes != nil {
		in.Clock = time.Now
	}
	if in.Format, err = b.Views.Format(r.Format); err != nil {
		return nil, err
	}
	in.Counter, err = b.Views.Counter(w.Info.Counter)
	return in, err
}

// lastUsage learns from what the provider reported for the previous build, or for the one that an answer since was reported with.
func (b *Service) lastUsage(ctx context.Context, w *view.Loaded, r *plan.Request) (*conversation.Manifest, error) {
	of, u, err := w.Slots.KeptUsage()
	if err != nil {
		return nil, err
	}
	if r.LastUsage != nil {
		of, u = w.Head.ManifestSeq, *r.LastUsage
	}
	if of == 0 {
		return nil, nil
	}
	m, err := b.Views.Manifest(ctx, w, of)
	if err != nil {
		return nil, view.IgnoreKind(err, conversation.ManifestNotFound)
	}
	profile, err := b.Catalogues.Profile(ctx, w.Key.Namespace, m.Model)
	if err != nil {
		return nil, err
	}
	counted, err := w.ObserveUsage(m, m.Model, u, profile)
	if err != nil || !counted {
		return nil, err
	}
	return m, nil
}

// finish makes the answer, lets the caller check it, and commits it.
func (b *Service) finish(ctx context.Context, g *ground, d *plan.Decided, r *plan.Request, reported *conversation.Manifest) (result *report.Result, committed bool, err error) {
	assembly := d.Given.Cache().Assembly.With(d.Composed.Blocks)
	c, manifest, err := d.Change(r, reported, assembly)
	if err != nil {
		return nil, false, err
	}
	result = d.Result(assembly, manifest, r.ByPlace)
	if b.Observer.Passes != nil {
		b.Observer.Passes(r.Key.Namespace, d.Passes)
	}
	if r.Passes {
		result.Passes = d.Passes
	}
	if result.Compaction.OwnCalls, err = b.ownModelUsage(ctx, d.Given.Loaded.Key); err != nil {
		return nil, false, err
	}
	result.Prefix = d.Prefix(d.Given.Previous, &manifest)
	d.Finish(result, assembly)
	if result.ByPlace {
		if result.Shown, err = d.Given.Shown(d.Composed); err != nil {
			return nil, false, err
		}
	}
	if r.DryRun {
		result.Manifest.Seq, result.Revision = 0, g.stored.Revision
	}
	if g.appended != nil {
		g.appended(result)
	}
	if r.Check != nil {
		if err := r.Check(result); err != nil {
			return nil, false, err
		}
	}
	if r.DryRun {
		return result, false, nil
	}
	if err := b.commit(ctx, g, d, c); err != nil {
		if errors.Is(err, store.ErrOutcomeUnknown) { // it may stand
			b.forgetErased(d)
		}
		return nil, false, err
	}
	b.startUpcoming(ctx, d)
	result.Compaction.State = d.DraftState(b.prepareSummary(ctx, d, result))
	if len(d.Erased.Messages) > 0 {
		b.forgetErased(d)
	} else {
		b.keepWarm(d, c, assembly, manifest.Seq)
	}
	return result, true, nil
}

// commit stages the texts of summaries and commits, together with what is appended.
func (b *Service) commit(ctx context.Context, g *ground, d *plan.Decided, c *store.Change) (err error) {
	ctx, end := b.Observer.step(ctx, StepCommit)
	defer end()
	if c.Edits, c.Uploads, err = b.Blobs.StageSummaries(ctx, d.Given.Loaded.Key, d.Given.Loaded.Head.Incarnation, c.Edits); err != nil {
		return err
	}
	replaced, uploads, err := b.Blobs.StageSummaries(ctx, d.Given.Loaded.Key, d.Given.Loaded.Head.Incarnation, c.ReplaceEdits)
	if err != nil {
		return err
	}
	c.ReplaceEdits, c.Uploads = replaced, append(c.Uploads, uploads...)
	b.Memories.NoteEdits(&c.Head, c.Edits)
	whole := c
	if g.first != nil {
		whole = joined(g.first, c)
	}
	err = b.Txn.Commit(ctx, d.Given.Loaded.Key, g.stored, whole)
	if txn.MayStand(err) {
		b.Memories.Edited(d.Given.Loaded.Key, c.Edits)
	}
	return err
}

// keepWarm keeps the window for the next build.
func (b *Service) keepWarm(d *plan.Decided, c *store.Change, a *provider.Assembly, manifest int64) {
	w, cache := d.Given.Loaded, d.Given.Cache()
	w.ApplyCommit(c, d.View)
	cache.Assembly, cache.Manifest, cache.Units = a, manifest, d.Composed.Used
	if known, err := w.Slots.BudgetWindows(); err == nil {
		w.Trim(known.Earliest(d.Composed.Window.Start), d.Given.NeededRanges(d.Composed.Window))
		b.Views.Cache.Put(w)
	}
}

// repeatBuild answers a retry with the first outcome: the manifest rebuilt.
func (b *Service) repeatBuild(ctx context.Context, w *view.Loaded, o *store.Outcome, r *plan.Request) (*report.Result, error) {
	m, err := b.Views.Manifest(ctx, w, o.Manifest)
	if err != nil {
		return nil, err
	}
	result, out, err := rebuild(ctx, b.Views, w, m, m.Format)
	if err != nil {
		return nil, err
	}
	later, err := weightFrom(ctx, b.Store, w, m.MessageCount)
	if err != nil {
		return nil, err
	}
	in, err := b.input(w, r)
	if err != nil {
		return nil, err
	}
	if result.ByPlace = r.ByPlace; r.ByPlace {
		c := view.NewComposer(w, conversation.Kept{LeadingSystem: m.LeadingSystem}, in.Format, m.Model, in.Counter)
		if result.Shown, err = c.Shown(out); err != nil {
			return nil, err
		}
		result.MessagesJSON = nil
	}
	if err := plan.FinishRepeated(in, result, out); err != nil {
		return nil, err
	}
	result.Revision, result.Duplicate = o.Revision, true
	result.Tokens = report.Tokens{
		Fixed: m.FixedTokens, Messages: out.Tokens(), Total: int64(tokens.Scale(int(m.FixedTokens+out.Tokens()), m.Factor)),
		Budget: m.Budget, Counter: m.Counter, Factor: m.Factor,
	}
	result.Compaction.Used = result.Tokens.Total
	result.Explain(out, m, w.Head.Tokens-later)
	if r.Check != nil {
		return result, r.Check(result)
	}
	return result, nil
}

// requireSettled gives a window back if contents of its conversation are overdue: what it holds may be about to go.
func (b *Service) requireSettled(ctx context.Context, w *view.Loaded) error {
	due, err := b.Contents.Overdue(ctx, w.Key, &w.Head)
	if err == nil && due {
		err = contents.ErrOverdue
	}
	if err != nil {
		b.Views.Release(w)
	}
	return err
}

// forgetErased makes everybody forget what a build has erased: the window, which is not kept warm, who summarizes, and who searches.
func (b *Service) forgetErased(d *plan.Decided) {
	for _, handle := range d.Erased.Contents {
		if n, ok := contents.NumberOf(handle); ok {
			b.Contents.Cache.Drop(d.Given.Loaded.Head.Incarnation, n)
		}
	}
	for index := range d.Erased.Messages {
		b.Contents.Cache.DropMessage(d.Given.Loaded.Head.Incarnation, index)
	}
	scope := summarize.Scope{Namespace: d.Given.Loaded.Key.Namespace, Conversation: d.Given.Loaded.Key.Conversation}
	for _, hash := range d.Erased.Hashes {
		b.Summaries.Forget(scope, hash)
	}
	for index := range d.Erased.Messages { // of all the words that it had, only the last are known by their hash
		if _, corrected := d.Given.Loaded.Originals[index]; corrected {
			b.Summaries.ForgetConversation(scope)
			return
		}
	}
	b.Summaries.ForgetSpans(scope)
}
