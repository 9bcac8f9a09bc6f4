package conversation

import "slices"

// View is the state into which edits fold: what is shown for each message that an edit touched, and which ranges are summarized or hidden.
// The zero View shows everything in full. Users treat a View as a value: Fold returns a new one.
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
	settled  bool   // the persistent variant is shown instead of the display variant
	edit     int64  // the last edit
	reason   Reason // why parts are replaced, or the message is removed
	restored int64  // the edit that last brought it back; 0 for none
	turn     int32  // the turn of that edit

	corrected  map[int32]correctedPart // parts with the words that corrections gave them
	correction int64                   // the last correction; 0 for none

	recalled *Part // the block of memories before the words; nil for none
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

// Fold applies edits, in order of sequence, and returns the view after them. It skips edits that the view already has, so that folding in
// pieces, or one piece twice, has the same result as folding once.
func (v *View) Fold(edits []Edit) *View {
	out := v.clone()
	for i := range edits {
		out.Extend(&edits[i])
	}
	return out
}

// Extend applies an edit to the view itself, as Fold would. It is for the only owner of a view who applies many edits one by one.
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
		v.spans.add(e)
	case EditCorrect:
		v.update(e.Range.First, func(s *state) { s.correct(e) })
		v.spans.add(e)
	case EditRecall:
		v.update(e.Range.First, func(s *state) { s.recall(e) })
	case EditReturn:
		v.update(e.Range.First, func(s *state) { s.showLeftOut(e.Seq) })
	}
}

// replace applies an edit of parts. Levels only rise. At the same level the later form wins, because its maker knew the earlier one.
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

// restore brings back the message as it is now: its corrections stay.
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

// Hidden reports whether all of the range is hidden.
func (v *View) Hidden(r Range) bool {
	for i := r.First; i < r.End; i++ {
		if !v.hidden(i) {
			return false
		}
	}
	return true
}

// hidden reports whether the message is hidden. A restoration does not change that: what was rewound stays gone.
func (v *View) hidden(i int32) bool {
	return slices.ContainsFunc(v.spans.hidden, func(e Edit) bool { return e.Range.Contains(i) })
}

// IsLacked reports whether the caller's list lacks a message, even if an expansion brought it back later.
func (v *View) IsLacked(i int32) bool { return v.spans.takenOutBy(i) != nil }

// takenOut returns the edit that took a message out because the caller's list lacks it; nil if none did, or if an expansion brought the
// message back later.
func (v *View) takenOut(i int32) *Edit {
	if e := v.spans.takenOutBy(i); e != nil && e.Seq > v.messages[i].restored {
		return e
	}
	return nil
}

// Stands reports whether a message is neither hidden nor taken out.
func (v *View) Stands(i int32) bool { return !v.hidden(i) && v.takenOut(i) == nil }

// Lacked returns the edits in force that took out what the caller's list lacks, by range. It must not be changed.
func (v *View) Lacked() []Edit { return v.spans.takenOut }

// stateOf returns what the view shows for a message.
func (v *View) stateOf(i int32) state {
	s := v.messages[i]
	if e := v.takenOut(i); e != nil {
		s.removed = true
		s.by(e)
	}
	return s
}

// summarized reports whether a summary stands for the message: one that was made after the message was last restored.
func (v *View) summarized(i int32) bool { return v.SummaryOf(i) != nil }

// SummaryOf returns the summary that stands for a message; nil if none does. It must not be changed.
func (v *View) SummaryOf(i int32) *Edit {
	restored := v.messages[i].restored
	for n := range v.spans.inForce {
		if e := &v.spans.inForce[n]; e.Range.Contains(i) && e.Seq > restored && e.Summary.Covers(i) {
			return e
		}
	}
	return nil
}

// Restored reports whether an expansion brought the message back, and returns its edit and its turn.
func (v *View) Restored(i int32) (edit int64, turn int32, ok bool) {
	s := v.messages[i]
	return s.restored, s.turn, s.restored > 0 && !v.hidden(i) && !v.summarized(i)
}

// Restorations returns the messages that were brought back after an edit, each as a range, in index order.
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

// LastRestored is the last restoration in force that was made in the turn or earlier; 0 for none.
func (v *View) LastRestored(turn int32) int64 {
	last := int64(0)
	for i, s := range v.messages {
		if _, _, ok := v.Restored(i); ok && s.turn <= turn {
			last = max(last, s.restored)
		}
	}
	return last
}

// Edited is the last edit of the message; 0 for none.
func (v *View) Edited(i int32) int64 { return v.stateOf(i).edit }

// Settled reports whether the persistent variant of the message is shown.
func (v *View) Settled(i int32) bool { return v.messages[i].settled }

// Masked reports whether a mask drops the part.
func (v *View) Masked(i, part int32) bool { return v.messages[i].mask[part] }

// Gone lists the messages from an index on that are not shown because they expired or all of their blocks were dropped. It does not list
// what the caller's list lacks. Messages are in index order.
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

// Level says how much of the message the view shows, over all parts that no mask drops.
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

// Part says how much of a part the view shows, and why.
func (v *View) Part(i, part int32) (Level, Reason) {
	s := v.stateOf(i)
	if s.removed {
		return Removed, s.reason
	}
	return s.parts[part].level, s.parts[part].reason
}

// Item returns the message as the view shows it. It is false if the view does not show the message at all: it is hidden, summarized or
// removed, or has no block left.
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
		s.addPart(&it, int32(i))
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

// addPart adds a part to the item as the view shows it. It adds nothing if the part belongs to the other variant, is masked, or is told by
// another part.
func (s *state) addPart(it *Item, i int32) {
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

// Hides returns the edits in force that took messages back, in order. It must not be changed.
func (v *View) Hides() []Edit { return v.spans.hidden }

// SummarizedTo is the first message behind everything that was ever summarized.
func (v *View) SummarizedTo() int32 {
	end := int32(0)
	for i := range v.spans.inForce {
		end = max(end, v.spans.inForce[i].Range.End)
	}
	return end
}

// Excepted returns the messages in the ranges of summaries in force for which the summaries do not stand.
func (v *View) Excepted() []Range {
	var out []Range
	for i := range v.spans.inForce {
		out = append(out, v.spans.inForce[i].Summary.Except...)
	}
	return out
}
