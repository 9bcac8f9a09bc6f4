// Package compact makes a view smaller that has outgrown its budget (behaviour §8): summaries take the place of older messages, or the window's
// start moves.
package compact

import (
	"fmt"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/claims"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/drafts"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/pass"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/settings"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/spans"
)

// overTarget is by how much a view may be over the target of a compaction before more is summarized, in percent of the target.
const overTarget = 105

// Compacted is a view after a compaction, or as it was.
type Compacted struct {
	pass.Result
	Important     []spans.ImportantUnit // units that a compaction of this build could have kept in full
	AnswersReport bool                  // the view was made smaller for the last report
}

// Compact makes the view smaller if it has outgrown its budget, or if a summary is ready that costs nothing now. goal is what it aims at.
func Compact(g *pass.Given, d pass.Draft, goal settings.Compaction) (Compacted, error) {
	c := begin(g, d, goal)
	err := c.compactIfFull()
	return c.result(), err
}

// Now summarizes, or moves the window's start, as somebody asks for it: what keepRecent and targetTokens leave out, the policy says. It fails if
// nothing becomes smaller by that.
func Now(g *pass.Given, d pass.Draft, keepRecent, targetTokens *int32) (Compacted, error) {
	goal := g.Settings.Compaction
	target, keep := goal.Target, conversation.ValueOr(keepRecent, goal.Keep)
	if targetTokens != nil {
		target = g.Settings.Unscaled(int64(*targetTokens))
		goal.Within(target)
	}
	if targetTokens != nil || keepRecent != nil {
		goal.Tail = target // what is asked for by name holds as far as the target allows
	}
	c := begin(g, d, goal)
	err := c.now(target, keep)
	return c.result(), err
}

// compacting is a view on its way to become smaller.
type compacting struct {
	*pass.Sketch
	goal          settings.Compaction
	important     []spans.ImportantUnit
	answersReport bool
	wants         *pass.Spans // the work stops for
}

func begin(g *pass.Given, d pass.Draft, goal settings.Compaction) *compacting {
	return &compacting{Sketch: g.Sketch(d), goal: goal}
}

func (d *compacting) result() Compacted {
	out := Compacted{Result: d.Result(), Important: d.important, AnswersReport: d.answersReport}
	if d.wants != nil {
		out.Wants = &pass.Wants{Spans: d.wants}
	}
	return out
}

func (d *compacting) compactIfFull() error {
	if d.goal.Strategy == conversation.StrategySlidingWindow {
		return d.slideIfFull()
	}
	if !summarizes(d.Given) {
		return nil
	}
	why := d.trigger()
	if why == conversation.ReasonUnspecified {
		var err error
		if why, err = coldTrigger(d.Given, d.Composed); err != nil {
			return err
		}
	}
	if why == conversation.ReasonUnspecified || newestCannotFit(d.Given, d.Composed) {
		return nil
	}
	_, err := d.summarizeOlder(why, d.goal.Target, d.goal.Keep)
	return err
}

func (d *compacting) now(target int64, keep int32) error {
	if len(d.Composed.Units) == 0 {
		return nothingToCompact()
	}
	if d.goal.Strategy == conversation.StrategySlidingWindow {
		return d.slide(target, keep)
	}
	done, err := d.summarizeOlder(conversation.ReasonCompactRequest, target, keep)
	if err == nil && !done && d.wants == nil {
		return nothingToCompact()
	}
	return err
}

// planner plans summaries of the view as it is by now.
func (d *compacting) planner() *spans.Planner { return planner(d.Given, d.Draft, d.goal) }

func planner(g *pass.Given, d pass.Draft, goal settings.Compaction) *spans.Planner {
	return &spans.Planner{
		Composed: d.Composed, View: d.View, Loaded: g.Loaded, Kept: g.Kept, Settings: g.Settings, Goal: goal, Fixed: g.Fixed,
		Request: d.Asked.Request, Opening: d.Asked.Opening, Erased: d.Erased, Models: g.Summaries.ModelsOf,
		Expanded: func(index int32) bool { return g.ExpandedRecently(d.View, index) },
	}
}

// summarizeOlder lets summaries take the place of what is older than the newest messages. A draft that stands is published first; what
// it leaves over the target is summarized without a model. It says whether the view has become smaller by enough; if not, the view
// is left as it was.
func (d *compacting) summarizeOlder(why conversation.Reason, target int64, keep int32) (bool, error) {
	was := before{weight: d.Weight(), draft: d.Keep(), important: len(d.important)}
	if dr, err := d.readyDraft(); err != nil {
		return false, err
	} else if dr != nil {
		if err := d.publish(dr, why); err != nil {
			return false, err
		}
	}
	if why == conversation.ReasonCacheCold && (len(d.Edits) > len(was.draft.Edits) || !isColdCut(d.Given, d.Composed)) {
		return d.keepsIfSmaller(was), nil
	}
	if len(d.Edits) == len(was.draft.Edits) || d.Weight() > target*overTarget/100 {
		if err := d.summarizeAnew(why, target, keep); err != nil || d.wants != nil {
			return false, err
		}
	}
	if !d.keepsIfSmaller(was) { // by what the summary replaces alone
		return false, nil
	}
	if why == conversation.ReasonCacheCold { // nothing presses: what was asked stays whole
		return true, nil
	}
	return true, d.cutRequestsToShares(target)
}

