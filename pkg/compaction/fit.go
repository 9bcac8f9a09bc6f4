package compaction

import "github.com/palimpsest-context/palimpsest/pkg/conversation"

// Piece is a unit as fit sees it.
type Piece struct {
	First  int32
	Tokens int64
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
// until the start moves again, so that a newer one does not rewrite the prefix.
func Fit(in FitInput) FitResult {
	from := in.from()
	if total := in.total(from, in.Now.Anchor); total <= in.Limit {
		return FitResult{Window: conversation.Window{Start: in.Now.Start, Anchor: in.Now.Anchor}, Tokens: total, Fits: true}
	}
	last := len(in.Pieces) - 1
	cut := in.cut(from, last)
	w := conversation.Window{Start: in.Pieces[cut].First, Anchor: in.anchor(cut)}
	total := in.total(cut, w.Anchor)
	if total > in.Limit && w.Anchor >= 0 {
		w.Anchor = -1
		total = in.total(cut, -1)
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
func (in *FitInput) cut(from, last int) int {
	target := in.target()
	for i := from + 1; i <= last; i++ {
		below := in.total(i, in.anchor(i))
		if below > target {
			continue
		}
		above := in.total(i-1, in.anchor(i-1))
		if i-1 > from && above <= in.Limit && above-target < target-below {
			return i - 1
		}
		return i
	}
	return last
}

func (in *FitInput) target() int64 {
	always := in.Fixed
	for i := range in.Pieces {
		if in.Pieces[i].Always {
			always += in.Pieces[i].Tokens
		}
	}
	return min(max(in.Target, always+in.Limit/movable), in.Limit)
}

// anchor is the newest user message if it lies before the piece at cut and is not shown anyway, else -1.
func (in *FitInput) anchor(cut int) int32 {
	for i := len(in.Pieces) - 1; i >= 0; i-- {
		if !in.Pieces[i].User {
			continue
		}
		if i >= cut || in.Pieces[i].Always {
			return -1
		}
		return in.Pieces[i].First
	}
	if in.Anchor != nil {
		return in.Anchor.First
	}
	return -1
}

// total is what a context weighs that starts at a piece and shows the anchor.
func (in *FitInput) total(start int, anchor int32) int64 {
	n := in.Fixed
	for i := range in.Pieces {
		p := &in.Pieces[i]
		if i >= start || p.Always || p.First == anchor {
			n += p.Tokens
		}
	}
	if in.Anchor != nil && in.Anchor.First == anchor {
		n += in.Anchor.Tokens
	}
	return n
}
