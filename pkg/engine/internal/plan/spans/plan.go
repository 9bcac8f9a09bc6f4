// Package spans decides which messages summaries are to stand for: where a compaction cuts, what of it each summary covers, which earlier ones
// it takes up, what stays beside it (behaviour §8), and what those who write it are given.
package spans

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/copies"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/drafts"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/erasures"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/settings"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
)

// Planner plans the summaries of a view as it is.
type Planner struct {
	Composed *view.Composition
	View     *conversation.View
	Loaded   *view.Loaded
	Kept     conversation.Kept
	Settings *settings.Settings
	Goal     settings.Compaction // what the compaction aims at
	Fixed    int64
	Request  int32                                       // the request in force; -1 for none
	Opening  int32                                       // the opening, if it is kept; -1 for none
	Expanded func(index int32) bool                      // brought back so short a while ago that no summary takes it away
	Erased   *erasures.Erasures                          // by this build
	Models   func(*conversation.Prompt) (names []string) // that may be asked, the first one first
}

// Plan says what would be summarized so that the newest messages, of at most tail tokens, are left; nil if nothing would.
func (d *Planner) Plan(tail int64, keep int32) (*drafts.Plan, error) {
	cut := d.Cut(tail, keep)
	if cut <= max(d.Kept.LeadingSystem, d.View.SummarizedTo()) {
		return nil, nil
	}
	from, err := d.reachBack()
	if err != nil {
		return nil, err
	}
	p := &drafts.Plan{EditSeq: d.Loaded.Head.EditSeq, Cut: cut}
	if d.Goal.Strategy == conversation.StrategyHierarchical {
		d.planLeaves(p, from)
	} else {
		p.Steps = []drafts.Step{d.successorStep(from, cut)}
	}
	if len(p.Steps) == 0 { // nothing of it enters a summarizer
		return nil, nil
	}
	d.keepVerbatim(p)
	return p, nil
}

// leastTail is the part of their share that the newest messages have at least, as a divisor: pins, the opening and the request may take
// all that a target leaves.
const leastTail = 4

// Cut is where a compaction cuts that leaves so much room to the newest messages, and to the opening, the request and important units
// where these would then lie before them.
func (d *Planner) Cut(tail int64, keep int32) int32 {
	cut := d.cutAt(tail, keep)
	kept := int64(0)
	for i := d.Composed.Tail; i < len(d.Composed.Units) && d.Composed.Units[i].First() < cut; i++ {
		switch d.Composed.Units[i].First() {
		case d.Request:
			kept += min(d.Composed.Weights[i], d.Settings.Limit/compaction.RequestShare)
		case d.Opening:
			kept += min(d.Composed.Weights[i], d.Settings.Limit/compaction.OpeningShare)
		}
	}
	if kept += d.verbatimInTail(cut); kept == 0 {
		return cut
	}
	return d.cutAt(max(d.Goal.Tail/leastTail, tail-kept), keep)
}

// cutAt is the first message that a compaction leaves; 0 if nothing would go.
func (d *Planner) cutAt(tail int64, keep int32) int32 {
	in := compaction.CutInput{Keep: keep, Tail: tail, Returns: copies.Gains(d.Composed, d.Kept, func(int32) bool { return false })}
	for i := d.Composed.Tail; i <= d.Composed.Newest(); i++ {
		in.Units = append(in.Units, d.Composed.TailUnit(i))
	}
	if at := compaction.Cut(in); at > 0 {
		return in.Units[at].First
	}
	return 0
}

// TailRoom is what the newest messages may weigh so that the view reaches its target, if it can, beside all that stays, and with a
// summary as long as it may be. growth is what will be appended until the summary is used.
func (d *Planner) TailRoom(target, growth int64) int64 {
	c := &d.Goal
	room := target - growth - d.Fixed - c.Summary - c.Losses
	for i := range d.Composed.Units[:d.Composed.Tail] {
		if u := &d.Composed.Units[i]; u.Summary == nil {
			room -= d.Composed.Weights[i]
		}
	}
	return max(c.Tail/leastTail, min(c.Tail, room))
}

// SummaryRoom is what a target leaves for a plan's summary, beside all that stays.
func (d *Planner) SummaryRoom(p *drafts.Plan, target int64) int64 {
	room := target - d.Fixed
	for i := range d.Composed.Units {
		switch u := &d.Composed.Units[i]; {
		case i < d.Composed.Tail && u.Summary != nil:
		case i < d.Composed.Tail || u.First() >= p.Cut:
			room -= d.Composed.Weights[i]
		case u.First() == d.Request:
			room -= min(d.Composed.Weights[i], d.Settings.Limit/compaction.RequestShare)
		case u.First() == d.Opening:
			room -= min(d.Composed.Weights[i], d.Settings.Limit/compaction.OpeningShare)
		}
	}
	return room - d.verbatimInTail(p.Cut)
}

