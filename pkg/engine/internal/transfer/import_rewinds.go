package transfer

import (
	"slices"
	"sort"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/placement"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// maxImportedRewinds bounds the rewinds of an import: all of them come with every read of its view.
const maxImportedRewinds = 1 << 16

// rewound is a range that was taken back, with what there was before the first message of it.
type rewound struct {
	conversation.Range
	before *past
}

// past is a head as it was, with how many of the user's and the tools' messages were not taken back then.
type past struct {
	store.Head
	inputs int32
}

// rewinds are the ranges that were taken back, in the order in which they were: their ends never fall.
type rewinds struct {
	all    []rewound
	starts map[int32][]int // which begin at a message
	passed int             // how many ended before the next message
	outer  []int           // of those, the ones that no later one has in it, by their first message
	inputs int32           // of the user's and the tools' messages, those that were not taken back

	told []conversation.Range // what the edits so far take back: the state has it without what was undone
}

// checkRewinds demands what rewinds of one conversation are like: each reaches to where the record ended then.
func (im *importer) checkRewinds(ranges []conversation.Range) error {
	if len(ranges) > maxImportedRewinds {
		return invalid("the state has more than %d rewinds", maxImportedRewinds)
	}
	im.rewinds.starts = make(map[int32][]int, len(ranges))
	for i, r := range ranges {
		if r.First < 0 || r.Len() <= 0 || i > 0 && r.End < ranges[i-1].End {
			return invalid("the rewinds do not follow on each other")
		}
		im.rewinds.all = append(im.rewinds.all, rewound{Range: r})
		im.rewinds.starts[r.First] = append(im.rewinds.starts[r.First], i)
	}
	return nil
}

// follow demands that an edit takes back, or undoes, what it may. Nothing is appended between a rewind and its undoing: the messages
// tell of no rewind that was undone.
func (w *rewinds) follow(e *conversation.Edit) error {
	switch last := len(w.told) - 1; e.Kind {
	case conversation.EditHide:
		if len(w.told) == maxImportedRewinds {
			return invalid("the export has more than %d rewinds", maxImportedRewinds)
		}
		w.told = append(w.told, e.Range)
	case conversation.EditUnhide:
		if last < 0 || w.told[last] != e.Range {
			return invalid("edit %d undoes no rewind", e.Seq)
		}
		w.told = w.told[:last]
	}
	return nil
}

// followed says whether the edits take back what the state says is taken back.
func (w *rewinds) followed() bool {
	return slices.EqualFunc(w.told, w.all, func(r conversation.Range, x rewound) bool { return r == x.Range })
}

// passRewinds does to the head what rewinds before a message did, and remembers it for those that will go back to that message.
func (im *importer) passRewinds(index int32) {
	w := &im.rewinds
	for ; w.passed < len(w.all) && w.all[w.passed].End == index; w.passed++ {
		im.goBack(w.passed)
	}
	if len(w.starts[index]) == 0 {
		return
	}
	before := past{Head: im.head, inputs: im.rewinds.inputs}
	before.Unanswered, before.Pins = slices.Clone(im.head.Unanswered), slices.Clone(im.head.Pins)
	for _, i := range w.starts[index] {
		w.all[i].before = &before
	}
}

// goBack makes the head what a rewind made it; see rewinding.changeHead.
func (im *importer) goBack(i int) {
	h, before := &im.head, im.rewinds.pastBefore(i)
	if im.rewinds.all[i].First <= h.LeadingSystem {
		h.LeadingSystem = h.Messages
	}
	h.Request, h.Opening, h.Pins = before.Request, before.Opening, slices.Clone(before.Pins)
	placement.ForgetCalls(h, before.CallOrdinal+1)
	im.rewinds.inputs = before.inputs
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

// pastBefore is what a rewind goes back to. Where its first message was taken back before, that is where the last rewind
// which did so went back to. Of those only the outer ones count: one that lies in a later one is over wherever that one is.
func (w *rewinds) pastBefore(i int) *past {
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
