// Package plan decides what a build does: which edits it makes, where its window starts, and what it commits. It is pure, and a list of passes:
// each is a function from what the build is given, and from the draft so far, to a result, which the driver here brings into the draft. Where the
// view lacks something, the plan ends with view.ErrMissing; where it would wait for a model or for the memory, with *pass.WaitError. Whoever runs the
// plan gets that, and runs it anew.
package plan

import (
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/claims"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/compact"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/deduplicate"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/drafts"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/erase"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/erasures"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/expire"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/fit"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/legal"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/pass"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/pruning"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/recall"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/report"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/retain"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/usage"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/window"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

// step is a pass as the driver runs it.
type step struct {
	name string
	run  func(*Decided) error
}

// building are the passes of a build, in order. docs/architecture.md prints them, with what each is given and gives.
var building = []step{
	{"window", func(d *Decided) error { return d.take(window.LayOut(d.Given, d.opened)) }},
	{"legal", func(d *Decided) error { return legal.Check(d.Given, d.Composed) }},
	{"recall ask", func(d *Decided) (err error) {
		d.recalled, err = recall.Ask(d.Given, d.Draft)
		return d.take(d.recalled.Result, err)
	}},
	{"usage", func(d *Decided) error {
		d.known = usage.Usage(d.Given, d.Draft)
		return d.take(d.known.Result, nil)
	}},
	{"retain", func(d *Decided) error { return d.take(retain.Retain(d.Given, d.Draft, d.opened.Start.Start), nil) }},
	{"expire", func(d *Decided) (err error) {
		d.expired, err = expire.Expire(d.Given, d.Draft)
		return d.take(d.expired.Result, err)
	}},
	{"legal after expiry", func(d *Decided) error { return legal.Check(d.Given, d.Composed) }}, // all that was said may have been a plugin's, for the first build alone
	{"reclaim", func(d *Decided) (err error) {
		d.pruned, err = pruning.Reclaim(d.Given, d.Draft)
		return d.take(d.pruned.Result, err)
	}},
	{"prune", func(d *Decided) (err error) {
		d.pruned, err = pruning.Prune(d.Given, d.Draft, d.pruned.Reclaims)
		return d.take(d.pruned.Result, err)
	}},
	{"deduplicate", func(d *Decided) error { return d.take(deduplicate.LeaveOut(d.Given, d.Draft)) }},
	{"clip", func(d *Decided) error { return d.take(fit.Clip(d.Given, d.Draft)) }},
	{"uncut", func(d *Decided) error { return d.take(fit.Uncut(d.Given, d.Draft, d.opened.Inherited)) }},
	{"compact", func(d *Decided) (err error) {
		d.compacted, err = compact.Compact(d.Given, d.Draft, d.known.Compaction)
		return d.take(d.compacted.Result, err)
	}},
	{"fit", func(d *Decided) (err error) {
		d.fitted, err = fit.Fit(d.Given, d.Draft)
		return d.take(d.fitted.Result, err)
	}},
	{"recall put", func(d *Decided) error { return d.take(recall.Put(d.Given, d.Draft, d.recalled)) }},
	{"return", func(d *Decided) error { return d.take(deduplicate.Return(d.Given, d.Draft)) }},
	{"erase", func(d *Decided) error { return d.take(erase.Erase(d.Given, d.Draft)) }},
}

// Decided is what a plan decides: the draft, and what passes gave beside it.
type Decided struct {
	Given *pass.Given
	pass.Draft
	opened    window.Opened
	recalled  recall.Answer
	known     usage.Known
	expired   expire.Expired
	pruned    pruning.Pruned
	compacted compact.Compacted
	fitted    fit.Fitted
	// Passes say what each pass did, if somebody wants to know.
	Passes []report.Pass
}

// Decide lets go what is past its time, clips results that are too large for their budget, and fits the view into it.
func Decide(g *pass.Given) (*Decided, error) {
	d, err := open(g)
	if err == nil {
		err = d.follow(building)
	}
	return d, err
}

// open begins a plan with the window in force.
func open(g *pass.Given) (*Decided, error) {
	opened, err := window.Open(g)
	return &Decided{Given: g, opened: opened, Draft: pass.Draft{View: g.Loaded.View, Asked: opened.Asked, Erased: erasures.New(g.Loaded)}}, err
}

// follow runs passes, each on what those before it have left.
func (d *Decided) follow(steps []step) error {
	for _, s := range steps {
		if err := d.observe(s); err != nil {
			return err
		}
	}
	return nil
}

// observe runs a pass, and notes what it did if that is wanted.
func (d *Decided) observe(s step) error {
	clock := d.Given.Clock
	if clock == nil {
		return s.run(d)
	}
	began, before := clock(), d.Draft
	err := s.run(d)
	p := report.Pass{Name: s.name, Took: clock().Sub(began), Edits: len(d.Edits) - len(before.Edits), Notes: d.Notes.Len() - before.Notes.Len()}
	if d.Composed != nil {
		p.Tokens, p.Start = d.Given.Weight(d.Composed), d.Composed.Window.Start
	}
	d.Passes = append(d.Passes, p)
	return err
}

// take brings the result of a pass into the draft. It is the one place that writes it.
func (d *Decided) take(r pass.Result, err error) error {
	switch {
	case err != nil:
		return err
	case r.Wants != nil:
		return &pass.WaitError{Wants: r.Wants}
	}
	d.Draft = d.With(&r)
	return nil
}

// CompactNow makes the view smaller, as somebody asks for it. It says by how many tokens.
func CompactNow(g *pass.Given, r *CompactRequest) (d *Decided, saved int64, err error) {
	if d, err = open(g); err != nil {
		return nil, 0, err
	}
	out, err := g.Compose(d.View, d.opened.Start)
	if err = d.take(pass.Result{Composed: out}, err); err != nil {
		return nil, 0, err
	}
	d.compacted, err = compact.Now(g, d.Draft, r.KeepRecent, r.TargetTokens)
	err = d.take(d.compacted.Result, err)
	return d, g.Weight(out) - g.Weight(d.Composed), err
}

// Restore shows what edits bring back, as the last build was, with nothing new. The claims on the budget are nil if all of it fits.
func Restore(g *pass.Given, edits []conversation.Edit) (*Decided, *claims.Claims, error) {
	d, err := open(g)
	if err != nil {
		return nil, nil, err
	}
	v := d.View.Fold(edits)
	out, err := g.Compose(v, d.Asked.Complete(g, v, d.opened.Start))
	if err = d.take(pass.Result{View: v, Composed: out, Edits: edits}, err); err != nil || g.OverLimit(out) <= 0 {
		return d, nil, err
	}
	c, err := claims.Describe(g, d.Draft, g.Settings.Limit, true)
	if err != nil {
		return d, nil, err
	}
	d.fitted, err = fit.Fit(g, d.Draft)
	return d, c, d.take(d.fitted.Result, err)
}

// NextSummary is the work for the summary that the view will need when it overflows; nil if it is not near to that. The build is committed.
func (d *Decided) NextSummary() (*drafts.Job, error) {
	draft := d.Draft
	draft.View = d.Given.Loaded.View.Fold(d.Edits) // with the edits of what was loaded meanwhile
	return compact.Next(d.Given, draft, d.known.Compaction)
}

// UpcomingRequests asks for the summaries that later builds will want.
func (d *Decided) UpcomingRequests() []*summarize.Request { return d.expired.Requests(d.Given) }

// Opened is where the window began before the build.
func (d *Decided) Opened() int32 { return d.opened.Start.Start }
