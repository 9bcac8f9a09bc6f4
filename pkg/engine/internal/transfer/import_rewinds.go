package transfer

import (
	"slices"
	"sort"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/placement"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// maxImportedRewinds bounds the rewinds of an import: all of them are part of every read of its view.
const maxImportedRewinds = 1 << 16

// rewound is a range that was taken back, with the state before its first message.
type rewound struct {
	conversation.Range
	before *earlierHead
}

// earlierHead is an earlier head, with the number of user and tool messages that were not taken back at that time.
type earlierHead struct {
	store.Head
	inputs int32
}

// rewinds are the ranges that were taken back, in order of time. Their ends never fall.
type rewinds struct {
	all    []rewound
	starts map[int32][]int // by first message: the rewinds that begin with it
	passed int             // number of rewinds that end before the next message
	outer  []int           // those of the passed ones that no later one encloses, ordered by first message
	inputs int32           // number of user and tool messages that are not taken back

	byEdits []conversation.Range // what the edits read so far take back; the state does not list rewinds that were undone
}

// take takes over the rewinds of a state. It requires that the ranges can be rewinds of one conversation: each reaches to the end of the
// record at its time.
func (w *rewinds) take(ranges []conversation.Range) error {
	if len(ranges) > maxImportedRewinds {
		return invalid("the state has more than %d rewinds", maxImportedRewinds)
	}
	w.starts = make(map[int32][]int, len(ranges))
	for i, r := range ranges {
		if r.First < 0 || r.Len() <= 0 || i > 0 && r.End < ranges[i-1].End {
			return invalid("the rewinds do not follow on each other")
		}
		w.all = append(w.all, rewound{Range: r})
		w.starts[r.First] = append(w.starts[r.First], i)
	}
	return nil
}

// follow requires that an edit takes back a range, or undoes a rewind, that it may. Nothing is appended between a rewind and its
// undoing, so the messages show nothing of a rewind that was undone.
func (w *rewinds) follow(e *conversation.Edit) error {
	switch last := len(w.byEdits) - 1; e.Kind {
	case conversation.EditHide:
		if len(w.byEdits) == maxImportedRewinds {
			return invalid("the export has more than %d rewinds", maxImportedRewinds)
		}
		w.byEdits = append(w.byEdits, e.Range)
	case conversation.EditUnhide:
		if last < 0 || w.byEdits[last] != e.Range {
			return invalid("edit %d undoes no rewind", e.Seq)
		}
		w.byEdits = w.byEdits[:last]
	}
	return nil
}

// followed reports whether the edits take back exactly what the state lists.
func (w *rewinds) followed() bool {
	return slices.EqualFunc(w.byEdits, w.all, func(r conversation.Range, x rewound) bool { return r == x.Range })
}

// pass applies to the head the rewinds that end before a message. It also keeps a copy of the head for rewinds that will go
// back to that message.
func (w *rewinds) pass(h *store.Head, index int32) {
	for ; w.passed < len(w.all) && w.all[w.passed].End == index; w.passed++ {
		w.goBack(h, w.passed)
	}
	if len(w.starts[index]) == 0 {
		return
	}
	before := earlierHead{Head: *h, inputs: w.inputs}
	before.Unanswered, before.Pins = slices.Clone(h.Unanswered), slices.Clone(h.Pins)
	for _, i := range w.starts[index] {
		w.all[i].before = &before
	}
}

// goBack changes the head as a rewind does; see rewindChange.changeHead in package messages.
func (w *rewinds) goBack(h *store.Head, i int) {
	before := w.pastBefore(i)
	if w.all[i].First <= h.LeadingSystem {
		h.LeadingSystem = h.Messages
	}
	h.Request, h.Opening, h.Pins = before.Request, before.Opening, slices.Clone(before.Pins)
	placement.ForgetCalls(h, before.CallOrdinal+1)
	w.inputs = before.inputs
	if h.Place.Carrying > 0 {
		if h.Place = before.Place; h.Place.Carrying == 0 {
			h.Place.Inputs = before.inputs
		}
	}
	h.Unanswered, h.UnitStart, h.CallsEnd = slices.Clone(before.Unanswered), h.Messages, 0
	if placement.TakesResults(&before.Head, before.Messages) {
		h.UnitStart = before.UnitStart
	}
	if before.CallsEnd > 0 {
		h.CallsEnd = h.Messages
	}
}

// pastBefore returns the state that a rewind goes back to. If its first message was already taken back, that is the state to which
// the last rewind over it went back. Only outer rewinds count: one that lies within a later one ends where that one does.
func (w *rewinds) pastBefore(i int) *earlierHead {
	r := &w.all[i]
	at := sort.Search(len(w.outer), func(k int) bool { return w.all[w.outer[k]].First > r.First }) - 1
	if at >= 0 && w.all[w.outer[at]].Contains(r.First) {
		r.before = w.all[w.outer[at]].before
	}
	for n := len(w.outer); n > 0 && w.all[w.outer[n-1]].First >= r.First; n-- {
		w.outer = w.outer[:n-1]
	}
	w.outer = append(w.outer, i)
	return r.before
}
