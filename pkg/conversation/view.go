package conversation

import "slices"

// View is the state that edits fold into: what is shown for each message that an edit touched, and which ranges are
// summarized or hidden. The zero View shows everything in full. A View is a value to its users: Fold returns a new one.
type View struct {
	seq      int64
	messages map[int32]state
	spans    spans
}

// state is what the view shows for one message.
type state struct {
	removed  bool
	parts    map[int32]shownPart
	mask     map[int32]bool
	settled  bool   // the persistent variant is shown, not the display variant
	edit     int64  // the last edit of it
	reason   Reason // why its parts are replaced, or it is removed
	restored int64  // the edit that last brought it back, 0 for none
	turn     int32  // the turn of that edit

	corrected  map[int32]correctedPart // parts with the words that corrections gave them
	correction int64                   // the last correction, 0 for none

	recalled *Part // the block of memories before its words; nil for none
}

type shownPart struct {
	level  Level
	part   Part
	reason Reason
	edit   int64
	copies []Copy
}

// Seq is the sequence number of the last edit in the view.
func (v *View) Seq() int64 { return v.seq }

// Fold applies edits, in order of sequence, and returns the view after them. Edits that the view has already are skipped, so
// that folding in pieces, or a piece twice, gives what folding once gives.
func (v *View) Fold(edits []Edit) *View {
	out := v.clone()
	for i := range edits {
		out.Extend(&edits[i])
	}
	return out
}

// Extend applies an edit to the view itself, as Fold would: for the only owner of a view, who has many to apply one by one.
func (v *View) Extend(e *Edit) {
	if e.Seq > v.seq {
		v.apply(e)
		v.seq = e.Seq
	}
}

func (v *View) clone() *View {
	out := &View{messages: make(map[int32]state)}
	if v != nil {
		out.seq = v.seq
		out.spans = v.spans.clone()
		for i, s := range v.messages {
			out.messages[i] = s
		}
	}
	return out
}

func (v *View) apply(e *Edit) {
	switch e.Kind {
	case EditParts:
		v.replace(e)
	case EditMask:
		v.update(e.Range.First, func(s *state) { s.mask, s.settled, s.edit = withMask(s.mask, e.Mask), true, e.Seq })
	case EditRemove:
		v.each(e.Range, func(s *state) { s.removed = true; s.by(e) })
	case EditRestore:
		v.each(e.Range, func(s *state) { s.restore(e) })
	case EditSummarize, EditHide, EditUnhide, EditTakeOut, EditPutBack:
		v.spans.take(e)
	case EditCorrect:
		v.update(e.Range.First, func(s *state) { s.correct(e) })
		v.spans.take(e)
	case EditRecall:
		v.update(e.Range.First, func(s *state) { s.recall(e) })
	case EditReturn:
		v.update(e.Range.First, func(s *state) { s.giveBack(e.Seq) })
	}
}

// replace applies the rule of levels: they only rise; at the same level the later form wins, whose maker knew the earlier one.
func (v *View) replace(e *Edit) {
	v.update(e.Range.First, func(s *state) {
		parts := make(map[int32]shownPart, len(s.parts)+len(e.Parts))
		for i, p := range s.parts {
			parts[i] = p
		}
		for _, p := range e.Parts {
			if old, ok := parts[p.Part]; !ok || p.Level >= old.level {
				parts[p.Part] = shownPart{level: p.Level, part: p.Shown, reason: e.Reason, edit: e.Seq, copies: p.Copies}
				s.by(e)
			}
		}
		s.parts = parts
	})
}

// restore brings back what the message says now: its corrections stay.
func (s *state) restore(e *Edit) {
	*s = state{
		settled: s.settled, edit: e.Seq, restored: e.Seq, turn: e.Turn, corrected: s.corrected, correction: s.correction, recalled: s.recalled,
	}
}

func (s *state) by(e *Edit) { s.edit, s.reason = e.Seq, e.Reason }

func (v *View) update(index int32, change func(*state)) {
	s := v.messages[index]
	change(&s)
	v.messages[index] = s
}

