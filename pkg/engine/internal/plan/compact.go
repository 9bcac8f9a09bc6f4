package plan

import (
	"fmt"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/drafts"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/spans"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
)

// overTarget is by how much a view may be over the target of a compaction before more is summarized, in percent of the target.
const overTarget = 105

// compactIfFull makes the view smaller if it has outgrown its budget, or if a summary is ready that costs nothing now.
func (d compacting) compactIfFull() error {
	if d.Settings.Compaction.Strategy == conversation.StrategySlidingWindow {
		return d.slideIfFull()
	}
	if !d.summarizes() {
		return nil
	}
	why := d.trigger()
	if why == conversation.ReasonUnspecified {
		var err error
		if why, err = d.coldTrigger(); err != nil {
			return err
		}
	}
	if why == conversation.ReasonUnspecified || d.newestCannotFit() {
		return nil
	}
	_, err := d.summarizeOlder(why, d.Settings.Compaction.Target, d.Settings.Compaction.Keep)
	return err
}

// spans plans summaries of the view as it is by now.
func (d compacting) spans() *spans.Planner {
	return &spans.Planner{
		Composed: d.Composed, View: d.View, Loaded: d.Loaded, Kept: d.Kept, Settings: d.Settings, Fixed: d.Fixed, Request: d.request, Opening: d.opening,
		Expanded: d.expandedRecently, Erased: d.Erased, Models: d.Summaries.ModelsOf,
	}
}

// summarizes says whether this build may make summaries.
func (d compacting) summarizes() bool {
	return d.Settings.Own && d.Settings.Compaction.Strategy != conversation.StrategySlidingWindow
}

// trigger says why the view is to become smaller; unspecified if it is not.
func (d compacting) trigger() conversation.Reason {
	c := &d.Settings.Compaction
	used, _ := d.UsedTokens()
	switch {
	case d.Settings.Scaled(d.Fixed+d.Composed.Tokens()) > d.Settings.Budget:
		return conversation.ReasonOverflow
	case used > d.Settings.Budget && !d.reporting().reportAnswered():
		d.answersReport = true
		return conversation.ReasonOverflow
	case c.Threshold > 0 && d.sinceSummary() > c.Threshold:
		return conversation.ReasonMessageThreshold
	default:
		return conversation.ReasonUnspecified
	}
}

// sinceSummary counts the messages of the tail since the last summary.
func (d compacting) sinceSummary() int32 {
	n, done := int32(0), d.View.SummarizedTo()
	for i := range d.Composed.Units[d.Composed.Tail:] {
		if u := &d.Composed.Units[d.Composed.Tail+i]; u.First() >= done {
			n += int32(len(u.Items))
		}
	}
	return n
}

// newestCannotFit says whether not even the newest unit has room beside what is always sent. Clipping it may help, and a summary does not:
// no model is asked for one, as the build may well be refused.
func (d compacting) newestCannotFit() bool {
	least, newest := d.Fixed, d.Composed.Newest()
	for i := range d.Composed.Units {
		u := &d.Composed.Units[i]
		if i == newest || u.Summary == nil && d.Kept.Has(u.First()) {
			least += d.Composed.Weights[i]
		}
	}
	return least > d.Settings.Limit
}

// summarizeOlder lets summaries take the place of what is older than the newest messages. A draft that stands is published first; what
// it leaves over the target is summarized without a model. It says whether the view has become smaller by enough; if not, the view
// is left as it was.
func (d compacting) summarizeOlder(why conversation.Reason, target int64, keep int32) (bool, error) {
	before, saved := d.Fixed+d.Composed.Tokens(), d.checkpoint()
	if dr, err := d.readyDraft(); err != nil {
		return false, err
	} else if dr != nil {
		if err := d.publish(dr, why); err != nil {
			return false, err
		}
	}
	if why == conversation.ReasonCacheCold && (len(d.Edits) > saved.edits || !d.isColdCut()) {
		return d.keepIfSmaller(before, saved), nil
	}
	if len(d.Edits) == saved.edits || d.Fixed+d.Composed.Tokens() > target*overTarget/100 {
		if err := d.summarizeAnew(why, target, keep); err != nil {
			return false, err
		}
	}
	if !d.keepIfSmaller(before, saved) { // by what the summary replaces alone
		return false, nil
	}
	if why == conversation.ReasonCacheCold { // nothing presses: what was asked stays whole
		return true, nil
	}
	return true, d.cutRequestsToShares(target)
}

