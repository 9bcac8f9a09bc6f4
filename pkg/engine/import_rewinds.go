package engine

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// rewound is a range that was taken back, with the head as it was before the first message of it.
type rewound struct {
	conversation.Range
	before Head
}

// checkRewinds demands what rewinds of one conversation are like: each reaches to where the record ended then.
func (im *importing) checkRewinds(ranges []conversation.Range) error {
	for i, r := range ranges {
		if r.First < 0 || r.Len() <= 0 || i > 0 && r.End < ranges[i-1].End {
			return invalid("the rewinds do not follow on each other")
		}
		im.rewinds = append(im.rewinds, rewound{Range: r})
	}
	return nil
}

// passRewinds does to the head what rewinds before a message did, and remembers it for those that will go back to that message.
func (im *importing) passRewinds(index int32) {
	for i := range im.rewinds {
		if im.rewinds[i].End == index {
			im.goBack(i)
		}
	}
	for i := range im.rewinds {
		r := &im.rewinds[i]
		if r.First == index {
			r.before = im.head
			r.before.Unanswered, r.before.Pins = slices.Clone(im.head.Unanswered), slices.Clone(im.head.Pins)
		}
	}
}

// goBack makes the head what a rewind made it; see rewinding.changeHead.
func (im *importing) goBack(i int) {
	h, r := &im.head, &im.rewinds[i]
	for j := range i {
		if im.rewinds[j].Contains(r.First) { // which was taken back before
			r.before = im.rewinds[j].before
		}
	}
	if r.First <= h.LeadingSystem {
		h.LeadingSystem = h.Messages
	}
	before := &r.before
	h.LastUser, h.Pins = before.LastUser, slices.Clone(before.Pins)
	if h.Place.Carrying > 0 {
		h.Place = before.Place
	}
	h.Unanswered, h.UnitStart = slices.Clone(before.Unanswered), h.Messages
	if takesResults(before, r.First) {
		h.UnitStart = before.UnitStart
	}
}