func (v *View) each(r Range, change func(*state)) {
	for i := r.First; i < r.End; i++ {
		v.update(i, change)
	}
}

func withMask(mask map[int32]bool, more []int32) map[int32]bool {
	out := make(map[int32]bool, len(mask)+len(more))
	for i := range mask {
		out[i] = true
	}
	for _, i := range more {
		out[i] = true
	}
	return out
}

// Hidden says whether all of the range is hidden.
func (v *View) Hidden(r Range) bool {
	for i := r.First; i < r.End; i++ {
		if !v.hidden(i) {
			return false
		}
	}
	return true
}

// hidden says whether the message is hidden. That outlasts a restoration: what was rewound is gone for everybody.
func (v *View) hidden(i int32) bool {
	return slices.ContainsFunc(v.spans.hidden, func(e Edit) bool { return e.Range.Contains(i) })
}

// IsLacked says whether the caller's list lacks a message, whether or not an expansion brought it back since.
func (v *View) IsLacked(i int32) bool { return v.spans.taken(i) != nil }

// takenOut is the edit that took a message out because the caller's list lacks it; nil if none did, or an expansion brought it back since.
func (v *View) takenOut(i int32) *Edit {
	if e := v.spans.taken(i); e != nil && e.Seq > v.messages[i].restored {
		return e
	}
	return nil
}

// Stands says whether a message is neither hidden nor taken out.
func (v *View) Stands(i int32) bool { return !v.hidden(i) && v.takenOut(i) == nil }

// Lacked returns what took out what the caller's list lacks, by range. It must not be changed.
func (v *View) Lacked() []Edit { return v.spans.takenOut }

// stateOf is what the view shows for a message.
func (v *View) stateOf(i int32) state {
	s := v.messages[i]
	if e := v.takenOut(i); e != nil {
		s.removed = true
		s.by(e)
	}
	return s
}

// summarized says whether a summary stands for the message: one made after the message was last restored.
func (v *View) summarized(i int32) bool { return v.SummaryOf(i) != nil }

// SummaryOf is the summary that stands for a message; nil if none does. It must not be changed.
func (v *View) SummaryOf(i int32) *Edit {
	restored := v.messages[i].restored
	for n := range v.spans.inForce {
		if e := &v.spans.inForce[n]; e.Range.Contains(i) && e.Seq > restored && e.Summary.Covers(i) {
			return e
		}
	}
	return nil
}

// Restored says whether an expansion brought the message back, by which edit and in which turn.
func (v *View) Restored(i int32) (edit int64, turn int32, ok bool) {
	s := v.messages[i]
	return s.restored, s.turn, s.restored > 0 && !v.hidden(i) && !v.summarized(i)
}

// Restorations returns the messages that expansions after an edit brought back, each as a range, in order of index.
func (v *View) Restorations(after int64) []Range {
	var out []Range
	for i := range v.messages {
		if edit, _, ok := v.Restored(i); ok && edit > after {
			out = append(out, Range{First: i, End: i + 1})
		}
	}
	slices.SortFunc(out, func(a, b Range) int { return int(a.First) - int(b.First) })
	return out
}

// LastRestored is the last restoration in force that was made in a turn or before, 0 for none.
func (v *View) LastRestored(turn int32) int64 {
	last := int64(0)
	for i, s := range v.messages {
		if _, _, ok := v.Restored(i); ok && s.turn <= turn {
			last = max(last, s.restored)
		}
	}
	return last
}

// Edited is the last edit of the message, 0 for none.
func (v *View) Edited(i int32) int64 { return v.stateOf(i).edit }

// Settled says whether the persistent variant of the message is shown.
func (v *View) Settled(i int32) bool { return v.messages[i].settled }

// Masked says whether the part is dropped by a mask.
func (v *View) Masked(i, part int32) bool { return v.messages[i].mask[part] }

