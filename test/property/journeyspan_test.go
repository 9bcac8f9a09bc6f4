package property

import (
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// summary demands of a summary that is about to stand that it may be made, and that it has seen all that it stands for.
func (a *journal) summary(e *conversation.Edit) {
	s, r := e.Summary, e.Range
	_, newest := a.newest()
	switch {
	case !a.own:
		a.t.Fatalf("a build for a smaller budget than the conversation's own makes summary s%d", s.ID)
	case a.policy.Compaction.Strategy == conversation.StrategySlidingWindow:
		a.t.Fatalf("a sliding window makes summary s%d", s.ID)
	case r.Len() <= 0 || r.End > newest:
		a.t.Fatalf("summary s%d is of %+v, and the newest unit begins at %d", s.ID, r, newest)
	}
	for _, u := range naiveUnits(a.record) {
		if first, last := u[0].index, u[len(u)-1].index; r.Contains(first) != r.Contains(last) {
			a.t.Fatalf("summary s%d, of %+v, cuts the unit of %d-%d", s.ID, r, first, last)
		}
	}
	if got, want := s.Children, a.takenUp(e); !slices.Equal(got, want) {
		a.t.Fatalf("summary s%d, of %+v, takes up %v, and %v stand there", s.ID, r, got, want)
	}
	for _, m := range a.record[r.First:r.End] {
		a.mayStandFor(e, m)
	}
	a.told(s.Text.Inline, func(m *entry) bool { return r.Contains(m.index) })
}

// takenUp are the summaries in force that a new one covers; one that it covers in part would not tile with it. What a model wrote
// may have been prepared before the strategy was changed.
func (a *journal) takenUp(e *conversation.Edit) []int64 {
	var out []int64
	for _, o := range a.standing() {
		switch {
		case e.Range.Covers(o.Range):
			out = append(out, o.Summary.ID)
			if a.hierarchical() && e.Summary.Model == "" && len(e.Summary.Children) > 0 && o.Summary.Level != e.Summary.Level-1 {
				a.t.Fatalf("summary s%d, of level %d, takes up s%d, of level %d", e.Summary.ID, e.Summary.Level, o.Summary.ID, o.Summary.Level)
			}
		case e.Range.Overlaps(o.Range):
			a.t.Fatalf("summary s%d, of %+v, overlaps s%d, of %+v", e.Summary.ID, e.Range, o.Summary.ID, o.Range)
		}
	}
	return out
}

func (a *journal) hierarchical() bool {
	return a.policy.Compaction.Strategy == conversation.StrategyHierarchical
}

// mayStandFor demands that a message in a summary's range is one that it may stand for and was written from, by itself or through
// the summary before it, or else is among its exceptions for a reason.
func (a *journal) mayStandFor(e *conversation.Edit, m *entry) {
	system, s := m.message.Role == conversation.RoleSystem, e.Summary
	if m.hidden {
		return
	}
	if !covers(e, m.index) {
		important := slices.ContainsFunc(s.Verbatim, func(r conversation.Range) bool { return r.Contains(m.index) }) && isImportant(shownUnit(a.record, m))
		if !m.pinned && !system && !important && !a.lately(m, a.turn) && !m.message.OwnWords() {
			a.t.Fatalf("summary s%d does not stand for message %d, for no reason", e.Summary.ID, m.index)
		}
		return
	}
	switch {
	case m.leading || m.pinned:
		a.t.Fatalf("summary s%d stands for message %d, which leads (%t) or is pinned (%t)", e.Summary.ID, m.index, m.leading, m.pinned)
	case a.lately(m, a.turn) && m.stays() && !a.gaveWay(m):
		a.t.Fatalf("summary s%d stands for message %d, which was expanded in turn %d, now is %d", e.Summary.ID, m.index, m.restored, a.turn)
	case !system && !m.removed && a.over(m.index) == nil && m.index < a.ownFrom(e) && !a.leftOutBefore(e, m):
		a.t.Fatalf("summary s%d stands for message %d, which lies before what it was written from (%d)", e.Summary.ID, m.index, a.ownFrom(e))
	}
}

// isImportant says whether anything of a unit is of high importance.
func isImportant(u []*entry) bool {
	return slices.ContainsFunc(u, func(e *entry) bool {
		for part, rank := range e.ranks {
			if rank == conversation.ImportanceHigh && (part != words || e.message.Role != conversation.RoleTool) {
				return true
			}
		}
		return false
	})
}

// leftOutBefore says whether a message was left out by a summary that a new one takes up: the new one is written from it too.
func (a *journal) leftOutBefore(e *conversation.Edit, m *entry) bool {
	return slices.ContainsFunc(a.standing(), func(o *conversation.Edit) bool {
		return e.Range.Covers(o.Range) && o.Range.Contains(m.index) && !covers(o, m.index)
	})
}

// gaveWay says whether a view had no room any more for what was expanded.
func (j *journey) gaveWay(e *entry) bool {
	return slices.ContainsFunc(j.builds, func(b build) bool { return b.Manifest.Window.Restored >= e.restoredSeq })
}

// ownFrom is where the messages begin that a summary was written from: behind the last that it takes up.
func (a *journal) ownFrom(e *conversation.Edit) int32 {
	from := e.Range.First
	for _, o := range a.standing() {
		if e.Range.Covers(o.Range) {
			from = max(from, o.Range.End)
		}
	}
	return from
}

// told demands that a text which a summarizer was given, or gave, tells of no message but some: never of the system's, of pinned
// ones, of ones that were taken back.
func (j *journey) told(text string, of func(*entry) bool) {
	j.forgotten(text)
	for _, m := range marks.FindAllString(text, -1) {
		at := slices.IndexFunc(j.record, func(e *entry) bool { return strings.Contains(flatAll(e.message.Parts), m) })
		if at < 0 {
			continue // a piece of another word
		}
		if e := j.record[at]; e.hidden || e.pinned || e.message.Role == conversation.RoleSystem || !of(e) {
			j.t.Fatalf("%s, of message %d, comes before a summarizer (hidden %t, pinned %t, role %s):\n%s", m, e.index, e.hidden, e.pinned, e.message.Role, text)
		}
	}
}

// listen looks at what the model was asked since.
func (j *journey) listen() {
	if j.model == nil {
		return
	}
	for ; j.heard < len(j.model.asked); j.heard++ {
		j.told(j.model.asked[j.heard], func(*entry) bool { return true })
	}
}

// reachable demands of every summary that was ever made that it expands, through its children, to exactly the originals of its
// range.
func (j *journey) reachable() {
	for i := range j.edits {
		if j.edits[i].Kind != conversation.EditSummarize {
			continue
		}
		at := j.edits[i].Range.First
		j.expandSummary(j.edits[i].Summary.ID, &at)
		if at != j.edits[i].Range.End {
			j.t.Fatalf("summary s%d, of %+v, expands up to %d", j.edits[i].Summary.ID, j.edits[i].Range, at)
		}
	}
}

// expandSummary goes through what a summary stands for, which must go on at an index, and moves that behind it.
func (j *journey) expandSummary(id int64, at *int32) {
	r := engine.ExpandRequest{
		Key: j.key, Summary: id, ReturnOnly: true, Limit: 3, MaxBytes: 1 << 30, Size: func(*engine.MessageInView) int { return 1 },
	}
	for {
		got, err := j.engine.Expand(ctx, r)
		if err != nil {
			j.t.Fatalf("expand s%d: %v", id, err)
		}
		for _, c := range got.Children {
			switch {
			case c.Range.First != *at:
				j.t.Fatalf("summary s%d expands to %+v at %d", id, c.Range, *at)
			case c.Summary > 0:
				j.expandSummary(c.Summary, at)
			default:
				if e := j.record[*at]; flatAll(c.Message.Message.Parts) != flatAll(e.message.Parts) {
					j.t.Fatalf("summary s%d expands to another message %d", id, *at)
				}
				*at++
			}
		}
		if got.Next == nil {
			return
		}
		r.Cursor = got.Next
	}
}
