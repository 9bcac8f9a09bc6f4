package property

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/internal/validate"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// protectedFor is for how many turns nothing takes away what was expanded (behaviour §10).
const protectedFor = 5

// news reads the log of edits: what was in it must still be there as it was.
func (j *journey) news() []conversation.Edit {
	snap, err := j.store.Store.Read(ctx, j.key, store.Query{Edits: &store.EditRange{}})
	if err != nil {
		j.t.Fatal(err)
	}
	old := len(j.edits)
	if slices.ContainsFunc(snap.Edits[old:], func(e conversation.Edit) bool { return e.Summary != nil }) || slices.ContainsFunc(snap.Edits, storedApart) {
		for _, r := range j.export(j.key) { // which has all texts
			if r.Edit != nil {
				snap.Edits[r.Edit.Seq-1] = *r.Edit
			}
		}
	}
	for i := range j.edits {
		if !frozen(&j.edits[i], &snap.Edits[i]) {
			j.t.Fatalf("edit %d has changed:\n%+v\n%+v", j.edits[i].Seq, j.edits[i], snap.Edits[i])
		}
	}
	return snap.Edits[old:]
}

// storedApart says whether something that an edit shows does not stand in it: an import keeps large texts like those of messages.
func storedApart(e conversation.Edit) bool {
	return slices.ContainsFunc(e.Parts, func(p conversation.PartEdit) bool {
		return slices.ContainsFunc(conversation.Contents([]conversation.Part{p.Shown}), func(c *conversation.Content) bool { return c.Ref != nil })
	})
}

// take takes in what was committed since, whatever it is.
func (j *journey) take() []conversation.Edit {
	made := j.news()
	for i := range made {
		j.fold(&made[i])
	}
	return made
}

func (j *journey) fold(e *conversation.Edit) {
	j.edits = append(j.edits, *e)
	fold(j.record, e)
}

// visible is the record without what was taken back.
func (j *journey) visible() []*entry {
	return slices.DeleteFunc(slices.Clone(j.record), func(e *entry) bool { return e.hidden })
}

func (j *journey) history() *validate.History { return judged(j.record) }

// over is the newest summary made over a message of which nothing was taken back since; nil for none.
func (j *journey) over(index int32) *conversation.Edit {
	var standing []conversation.Range // later ones
	for i := len(j.edits) - 1; i >= 0; i-- {
		e := &j.edits[i]
		if e.Kind != conversation.EditSummarize || j.dissolved(e) || slices.ContainsFunc(standing, e.Range.Overlaps) {
			continue
		}
		if e.Range.Contains(index) {
			return e
		}
		standing = append(standing, e.Range)
	}
	return nil
}

func (j *journey) dissolved(s *conversation.Edit) bool {
	for i := range j.edits {
		if c := &j.edits[i]; c.Kind == conversation.EditCorrect && c.Seq > s.Seq && s.Range.Contains(c.Range.First) {
			return true
		}
	}
	return slices.ContainsFunc(j.rewinds(), func(e *conversation.Edit) bool {
		return e.Seq > s.Seq && e.Range.First <= s.Range.End && e.Range.End > s.Range.First
	})
}

// rewinds are those that were not undone.
func (j *journey) rewinds() []*conversation.Edit {
	var out []*conversation.Edit
	for i := range j.edits {
		switch e := &j.edits[i]; e.Kind {
		case conversation.EditHide:
			out = append(out, e)
		case conversation.EditUnhide: // it undoes the newest
			out = out[:len(out)-1]
		}
	}
	return out
}