// Gone lists the messages from an index on that the view does not show because they expired, or all of their blocks were dropped. What the
// caller's list lacks is none of them. Messages are in index order.
func (v *View) Gone(messages []Message, from int32) []Item {
	if len(v.messages) == 0 {
		return nil
	}
	var out []Item
	for i := range messages {
		m := &messages[i]
		if _, touched := v.messages[m.Index]; !touched || m.Index < from || v.hidden(m.Index) || v.summarized(m.Index) || v.takenOut(m.Index) != nil {
			continue
		}
		if it, ok := v.Item(m); !ok {
			out = append(out, it)
		}
	}
	return out
}

// Level is how much of the message the view shows, over all of its parts that no mask drops.
func (v *View) Level(i int32) Level {
	s := v.stateOf(i)
	if s.removed {
		return Removed
	}
	level := Full
	for i, p := range s.parts {
		if !s.mask[i] {
			level = max(level, p.level)
		}
	}
	return level
}

// Part is how much of one part the view shows, and why.
func (v *View) Part(i, part int32) (Level, Reason) {
	s := v.stateOf(i)
	if s.removed {
		return Removed, s.reason
	}
	return s.parts[part].level, s.parts[part].reason
}

// Item is the message as the view shows it. It is false if the view does not show the message at all: hidden, summarized,
// removed, or no block of it left.
func (v *View) Item(m *Message) (Item, bool) {
	_, touched := v.messages[m.Index]
	if !v.spans.empty() && (v.hidden(m.Index) || v.summarized(m.Index)) {
		return Item{}, false
	}
	s := v.stateOf(m.Index)
	if !touched && !s.removed && !m.Varied() {
		return Item{Message: m, Parts: m.Parts}, true
	}
	return s.item(m, v.Level(m.Index))
}

func (s *state) item(m *Message, level Level) (Item, bool) {
	it := Item{Message: m, Parts: m.Parts, Level: level, EditSeq: s.edit, Correction: s.correction, Reason: s.reason}
	if s.removed {
		return it, false
	}
	if len(s.parts) == 0 && len(s.mask) == 0 && !m.Varied() {
		s.withRecalled(&it)
		return it, true
	}
	it.Parts = make([]Part, 0, len(m.Parts))
	for i := range m.Parts {
		s.show(&it, int32(i))
	}
	if len(it.Parts) == len(m.Parts) {
		it.Positions = nil
	}
	shown := len(it.Parts) > 0 || len(m.Parts) == 0
	if shown {
		s.withRecalled(&it)
	}
	return it, shown
}

// show adds a part to the item as the view shows it: not at all if it stands in the other variant, is masked, or is told by
// another part.
func (s *state) show(it *Item, i int32) {
	p := &it.Message.Parts[i]
	if !p.Shows(s.settled) {
		if s.settled {
			it.Unseen += int64(p.Tokens)
		}
		return
	}
	if s.mask[i] {
		it.Masked += int64(p.Tokens)
		return
	}
	shown := *p
	if e, ok := s.parts[i]; ok {
		it.Saved += int64(p.Tokens - e.part.Tokens)
		if shown = e.part; shown.Kind == PartUnspecified {
			return
		}
		for _, c := range e.copies {
			it.Copies = append(it.Copies, NamedCopy{Copy: c, Of: i, Edit: e.edit})
		}
	}
	it.Parts = append(it.Parts, shown)
	it.Positions = append(it.Positions, i)
}

// Summaries returns the summaries in force, by range. They must not be changed.
func (v *View) Summaries() []Edit { return v.spans.inForce }

// Hides returns what is taken back, in the order in which it was, without what was undone. It must not be changed.
func (v *View) Hides() []Edit { return v.spans.hidden }

// SummarizedTo is where the messages begin that no summary was made over.
func (v *View) SummarizedTo() int32 {
	end := int32(0)
	for i := range v.spans.inForce {
		end = max(end, v.spans.inForce[i].Range.End)
	}
	return end
}

// Excepted are the messages that lie in the ranges of summaries in force, and that those do not stand for.
func (v *View) Excepted() []Range {
	var out []Range
	for i := range v.spans.inForce {
		out = append(out, v.spans.inForce[i].Summary.Except...)
	}
	return out
}
