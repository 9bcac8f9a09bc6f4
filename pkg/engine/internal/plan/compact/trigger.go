package compact

import (
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/drafts"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/pass"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/settings"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
)

// summarizes says whether a build may make summaries.
func summarizes(g *pass.Given) bool {
	return g.Settings.Own && g.Settings.Compaction.Strategy != conversation.StrategySlidingWindow
}

// trigger says why the view is to become smaller; unspecified if it is not.
func (d *compacting) trigger() conversation.Reason {
	c := &d.goal
	used, _ := d.Given.UsedTokens(d.Composed)
	switch {
	case d.Given.Settings.Scaled(d.Weight()) > d.Given.Settings.Budget:
		return conversation.ReasonOverflow
	case used > d.Given.Settings.Budget && !reportAnswered(d.Given):
		d.answersReport = true
		return conversation.ReasonOverflow
	case c.Threshold > 0 && sinceSummary(d.Composed, d.View) > c.Threshold:
		return conversation.ReasonMessageThreshold
	default:
		return conversation.ReasonUnspecified
	}
}

// sinceSummary counts the messages of the tail since the last summary.
func sinceSummary(out *view.Composition, v *conversation.View) int32 {
	n, done := int32(0), v.SummarizedTo()
	for i := range out.Units[out.Tail:] {
		if u := &out.Units[out.Tail+i]; u.First() >= done {
			n += int32(len(u.Items))
		}
	}
	return n
}

// newestCannotFit says whether not even the newest unit has room beside what is always sent. Clipping it may help, and a summary does not:
// no model is asked for one, as the build may well be refused.
func newestCannotFit(g *pass.Given, out *view.Composition) bool {
	least, newest := g.Fixed, out.Newest()
	for i := range out.Units {
		u := &out.Units[i]
		if i == newest || u.Summary == nil && g.Kept.Has(u.First()) {
			least += out.Weights[i]
		}
	}
	return least > g.Settings.Limit
}

// reportAnswered says whether the view was made smaller for the last report before.
func reportAnswered(g *pass.Given) bool {
	r, _, err := g.Loaded.Slots.LastUsage()
	return err != nil || r.Spent
}

// Next is the work for the summary that a view will need when it overflows; nil if it is not near to that. The build of the draft
// is committed by now.
func Next(g *pass.Given, draft pass.Draft, goal settings.Compaction) (*drafts.Job, error) {
	used, _ := g.UsedTokens(draft.Composed)
	r, _, err := drafts.Of(g.Loaded)
	if err != nil || !summarizes(g) || used < goal.Prepare || used > g.Settings.Budget || r.Pending(g.Now) {
		return nil, err
	}
	planner := planner(g, draft, goal)
	prompt := planner.Prompt()
	_, live := g.Summaries.CanAskLive(g.Format.Format(), g.Model)
	if live = live && conversation.ValueOr(g.Settings.Policy.Compaction.LivePrefix, false); !live && !g.Summaries.CanAsk(&prompt) {
		return nil, nil
	}
	growth := g.Settings.Unscaled(g.Settings.Budget - used)
	p, err := planner.Plan(planner.TailRoom(goal.Target, growth), goal.Keep)
	if err != nil || p == nil {
		return nil, err
	}
	p.EditSeq += int64(len(draft.Edits))
	w, err := summaryJob(g, draft.Composed, planner, p, planner.SummaryRoom(p, goal.Target-growth))
	if err == nil && w.Live == nil && !g.Summaries.CanAsk(&prompt) {
		return nil, nil
	}
	return w, err
}