// reachBack is where the messages begin that a summary takes up: behind the last one. Where the window has left out more than a
// budget's worth of messages since, the oldest of these are not taken up.
func (d *Planner) reachBack() (int32, error) {
	from, at, room := max(d.Kept.LeadingSystem, d.View.SummarizedTo()), d.Composed.Window.Start, d.Settings.Limit
	for start := at; at > from && room > 0; {
		// Pages grow: each that is missing makes the plan begin anew.
		page := conversation.Range{First: max(from, at-max(view.UnitPage, start-at)), End: at}
		if err := d.Loaded.Require(page); err != nil {
			return 0, err
		}
		for ; at > page.First && room > 0; at-- {
			if m, ok := d.Loaded.Message(at - 1); ok {
				room -= view.ClippedWeight(m, d.Settings.Share)
			}
		}
	}
	if at <= from {
		return from, nil
	}
	start, err := d.Loaded.UnitStart(at)
	return max(start, from), err // a unit that a rewind has opened again may begin in what is summarized
}

// successorStep is the one summary of SUMMARIZE: it takes up all before it, if it follows on them.
func (d *Planner) successorStep(from, cut int32) drafts.Step {
	own := conversation.Range{First: from, End: cut}
	s := drafts.Step{Range: own, Own: own}
	if !d.followsLastSummary(from) {
		return s
	}
	for _, e := range d.newestSummaries() {
		s.Range.First = min(s.Range.First, e.Range.First)
		s.Level = max(s.Level, e.Summary.Level+1)
		s.Children = append(s.Children, e.Summary.ID)
	}
	return s
}

// followsLastSummary says whether messages from an index on follow on the last summary. Where some between them were left out, a summary over
// both would stand for what nobody has summarized.
func (d *Planner) followsLastSummary(from int32) bool {
	gap := conversation.Range{First: d.View.SummarizedTo(), End: from}
	return gap.First == 0 || gap.Len() <= 0 || d.View.Hidden(gap)
}

// planLeaves adds leaves over chunks, and the summaries of summaries that they make necessary.
func (d *Planner) planLeaves(p *drafts.Plan, from int32) {
	nodes, refs := d.nodes()
	if !d.followsLastSummary(from) {
		nodes, refs = nil, nil
	}
	for _, own := range d.chunks(from, p.Cut) {
		refs = append(refs, ref{step: len(p.Steps)})
		nodes = append(nodes, compaction.Node{Range: own})
		p.Steps = append(p.Steps, drafts.Step{Range: own, Own: own})
	}
	for _, m := range compaction.Merges(nodes, d.Goal.FanOut) {
		s := drafts.Step{Range: m.Into.Range, Level: m.Into.Level}
		for _, r := range refs[m.First:m.End] {
			if r.id > 0 {
				s.Children = append(s.Children, r.id)
			} else {
				s.Steps = append(s.Steps, r.step)
			}
		}
		refs = slices.Replace(refs, m.First, m.End, ref{step: len(p.Steps)})
		p.Steps = append(p.Steps, s)
	}
}

// ref names a summary: by its id, or by its place in a plan.
type ref struct {
	id   int64
	step int
}

// newestSummaries are those in force that follow on each other up to the last: between others lie messages that were left out.
func (d *Planner) newestSummaries() []conversation.Edit {
	all := d.View.Summaries()
	for at := len(all) - 1; at > 0; at-- {
		gap := conversation.Range{First: all[at-1].Range.End, End: all[at].Range.First}
		if gap.Len() > 0 && !d.View.Hidden(gap) {
			return all[at:]
		}
	}
	return all
}

func (d *Planner) nodes() ([]compaction.Node, []ref) {
	inForce := d.newestSummaries()
	nodes, refs := make([]compaction.Node, 0, len(inForce)), make([]ref, 0, len(inForce))
	for _, e := range inForce {
		nodes = append(nodes, compaction.Node{Range: e.Range, Level: e.Summary.Level})
		refs = append(refs, ref{id: e.Summary.ID})
	}
	return nodes, refs
}

// chunks splits messages into what leaves stand for: whole units, of about a chunk's weight each.
func (d *Planner) chunks(from, cut int32) []conversation.Range {
	var out []conversation.Range
	weight := int64(0)
	units := d.spanUnits(conversation.Range{First: from, End: cut})
	for i := range units {
		if n := units[i].Tokens(); len(out) == 0 || weight+n > d.Goal.Chunk {
			if len(out) > 0 {
				out[len(out)-1].End = units[i].First()
			}
			out, weight = append(out, conversation.Range{First: units[i].First(), End: cut}), 0
		}
		weight += units[i].Tokens()
	}
	if len(out) > 0 {
		out[0].First = from
	}
	return out
}

// spanUnits are the units of stretches as the view shows them, without what never enters a summarizer: the system's messages and
// pinned units.
func (d *Planner) spanUnits(ranges ...conversation.Range) []conversation.Unit {
	var items []conversation.Item
	for i := range d.Loaded.Messages {
		m := &d.Loaded.Messages[i]
		within := conversation.InRanges(ranges, m.Index)
		if !within || m.Role == conversation.RoleSystem || d.Kept.IsPinned(m.Index) {
			continue
		}
		if it, ok := d.View.Item(m); ok {
			items = append(items, it.Returned()) // what stands for its lines may lie elsewhere, and names are counted where they stand
		}
	}
	return conversation.Units(items, d.View.Hidden)
}