// standing are the summaries in force, by range.
func (j *journey) standing() []*conversation.Edit {
	var out []*conversation.Edit
	for _, e := range j.record {
		if s := j.over(e.index); s != nil && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// summarized says whether a summary stands for the message.
func (j *journey) summarized(e *entry) bool {
	s := j.over(e.index)
	return s != nil && covers(s, e.index) && e.restoredSeq < s.Seq
}

func covers(s *conversation.Edit, index int32) bool {
	return s.Range.Contains(index) && !slices.ContainsFunc(s.Summary.Except, func(r conversation.Range) bool { return r.Contains(index) })
}

// lately says whether a message was brought back so short a while ago that nothing may take it away.
func (j *journey) lately(e *entry, turn int32) bool {
	return e.restored >= 0 && turn-e.restored <= protectedFor && !e.hidden && !j.summarized(e)
}

// newest is where the newest unit begins that every format writes, and the one that is the newest if some do not.
func (j *journey) newest() (sure, perhaps int32) { return newestOf(j.record) }

// journal is what edits of one call are judged by.
type journal struct {
	*journey
	policy conversation.Policy
	turn   int32
	aging  bool  // a build that begins a turn: it may prune
	own    bool  // it may summarize
	start  int32 // of the window after it
	afresh int64 // summaries up to this edit stand for nothing that the window shows
	seenBy int32 // messages before it were in an earlier build
}

func (j *journey) journal() *journal {
	return &journal{journey: j, policy: j.policy, turn: j.turn, own: true}
}

// take takes in what a build or a compaction has committed, and demands that it may.
func (a *journal) take() []conversation.Edit {
	made := a.news()
	aged := 0
	for aged < len(made) && (made[aged].Kind == conversation.EditRemove || made[aged].Kind == conversation.EditMask || expires(made[aged].Reason)) {
		a.fold(&made[aged])
		aged++
	}
	for _, e := range made {
		a.t.Logf("  edit %d: kind %d, %+v, reason %d %s", e.Seq, e.Kind, e.Range, e.Reason, sketchSummary(&e))
	}
	if !slices.ContainsFunc(made, func(e conversation.Edit) bool { return e.Kind == conversation.EditReturn }) { // what comes back weighs more
		a.pruning(made[aged:])
	}
	for i := aged; i < len(made); i++ {
		switch e := &made[i]; {
		case e.Kind == conversation.EditSummarize:
			a.summary(e)
		case e.Kind == conversation.EditParts && e.Reason == conversation.ReasonPruned:
		case e.Kind == conversation.EditParts && e.Reason == conversation.ReasonDuplicateLines:
			a.deduplicated(e)
		case e.Kind == conversation.EditReturn:
			a.cameBack(e)
		case e.Kind == conversation.EditParts && (e.Reason == conversation.ReasonResultOverShare || e.Reason == conversation.ReasonNewestUnitOverBudget):
			a.clipping(e)
		default:
			a.t.Fatalf("an edit of kind %d, for reason %d, behind those of expiry", e.Kind, e.Reason)
		}
		a.fold(&made[i])
	}
	return made
}

// clipping demands that nothing but a result is clipped, and that it was shown for no less.
func (a *journal) clipping(ed *conversation.Edit) {
	e := a.record[ed.Range.First]
	for _, p := range ed.Parts {
		if e.message.Parts[p.Part].Kind != conversation.PartToolResult || e.shown[p.Part].level > p.Level || e.hidden || a.stoodFor(e) || e.leading {
			a.t.Fatalf("part %d of message %d is clipped", p.Part, e.index)
		}
	}
}

// stoodFor says whether a summary stands for a message in every window that the build may have looked at.
func (a *journal) stoodFor(e *entry) bool {
	return a.summarized(e) && a.over(e.index).Seq > a.afresh
}

// cleared is a result that was cleared, or could be.
type cleared struct {
	entry  *entry
	part   int32
	counts int // towards the minimum
}

// pruning holds what was pruned to the rule of behaviour §7. Results before the window's start may be in view or not: nothing
// is demanded of them.
func (a *journal) pruning(made []conversation.Edit) {
	sure, _ := a.newest()
	can, apart := a.prunable(), beside(a.record)
	linked := func(e *entry) bool { // it lives with another unit too
		return slices.ContainsFunc(unitOf(a.record, e), func(o *entry) bool { return apart[o.index] })
	}
	got, total := map[[2]int32]bool{}, 0
	for i := range made {
		if made[i].Reason != conversation.ReasonPruned {
			continue
		}
		for _, p := range made[i].Parts {
			at := slices.IndexFunc(can, func(c cleared) bool { return c.entry.index == made[i].Range.First && c.part == p.Part })
			if at < 0 && linked(a.record[made[i].Range.First]) {
				continue
			}
			if at < 0 || p.Level != conversation.Cleared {
				a.t.Fatalf("part %d of message %d is pruned, and must not be", p.Part, made[i].Range.First)
			}
			words := fmt.Sprintf("[Old tool result content cleared. Full text: expand_message(%d)]", made[i].Range.First)
			if r := p.Shown.Result; r == nil || r.Text.Inline != words || len(r.Parts) > 0 {
				a.t.Fatalf("part %d of message %d is pruned to %+v", p.Part, made[i].Range.First, p.Shown)
			}
			got[[2]int32{made[i].Range.First, p.Part}] = true
			total += can[at].counts
		}
	}
	minimum := int(or(a.policy.Pruning.MinimumTokens, conversation.DefaultMinimumTokens))
	left := 0
	for _, c := range can {
		if c.entry.index >= a.start && c.entry.index < sure && !linked(c.entry) && !got[[2]int32{c.entry.index, c.part}] {
			left += c.counts
		}
	}
	off := !a.aging || a.policy.Pruning.Off != nil && *a.policy.Pruning.Off
	switch {
	case len(got) > 0 && (off || total < minimum) && len(apart) == 0:
		a.t.Fatalf("%d tokens are pruned, at least %d must go (off: %t)", total, minimum, off)
	case len(got) > 0 && left > 0:
		a.t.Fatalf("%d tokens are pruned, %d are left that could be", total, left)
	case !off && len(got) == 0 && left >= minimum && left > 0:
		a.t.Fatalf("nothing is pruned, and %d tokens could be; at least %d must go", left, minimum)
	}
}

// prunable lists the results that are old enough and may be cleared.
func (a *journal) prunable() []cleared {
	protect, most := int(or(a.policy.Pruning.ProtectTokens, conversation.DefaultProtectTokens)), int(or(a.policy.Pruning.MaxPartTokens, conversation.DefaultMaxPartTokens))
	_, perhaps := a.newest()
	var out []cleared
	newer := 0
	for _, e := range slices.Backward(a.visible()) {
		if s := a.over(e.index); a.summarized(e) && s.Seq > a.afresh || e.removed { // a window that was opened afresh shows what earlier ones stand for
			continue
		}
		for p := len(e.message.Parts) - 1; p >= 0; p-- {
			shown, level := e.message.Parts[p], conversation.Full
			if f, ok := e.shown[int32(p)]; ok {
				shown, level = f.part, f.level
			}
			tokens := tokensOf(&shown)
			old := newer >= protect || e.ranks[int32(p)] == conversation.ImportanceLow
			if old && shown.Kind == conversation.PartToolResult && level < conversation.Cleared && e.index < perhaps && a.clears(e, int32(p), tokens) {
				out = append(out, cleared{entry: e, part: int32(p), counts: min(tokens, most)})
			}
			newer += min(tokens, most)
		}
	}
	return out
}

// clears says whether a result of some weight may be cleared, however old.
func (a *journal) clears(e *entry, part int32, tokens int) bool {
	u := shownUnit(a.record, e)
	tool := toolOf(u, e, part)
	spared := or(a.policy.Pruning.ProtectedTools, []string{"skill", "expand_message", "retrieve_content", "search_conversation"})
	prefixed := func(p string) bool { return strings.HasPrefix(tool, p) }
	if slices.Contains(spared, tool) || slices.ContainsFunc(or(a.policy.Pruning.ProtectedPrefixes, []string{"tool-"}), prefixed) {
		return false
	}
	placeholder := fmt.Sprintf("[Old tool result content cleared. Full text: expand_message(%d)]", e.index)
	least := 1
	if e.shown[part].expiry { // a short form that little more would come of
		least = 500
	}
	return e.ranks[part] != conversation.ImportanceHigh && !e.pinned && !e.leading && !a.lately(u[0], a.turn) && tokens-count(placeholder) >= least
}

// toolOf is the tool of a result: what it says itself, else that of the first call of its unit with its id that waits.
func toolOf(u []*entry, of *entry, part int32) string {
	var open []*conversation.ToolCall
	for _, e := range u {
		for i := range e.message.Parts {
			if c := e.message.Parts[i].Call; c != nil {
				open = append(open, c)
			}
			r := e.message.Parts[i].Result
			if r == nil {
				continue
			}
			at := slices.IndexFunc(open, func(c *conversation.ToolCall) bool { return c.CallID == r.CallID })
			name := r.Name
			if at >= 0 {
				name = cmp.Or(name, open[at].Name)
				open = slices.Delete(open, at, at+1)
			}
			if e == of && int32(i) == part {
				return name
			}
		}
	}
	return ""
}

func or[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

// tokensOf is what a part weighs, by the formula of behaviour §12.
func tokensOf(p *conversation.Part) int {
	switch p.Kind {
	case conversation.PartToolCall:
		return 6 + count(p.Call.Name) + count(p.Call.Arguments.Inline)
	case conversation.PartReasoning:
		if p.Reasoning.Text.Inline == "" {
			return count(p.Reasoning.Signature.Inline)
		}
		return count(p.Reasoning.Text.Inline)
	case conversation.PartOpaque:
		return count(p.Opaque.JSON.Inline)
	case conversation.PartToolResult:
		n := 0
		for i := range p.Result.Parts {
			if p.Result.Parts[i].Media != nil {
				n += mediaWeight
			} else {
				n += count(p.Result.Parts[i].Text.Inline)
			}
		}
		return n + count(p.Result.Text.Inline)
	default:
		return partWeight(p)
	}
}
