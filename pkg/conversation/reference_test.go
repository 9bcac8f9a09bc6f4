package conversation_test

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// reference answers the same questions as View in another way: nothing is folded, and every answer is looked up in the whole log of edits.
type reference struct {
	messages []conversation.Message
	edits    []conversation.Edit
}

// since is the sequence of the last restoration of a message.
func (r *reference) since(i int32) int64 {
	for j := len(r.edits) - 1; j >= 0; j-- {
		if e := r.edits[j]; e.Kind == conversation.EditRestore && e.Range.First <= i && i < e.Range.End {
			return e.Seq
		}
	}
	return 0
}

// about lists the edits of a kind that touch a message and that no restoration has undone.
func (r *reference) about(i int32, kind conversation.EditKind) []conversation.Edit {
	var out []conversation.Edit
	for _, e := range r.edits {
		if e.Kind == kind && e.Range.First <= i && i < e.Range.End && e.Seq > r.since(i) {
			out = append(out, e)
		}
	}
	return out
}

func (r *reference) is(i int32, kind conversation.EditKind) bool {
	if kind == conversation.EditHide { // no restoration undoes it
		return slices.ContainsFunc(r.edits, func(e conversation.Edit) bool { return e.Kind == kind && e.Range.Contains(i) })
	}
	if kind == conversation.EditSummarize {
		return slices.ContainsFunc(r.edits, func(e conversation.Edit) bool {
			return r.standing(e) && e.Range.Contains(i) && e.Seq > r.since(i) && !r.excepted(e, i)
		})
	}
	return len(r.about(i, kind)) > 0
}

// takenOut is the edit that took a message out; nil if it was put back, or restored, since.
func (r *reference) takenOut(i int32) *conversation.Edit {
	for j := len(r.edits) - 1; j >= 0; j-- {
		e := &r.edits[j]
		switch moves := e.Range.Contains(i); {
		case moves && (e.Kind == conversation.EditPutBack || e.Kind == conversation.EditRestore):
			return nil
		case moves && e.Kind == conversation.EditTakeOut:
			return e
		}
	}
	return nil
}

// standing reports whether an edit is a summary in force: nothing in its range was hidden, taken out or put back after it, and no later
// summary in force overlaps it.
func (r *reference) standing(e conversation.Edit) bool {
	return e.Kind == conversation.EditSummarize && !slices.ContainsFunc(r.edits, func(o conversation.Edit) bool {
		touches := o.Range.First <= e.Range.End && e.Range.First < o.Range.End
		overlaps := o.Range.First < e.Range.End && e.Range.First < o.Range.End
		return o.Seq > e.Seq && (o.Kind == conversation.EditHide && touches || overlaps && (o.Kind == conversation.EditTakeOut || o.Kind == conversation.EditPutBack || r.standing(o)))
	})
}

func (r *reference) excepted(e conversation.Edit, i int32) bool {
	return slices.ContainsFunc(e.Summary.Except, func(x conversation.Range) bool { return x.First <= i && i < x.End })
}

// shownAgain reports whether a message is a system message that a summary in force leaves out.
func (r *reference) shownAgain(i int32) bool {
	return r.messages[i].Role == conversation.RoleSystem && slices.ContainsFunc(r.edits, func(e conversation.Edit) bool {
		return r.standing(e) && r.excepted(e, i)
	})
}

func (r *reference) masked(i, part int32) bool {
	return slices.ContainsFunc(r.about(i, conversation.EditMask), func(e conversation.Edit) bool { return slices.Contains(e.Mask, part) })
}

// settled reports whether the persistent variant is shown: after the first mask, whatever was restored later.
func (r *reference) settled(i int32) bool {
	return slices.ContainsFunc(r.edits, func(e conversation.Edit) bool {
		return e.Kind == conversation.EditMask && e.Range.Contains(i)
	})
}

// stands says whether a part belongs to the variant that is shown.
func (r *reference) stands(i int32, p *conversation.Part) bool {
	switch p.Variant {
	case conversation.DisplayOnly:
		return !r.settled(i)
	case conversation.PersistentOnly:
		return r.settled(i)
	default:
		return true
	}
}

// part returns the form of a part that counts: the last one of the highest level. by.Seq is 0 if there is none.
func (r *reference) part(i, part int32) (best conversation.PartEdit, by conversation.Edit) {
	for _, e := range r.about(i, conversation.EditParts) {
		for _, p := range e.Parts {
			if p.Part == part && (by.Seq == 0 || p.Level >= best.Level) {
				best, by = p, e
			}
		}
	}
	return best, by
}

// by returns the last edit that changed what is shown for the message, and the reason of the last one that replaces or removes.
func (r *reference) by(m *conversation.Message) (seq int64, reason conversation.Reason) {
	var last int64
	note := func(e conversation.Edit) {
		if e.Seq > last {
			last, reason = e.Seq, e.Reason
		}
	}
	for _, e := range r.about(m.Index, conversation.EditRemove) {
		note(e)
	}
	for part := range m.Parts {
		_, e := r.part(m.Index, int32(part))
		note(e)
	}
	if e := r.takenOut(m.Index); e != nil {
		last, reason = e.Seq, e.Reason
	}
	seq = max(last, r.since(m.Index))
	for _, e := range r.about(m.Index, conversation.EditMask) {
		seq = max(seq, e.Seq)
	}
	return seq, reason
}

