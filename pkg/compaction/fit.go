package compaction

import "github.com/palimpsest-context/palimpsest/pkg/conversation"

// Piece is a unit as fit sees it.
type Piece struct {
	First    int32
	Messages int32 // that the unit has
	Tokens   int64
	// Always: the unit is shown wherever the window starts (pinned, or before the start by an expansion).
	Always bool
	// User: the unit is a user message; the newest one before the start is shown if it fits.
	User bool
}

// FitInput is what fit decides on. Tokens are before the factor, and so are the limits.
type FitInput struct {
	Fixed  int64 // what is sent whatever the window: fixed input, leading system messages, summaries
	Pieces []Piece
	// Anchor is the newest user message if it lies before the pieces, with its weight; nil for none.
	Anchor *Piece
	Now    conversation.Window // the window in force for this budget
	Limit  int64               // the budget
	Target int64               // where a cut aims
}

// FitResult is where the window starts. Fits is false if even the newest unit alone is over the limit.
type FitResult struct {
	Window conversation.Window
	Tokens int64
	Fits   bool
}

// movable is the part of the budget that a cut leaves at least for the tail, as a divisor, where what is always shown takes
// so much that the target alone would leave next to nothing.
const movable = 4

// Fit chooses the window (behaviour §8). While everything from the window's start on fits, the window stays. Once it does not,
// the start moves forward, past whole units, until the context weighs about the target: rare deep cuts cost less than frequent
// shallow ones. The newest unit always stays. The newest user message before the start is shown if it fits; it keeps its place
// until the start moves again, so that a newer one does not rewrite the prefix. The work grows with the number of pieces.
func Fit(in FitInput) FitResult {
	s := newSums(&in)
	from := in.from()
	if total := s.total(from, in.Now.Anchor); total <= in.Limit {
		return FitResult{Window: in.Now, Tokens: total, Fits: true}
	}
	cut := in.cut(s, from)
	w := conversation.Window{Start: in.Pieces[cut].First, Anchor: s.anchors[cut], Restored: in.Now.Restored}
	total := s.total(cut, w.Anchor)
	if total > in.Limit && w.Anchor >= 0 {
		w.Anchor = -1
		total = s.total(cut, -1)
	}
	return FitResult{Window: w, Tokens: total, Fits: total <= in.Limit}
}

// from is the first piece of the window in force.
func (in *FitInput) from() int {
	for i := range in.Pieces {
		if in.Pieces[i].First >= in.Now.Start {
			return i
		}
	}
	return len(in.Pieces) - 1
}

// cut chooses the piece to start at: of the first one that brings the context down to the target and the one before it, the
// nearer to the target. It never goes back, and never past the newest unit.
func (in *FitInput) cut(s *sums, from int) int {
	target := min(max(in.Target, s.always+in.Limit/movable), in.Limit)
	last := len(in.Pieces) - 1
	for i := from + 1; i <= last; i++ {
		below := s.total(i, s.anchors[i])
		if below > target {
			continue
		}
		above := s.total(i-1, s.anchors[i-1])
		if i-1 > from && above <= in.Limit && above-target < target-below {
			return i - 1
		}
		return i
	}
	return last
}

// sums answers what a context weighs, for any start, without adding it up again.
type sums struct {
	always  int64           // what is shown wherever the window starts
	tail    []int64         // of the pieces from an index on that are not always shown
	anchors []int32         // the newest user message before an index that is not shown anyway, or -1
	users   map[int32]int64 // weights of the messages that may be anchors
}

func newSums(in *FitInput) *sums {
	n := len(in.Pieces)
	s := &sums{always: in.Fixed, tail: make([]int64, n+1), anchors: make([]int32, n), users: map[int32]int64{}}
	newest := int32(-1)
	if in.Anchor != nil {
		newest = in.Anchor.First
		s.users[newest] = in.Anchor.Tokens
	}
	for i := n - 1; i >= 0; i-- {
		p := &in.Pieces[i]
		s.tail[i] = s.tail[i+1]
		if p.Always {
			s.always += p.Tokens
		} else {
			s.tail[i] += p.Tokens
		}
	}
	s.findAnchors(in, newest)
	return s
}

// findAnchors says for every start which user message stands before it: the newest of all, if the start has passed it.
func (s *sums) findAnchors(in *FitInput, before int32) {
	at := -1
	for i := range in.Pieces {
		if in.Pieces[i].User {
			at = i
		}
	}
	anchor := before
	if at >= 0 {
		anchor = -1
		if p := &in.Pieces[at]; !p.Always {
			anchor = p.First
			s.users[anchor] = p.Tokens
		}
	}
	for i := range s.anchors {
		s.anchors[i] = anchor
		if i <= at {
			s.anchors[i] = -1
		}
	}
}

// total is what a context weighs that starts at a piece and shows the anchor before it.
func (s *sums) total(start int, anchor int32) int64 {
	n := s.always + s.tail[start]
	if anchor >= 0 {
		n += s.users[anchor]
	}
	return n
}