// cutRequestsToShares cuts the request and the opening down to their shares of the budget, where the view is over the target that a compaction
// aims at: what stands before the tail changes anyway.
func (d *compacting) cutRequestsToShares(target int64) error {
	if d.Weight() <= target || !pass.Summarizes(d.Edits) {
		return nil
	}
	c, err := claims.OfRequests(d.Given, d.Draft)
	if err != nil {
		return err
	}
	var r compaction.FitResult
	if c.Request != nil {
		r.Request = d.shareOf(c.Request, compaction.RequestShare)
	}
	if c.Opening != nil {
		r.Opening = d.shareOf(c.Opening, compaction.OpeningShare)
	}
	win := d.Composed.Window
	win.Restored = d.Given.LastLapsed(d.View, win.Restored)
	if err := c.Cut(&win, &r); err != nil {
		return err
	}
	return d.MoveWindow(win)
}

// shareOf is what a compaction leaves of the request or the opening: its share of the budget, or all of it if it was brought back lately.
func (d *compacting) shareOf(c *compaction.Claim, divisor int64) int64 {
	if d.Given.IsProtected(d.View, &d.Composed.Window, c.First) {
		return c.Whole
	}
	return max(d.Given.Settings.Limit/divisor, c.Least)
}

// summarizeAnew plans anew and publishes what was written for the Plan: by a model, if the build may wait for one, or else as an
// extract.
func (d *compacting) summarizeAnew(why conversation.Reason, target int64, keep int32) error {
	p, err := d.planner().Plan(d.planner().TailRoom(target, 0), keep)
	if err != nil || p == nil {
		return err
	}
	if dr := d.Given.Allowance.Draft; dr != nil && planStands(d.Draft, &dr.Plan, d.Given.Loaded.Edits...) && extendsPublished(d.View, d.Given.Loaded.Head.EditSeq, &dr.Plan) {
		d.Notes.Degradations = append(d.Notes.Degradations, d.Given.Allowance.Degradations...)
		return d.publish(dr, why)
	}
	if d.Given.Allowance.Rounds >= maxRounds {
		return nil // the conversation moves faster than it can be summarized: the window's start moves instead
	}
	w, err := summaryJob(d.Given, d.Composed, d.planner(), p, d.planner().SummaryRoom(p, target))
	if err != nil {
		return err
	}
	if why == conversation.ReasonCacheCold && !d.coldCutPays(w) {
		return nil
	}
	known := &d.Given.Allowance // nobody holds the conversation while summaries are written
	d.wants = &pass.Spans{Job: w, StoredDraft: d.Given.Loaded.Slots[drafts.Slot], Degradations: known.Degradations, NotLive: known.NotLive}
	if !pass.Summarizes(d.Edits) {
		d.askForSummaries()
	}
	return nil
}

// askForSummaries says whether a model is to write the summaries that are wanted, and what of it is less than was asked for.
func (d *compacting) askForSummaries() {
	w := d.wants.Job
	if w.Live == nil && !d.Given.Summaries.CanAsk(&w.Prompt) {
		d.wants.NotLive = drafts.NotLive(w)
		return
	}
	may, why := d.mayWait(w)
	switch {
	case may:
		d.wants.AskModel, d.wants.NotLive = true, drafts.NotLive(w)
	case !d.Given.Allowance.ModelTried:
		d.wants.Degradations = []conversation.Degradation{drafts.Degraded(&w.Plan, why)}
	}
}

// extendsPublished says whether a plan was made behind what this build has published: it takes up what of that lies in its ranges. A draft
// may have become ready, and been published, after the plan was made.
func extendsPublished(v *conversation.View, before int64, p *drafts.Plan) bool {
	return !slices.ContainsFunc(v.Summaries(), func(e conversation.Edit) bool {
		overlaps := func(s drafts.Step) bool { return s.Range.Overlaps(e.Range) }
		takesUp := func(s drafts.Step) bool { return slices.Contains(s.Children, e.Summary.ID) }
		return e.Seq > before && slices.ContainsFunc(p.Steps, overlaps) && !slices.ContainsFunc(p.Steps, takesUp)
	})
}

// maxRounds is how often a build has summaries written.
const maxRounds = 4

// mayWait says whether the build can wait for a model to do the work, and if not, why.
func (d *compacting) mayWait(w *drafts.Job) (may bool, why string) {
	switch r, _, _ := drafts.Of(d.Given.Loaded); {
	case d.Given.DryRun:
		return false, "a dry run asks no model"
	case r.State == drafts.Failed && d.Given.Now.Before(r.Until):
		return false, r.Reason
	case d.Given.Allowance.Left <= 0 || d.Given.Allowance.ModelTried || w.ModelCalls() > d.Given.Allowance.Calls:
		return false, pass.ErrNotReady.Error()
	default:
		return true, ""
	}
}

// before is what a compaction had before it tried something.
type before struct {
	weight    int64 // of the view, with what is always sent
	draft     pass.Draft
	important int // units that were noted as important
}

// keepsIfSmaller keeps what was done since if it was worth it, and goes back otherwise.
func (d *compacting) keepsIfSmaller(was before) bool {
	if len(d.Edits) > len(was.draft.Edits) && compaction.Shrinks(was.weight, d.Weight(), d.goal.Shrink) {
		return true
	}
	d.important = d.important[:was.important]
	for _, e := range d.GoBack(was.draft) {
		d.Notes.Degradations = append(d.Notes.Degradations, conversation.Degradation{
			Asked:  fmt.Sprintf("a summary of messages %d-%d", e.Range.First, e.Range.End-1),
			Reason: "it would not have made the view smaller by enough", Done: "the window's start moves instead, if the view is over its budget",
		})
		d.Notes.Events = append(d.Notes.Events, conversation.Event{
			Type: conversation.EventCompactionFailed, Turn: d.Given.Turn, Index: e.Range.First, Last: e.Range.End - 1, Reason: e.Reason,
		})
	}
	return false
}

func nothingToCompact() error {
	return conversation.Errorf(conversation.NothingToCompact, "nothing lies between the last summary and the newest messages that would make the view smaller by enough")
}