// look is an item in comparable form.
type look struct {
	Shown     bool
	Level     conversation.Level
	Edit      int64
	Reason    conversation.Reason
	Texts     []string
	Positions []int32
	Tokens    int64
	Saved     int64
	Masked    int64
	Unseen    int64
}

func (r *reference) item(m *conversation.Message) look {
	i := m.Index
	if r.is(i, conversation.EditHide) || r.is(i, conversation.EditSummarize) || r.is(i, conversation.EditRemove) || r.takenOut(i) != nil {
		return look{}
	}
	l := look{Shown: true, Tokens: int64(m.Overhead())}
	l.Edit, l.Reason = r.by(m)
	for p := range m.Parts {
		r.look(&l, m, int32(p))
	}
	if len(l.Texts) == 0 && len(m.Parts) > 0 {
		return look{}
	}
	return l
}

func (r *reference) look(l *look, m *conversation.Message, p int32) {
	part := m.Parts[p]
	form, by := r.part(m.Index, p)
	if by.Seq > 0 && !r.masked(m.Index, p) {
		l.Level = max(l.Level, form.Level)
	}
	if !r.stands(m.Index, &part) {
		if r.settled(m.Index) {
			l.Unseen += int64(part.Tokens)
		}
		return
	}
	if r.masked(m.Index, p) {
		l.Masked += int64(part.Tokens)
		return
	}
	if by.Seq > 0 {
		l.Saved += int64(part.Tokens) - int64(form.Shown.Tokens)
		part = form.Shown
	}
	if part.Kind == conversation.PartUnspecified {
		return
	}
	l.Tokens += int64(part.Tokens)
	l.Texts, l.Positions = append(l.Texts, part.Text.Inline), append(l.Positions, p)
}

// restored reports whether the message is shown because of a restoration.
func (r *reference) restored(i int32) bool {
	return r.since(i) > 0 && !r.is(i, conversation.EditHide) && !r.is(i, conversation.EditSummarize)
}

// gone lists the edited messages that are not shown and that no range edit stands for.
func (r *reference) gone(from int32) []int32 {
	var out []int32
	for i := from; i < int32(len(r.messages)); i++ {
		m := &r.messages[i]
		edit, _ := r.by(m)
		if edit > 0 && !r.item(m).Shown && !r.is(i, conversation.EditHide) && !r.is(i, conversation.EditSummarize) && r.takenOut(i) == nil {
			out = append(out, i)
		}
	}
	return out
}

// lastRestored relies on edits being numbered by turn in these tests.
func (r *reference) lastRestored(turn int32) int64 {
	last := int64(0)
	for i := range int32(len(r.messages)) {
		if seq := r.since(i); r.restored(i) && seq <= int64(turn) {
			last = max(last, seq)
		}
	}
	return last
}

// owner returns the first message of the unit of a shown message. It looks backward past hidden messages.
func (r *reference) owner(i int32) int32 {
	if r.messages[i].Role != conversation.RoleTool {
		return i
	}
	for j := i - 1; j >= 0; j-- {
		switch m := &r.messages[j]; {
		case r.is(j, conversation.EditHide):
		case !r.item(m).Shown:
			return i
		case m.Role == conversation.RoleTool && r.owner(j) != j || m.Role == conversation.RoleAssistant && m.HasCalls():
			return r.owner(j)
		case m.Role == conversation.RoleTool && r.messages[r.owner(j)].Role == conversation.RoleAssistant:
			return r.owner(j)
		default:
			return i
		}
	}
	return i
}

// layout returns the view's order (behaviour §4) as indices of messages. A summary is its id minus 1000.
func (r *reference) layout(w conversation.Window, kept conversation.Kept) []int64 {
	inPins := func(i int32) bool {
		return slices.ContainsFunc(kept.Pins, func(p conversation.Range) bool { return p.Contains(i) })
	}
	rules := []func(first int32) bool{
		func(i int32) bool { return i < kept.LeadingSystem },
		func(i int32) bool {
			return i < w.Start && (i == w.Opening || inPins(i) || r.shownAgain(i) && r.since(i) <= w.Restored)
		},
		nil, // summaries
		func(i int32) bool { return i < w.Start && r.since(i) > w.Restored },
		func(i int32) bool { return i < w.Start && i == w.Request },
		func(i int32) bool { return i >= w.Start },
	}
	taken := map[int32]bool{}
	var out []int64
	for _, rule := range rules {
		if rule == nil {
			out = append(out, r.summaries()...)
			continue
		}
		for i := range int32(len(r.messages)) {
			asked := i < w.Start && (i == w.Opening || i == w.Request) && r.beside(i)
			if (asked || r.item(&r.messages[i]).Shown) && !taken[i] && rule(r.owner(i)) {
				taken[i] = true
				out = append(out, int64(i))
			}
		}
	}
	return out
}

// beside reports whether a message would be shown if no summary stood for it.
func (r *reference) beside(i int32) bool {
	alone := &reference{messages: r.messages}
	for _, e := range r.edits {
		if e.Kind != conversation.EditSummarize {
			alone.edits = append(alone.edits, e)
		}
	}
	return alone.item(&r.messages[i]).Shown
}

func (r *reference) summaries() []int64 {
	var found []conversation.Edit
	for _, e := range r.edits {
		if r.standing(e) {
			found = append(found, e)
		}
	}
	slices.SortStableFunc(found, func(a, b conversation.Edit) int { return int(a.Range.First - b.Range.First) })
	var out []int64
	for _, e := range found {
		out = append(out, e.Summary.ID-1000)
	}
	return out
}