// cutRequestsToShares cuts the request and the opening down to their shares of the budget, where the view is over the target that a compaction
// aims at: what stands before the tail changes anyway.
func (d compacting) cutRequestsToShares(target int64) error {
	if d.Fixed+d.Composed.Tokens() <= target || !d.hasPublished() {
		return nil
	}
	c, win := &Claims{}, d.Composed.Window
	c.Newest.First, win.Restored = win.Start, d.fitting().lastLapsed(win.Restored)
	if err := d.fitting().addRequests(c); err != nil {
		return err
	}
	var r compaction.FitResult
	if c.Request != nil {
		r.Request = d.shareOf(c.Request, compaction.RequestShare)
	}
	if c.Opening != nil {
		r.Opening = d.shareOf(c.Opening, compaction.OpeningShare)
	}
	if err := d.fitting().cutToGrants(&win, c, &r); err != nil {
		return err
	}
	return d.moveWindow(win)
}

// shareOf is what a compaction leaves of the request or the opening: its share of the budget, or all of it if it was brought back lately.
func (d compacting) shareOf(c *compaction.Claim, divisor int64) int64 {
	if d.fitting().isProtected(c.First) {
		return c.Whole
	}
	return max(d.Settings.Limit/divisor, c.Least)
}

// summarizeAnew plans anew and publishes what was written for the Plan: by a model, if the build may wait for one, or else as an
// extract.
func (d compacting) summarizeAnew(why conversation.Reason, target int64, keep int32) error {
	p, err := d.spans().Plan(d.spans().TailRoom(target, 0), keep)
	if err != nil || p == nil {
		return err
	}
	if dr := d.Waits.Draft; dr != nil && d.planStands(&dr.Plan, d.Loaded.Edits...) && d.extendsPublished(&dr.Plan) {
		d.Degradations = append(d.Degradations, d.Waits.Degradations...)
		return d.publish(dr, why)
	}
	if d.Waits.rounds >= maxRounds {
		return nil // the conversation moves faster than it can be summarized: the window's start moves instead
	}
	w, err := d.summaryJob(p, d.spans().SummaryRoom(p, target))
	if err != nil {
		return err
	}
	if why == conversation.ReasonCacheCold && !d.coldCutPays(w) {
		return nil
	}
	d.Waits.rounds++
	d.Waits.Job, d.Waits.StoredDraft, d.Waits.AskModel = w, d.Loaded.Slots[drafts.Slot], false
	if !d.hasPublished() {
		d.askForSummaries(w)
	}
	return ErrWait // nobody holds the conversation while summaries are written
}

// askForSummaries notes whether a model is to write the summaries of a job, and what of it is less than was asked for.
func (d compacting) askForSummaries(w *drafts.Job) {
	if w.Live == nil && !d.Summaries.CanAsk(&w.Prompt) {
		d.Waits.notLive = drafts.NotLive(w)
		return
	}
	var why string
	if d.Waits.AskModel, why = d.mayWait(w); d.Waits.AskModel {
		d.Waits.notLive = drafts.NotLive(w)
	} else if !d.Waits.ModelTried {
		d.Waits.Degradations = []conversation.Degradation{drafts.Degraded(&w.Plan, why)}
	}
}

// extendsPublished says whether a plan was made behind what this build has published: it takes up what of that lies in its ranges. A draft
// may have become ready, and been published, after the plan was made.
func (d compacting) extendsPublished(p *drafts.Plan) bool {
	return !slices.ContainsFunc(d.View.Summaries(), func(e conversation.Edit) bool {
		overlaps := func(s drafts.Step) bool { return s.Range.Overlaps(e.Range) }
		takesUp := func(s drafts.Step) bool { return slices.Contains(s.Children, e.Summary.ID) }
		return e.Seq > d.Loaded.Head.EditSeq && slices.ContainsFunc(p.Steps, overlaps) && !slices.ContainsFunc(p.Steps, takesUp)
	})
}

// maxRounds is how often a build has summaries written.
const maxRounds = 4

