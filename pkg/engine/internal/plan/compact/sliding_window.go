package compact

import (
	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/pass"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/settings"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
)

// slideIfFull moves the window's start where a sliding window shows more messages than it may.
func (d *compacting) slideIfFull() error {
	most, shown := d.goal.Threshold, int32(0)
	for i := range d.Composed.Units {
		if u := &d.Composed.Units[i]; u.Summary == nil && u.First() >= d.Given.Kept.LeadingSystem {
			shown += int32(len(u.Items))
		}
	}
	if most == 0 || shown <= most || d.Composed.Tail == len(d.Composed.Units) {
		return nil
	}
	start := slideTo(d.Given, d.Composed, most)
	if start == d.Composed.Window.Start { // it can show no less, and what it cuts stays cut
		return nil
	}
	return d.MoveWindow(d.StartingAt(start))
}

// slideTo is where a window starts that shows at most so many messages: the newest of them, as many as the policy names or as a cut
// leaves, beside the opening, the request and what is pinned.
func slideTo(g *pass.Given, out *view.Composition, most int32) int32 {
	keep := most * int32(settings.FirstSet(conversation.DefaultTargetPercent, g.Settings.Policy.Fit.TargetPercent)) / 100
	if set := g.Settings.Policy.Compaction.KeepRecent; set != nil {
		keep = *set
	}
	before := int32(2)
	for _, p := range g.Kept.Pins {
		before += p.Len()
	}
	at := out.Newest()
	keep = min(keep, most-before) - int32(len(out.Units[at].Items))
	for at > out.Tail && keep >= int32(len(out.Units[at-1].Items)) {
		at--
		keep -= int32(len(out.Units[at].Items))
	}
	return out.Units[at].First()
}

// slide moves the window's start to the newest messages.
func (d *compacting) slide(target int64, keep int32) error {
	cut := d.planner().Cut(max(0, min(d.goal.Tail, target-d.Given.Fixed)), keep)
	if cut <= d.Composed.Window.Start {
		return nothingToCompact()
	}
	before := d.Weight()
	if err := d.MoveWindow(d.StartingAt(cut)); err != nil {
		return err
	}
	if !compaction.Shrinks(before, d.Weight(), d.goal.Shrink) { // the request may weigh more than what has left
		return nothingToCompact()
	}
	return nil
}