// mayWait says whether the build can wait for a model to do the work, and if not, why.
func (d compacting) mayWait(w *drafts.Job) (may bool, why string) {
	switch r, _, _ := drafts.Of(d.Loaded); {
	case d.DryRun:
		return false, "a dry run asks no model"
	case r.State == drafts.Failed && d.Now.Before(r.Until):
		return false, r.Reason
	case d.Waits.Left <= 0 || d.Waits.ModelTried || w.ModelCalls() > d.Waits.Calls:
		return false, ErrNotReady.Error()
	default:
		return true, ""
	}
}

// checkpoint is the state of a decision, to come back to.
type checkpoint struct {
	view      *conversation.View
	out       *view.Composition
	edits     int
	important int
}

func (d compacting) checkpoint() checkpoint {
	d.extendable = nil
	return checkpoint{view: d.View, out: d.Composed, edits: len(d.Edits), important: len(d.important)}
}

// keepIfSmaller keeps what was done since if it was worth it, and goes back otherwise.
func (d compacting) keepIfSmaller(before int64, s checkpoint) bool {
	if len(d.Edits) > s.edits && d.shrankEnough(before) {
		return true
	}
	for _, e := range d.Edits[s.edits:] {
		d.Degradations = append(d.Degradations, conversation.Degradation{
			Asked:  fmt.Sprintf("a summary of messages %d-%d", e.Range.First, e.Range.End-1),
			Reason: "it would not have made the view smaller by enough", Done: "the window's start moves instead, if the view is over its budget",
		})
		d.failures = append(d.failures, conversation.Event{
			Type: conversation.EventCompactionFailed, Turn: d.Turn, Index: e.Range.First, Last: e.Range.End - 1, Reason: e.Reason,
		})
	}
	d.Edits, d.View, d.Composed, d.important = d.Edits[:s.edits], s.view, s.out, d.important[:s.important]
	return false
}

// shrankEnough says whether the view has become smaller by enough for a summary to be worth its loss.
func (d compacting) shrankEnough(before int64) bool {
	return compaction.Shrinks(before, d.Fixed+d.Composed.Tokens(), d.Settings.Compaction.Shrink)
}

// NextSummary is the work for the summary that the view will need when it overflows; nil if it is not near to that.
func (d *Attempt) NextSummary() (*drafts.Job, error) {
	used, _ := d.UsedTokens()
	c, spans := &d.Settings.Compaction, d.compacting().spans()
	r, _, err := drafts.Of(d.Loaded)
	if err != nil || !d.compacting().summarizes() || used < c.Prepare || used > d.Settings.Budget || r.Pending(d.Now) {
		return nil, err
	}
	prompt := spans.Prompt()
	_, live := d.Summaries.CanAskLive(d.Format.Format(), d.Model)
	if live = live && conversation.ValueOr(d.Settings.Policy.Compaction.LivePrefix, false); !live && !d.Summaries.CanAsk(&prompt) {
		return nil, nil
	}
	growth := d.Settings.Unscaled(d.Settings.Budget - used)
	p, err := spans.Plan(spans.TailRoom(c.Target, growth), c.Keep)
	if err != nil || p == nil {
		return nil, err
	}
	p.EditSeq += int64(len(d.Edits)) // which are committed by now
	w, err := d.compacting().summaryJob(p, spans.SummaryRoom(p, c.Target-growth))
	if err == nil && w.Live == nil && !d.Summaries.CanAsk(&prompt) {
		return nil, nil
	}
	return w, err
}

// CompactNow summarizes, or moves the window's start.
func (d *Attempt) CompactNow(r *CompactRequest) error {
	c := &d.Settings.Compaction
	target, keep := c.Target, conversation.ValueOr(r.KeepRecent, c.Keep)
	if r.TargetTokens != nil {
		target = d.Settings.Unscaled(int64(*r.TargetTokens))
		c.Within(target)
	}
	if r.TargetTokens != nil || r.KeepRecent != nil {
		c.Tail = target // what is asked for by name holds as far as the target allows
	}
	if len(d.Composed.Units) == 0 {
		return nothingToCompact()
	}
	if c.Strategy == conversation.StrategySlidingWindow {
		return d.compacting().slide(target, keep)
	}
	done, err := d.compacting().summarizeOlder(conversation.ReasonCompactRequest, target, keep)
	if err == nil && !done {
		return nothingToCompact()
	}
	return err
}

func nothingToCompact() error {
	return conversation.Errorf(conversation.NothingToCompact, "nothing lies between the last summary and the newest messages that would make the view smaller by enough")
}
