package compaction_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// reference says what Fit owes, adding everything up anew for every question.
type reference struct{ compaction.FitInput }

// weighs is what a context weighs that starts at a piece and shows an anchor.
func (r reference) weighs(start int, anchor int32) int64 {
	n := r.Fixed
	shown := false
	for i, p := range r.Pieces {
		if p.Always || i >= start || p.First == anchor {
			n += p.Tokens
			shown = shown || p.First == anchor
		}
	}
	if r.Anchor != nil && r.Anchor.First == anchor && !shown {
		n += r.Anchor.Tokens
	}
	return n
}

// anchor is the newest user message, if a start leaves it behind and nothing else shows it.
func (r reference) anchor(start int) int32 {
	newest := -1
	for i, p := range r.Pieces {
		if p.User {
			newest = i
		}
	}
	switch {
	case newest < 0 && r.Anchor == nil:
		return -1
	case newest < 0:
		return r.Anchor.First
	case newest >= start || r.Pieces[newest].Always:
		return -1
	default:
		return r.Pieces[newest].First
	}
}

func (r reference) at(start int) int64 { return r.weighs(start, r.anchor(start)) }

// target is where a cut aims: what is always shown leaves the tail a quarter of the budget at least.
func (r reference) target() int64 {
	always := r.Fixed
	for _, p := range r.Pieces {
		if p.Always {
			always += p.Tokens
		}
	}
	return min(max(r.Target, always+r.Limit/4), r.Limit)
}

func (r reference) piece(first int32) int {
	return slices.IndexFunc(r.Pieces, func(p compaction.Piece) bool { return p.First == first })
}

func drawInput(t *rapid.T) compaction.FitInput {
	in := compaction.FitInput{Now: conversation.Window{Start: rapid.Int32Range(0, 20).Draw(t, "start"), Anchor: -1}}
	first := in.Now.Start
	for range rapid.IntRange(1, 12).Draw(t, "pieces") {
		in.Pieces = append(in.Pieces, compaction.Piece{
			First: first, Tokens: rapid.Int64Range(0, 60).Draw(t, "tokens"),
			Always: rapid.IntRange(0, 5).Draw(t, "always") == 0, User: rapid.IntRange(0, 3).Draw(t, "user") == 0,
		})
		first += rapid.Int32Range(1, 4).Draw(t, "messages")
	}
	if in.Now.Start > 0 && rapid.Bool().Draw(t, "user before") {
		in.Anchor = &compaction.Piece{
			First: rapid.Int32Range(0, in.Now.Start-1).Draw(t, "user at"), Tokens: rapid.Int64Range(0, 60).Draw(t, "user tokens"), User: true,
		}
		if rapid.Bool().Draw(t, "anchored") {
			in.Now.Anchor = in.Anchor.First
		}
	}
	in.Fixed = rapid.Int64Range(0, 100).Draw(t, "fixed")
	in.Limit = rapid.Int64Range(1, 500).Draw(t, "limit")
	in.Target = in.Limit * rapid.Int64Range(1, 100).Draw(t, "target") / 100
	return in
}

// TestFit_AnyInput_KeepsItsPromises holds fit to behaviour §8.
func TestFit_AnyInput_KeepsItsPromises(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		in := drawInput(t)
		r, got := reference{in}, compaction.Fit(in)
		last := len(in.Pieces) - 1
		start := r.piece(got.Window.Start)
		if start < 0 || got.Window.Start < in.Now.Start {
			t.Fatalf("the window moved from %d to %d, which is no piece's first", in.Now.Start, got.Window.Start)
		}
		if weight := r.weighs(start, got.Window.Anchor); got.Tokens != weight || got.Fits != (weight <= in.Limit) {
			t.Fatalf("%+v: weighs %d, the limit is %d", got, weight, in.Limit)
		}
		if got.Fits != (r.weighs(last, -1) <= in.Limit) {
			t.Fatalf("%+v: with the newest unit alone it weighs %d of %d", got, r.weighs(last, -1), in.Limit)
		}
		if !got.Fits && (start != last || got.Window.Anchor >= 0) {
			t.Fatalf("%+v: over the limit, and not at its smallest", got)
		}
		if whole := r.weighs(0, in.Now.Anchor); whole <= in.Limit {
			if got.Window != in.Now {
				t.Fatalf("everything fits (%d), yet the window moved: %+v", whole, got)
			}
			return
		}
		r.checkCut(t, start, got)
	})
}

// checkCut holds a window that had to move to its aim: as near to the target as a start can be.
func (r reference) checkCut(t *rapid.T, start int, got compaction.FitResult) {
	if want := r.anchor(start); got.Window.Anchor != want && (got.Window.Anchor != -1 || r.weighs(start, want) <= r.Limit) {
		t.Fatalf("the anchor is %d, not %d, which fits", got.Window.Anchor, want)
	}
	if start == 0 && len(r.Pieces) > 1 {
		t.Fatalf("nothing was cut: %+v", got)
	}
	off := func(i int) int64 { return max(r.at(i)-r.target(), r.target()-r.at(i)) }
	last := len(r.Pieces) - 1
	for i := 1; i <= last; i++ {
		if r.at(i) <= r.Limit && off(i) < off(start) {
			t.Fatalf("piece %d weighs %d and is nearer to %d than piece %d with %d", i, r.at(i), r.target(), start, r.at(start))
		}
	}
}

func unitsOf(tokens ...int64) []compaction.Piece {
	var out []compaction.Piece
	for i, n := range tokens {
		out = append(out, compaction.Piece{First: int32(10 * i), Tokens: n})
	}
	return out
}

func TestFit_Cut_Table(t *testing.T) {
	user := func(pieces []compaction.Piece, at int) []compaction.Piece { pieces[at].User = true; return pieces }
	always := func(pieces []compaction.Piece, at int) []compaction.Piece { pieces[at].Always = true; return pieces }
	none := conversation.Window{Anchor: -1}
	for _, tt := range []struct {
		name   string
		in     compaction.FitInput
		start  int32
		anchor int32
		fits   bool
	}{
		{"all fits to the token", compaction.FitInput{Pieces: unitsOf(40, 40, 20), Now: none, Limit: 100, Target: 50}, 0, -1, true},
		{"one token over", compaction.FitInput{Pieces: unitsOf(40, 40, 21), Now: none, Limit: 100, Target: 50}, 10, -1, true},
		{"to the target", compaction.FitInput{Pieces: unitsOf(40, 40, 25, 25), Now: none, Limit: 100, Target: 50}, 20, -1, true},
		{"nearest below", compaction.FitInput{Pieces: unitsOf(60, 45, 45), Now: none, Limit: 100, Target: 50}, 20, -1, true},
		{"nearest above", compaction.FitInput{Pieces: unitsOf(60, 35, 25), Now: none, Limit: 100, Target: 50}, 10, -1, true},
		{"a tie goes below", compaction.FitInput{Pieces: unitsOf(60, 20, 40), Now: none, Limit: 100, Target: 50}, 20, -1, true},
		{"never above the limit", compaction.FitInput{Pieces: unitsOf(10, 101, 9), Now: none, Limit: 100, Target: 90}, 20, -1, true},
		{"the newest alone fits not", compaction.FitInput{Pieces: unitsOf(10, 101), Now: none, Limit: 100, Target: 50}, 10, -1, false},
		{"one piece", compaction.FitInput{Pieces: unitsOf(101), Now: none, Limit: 100, Target: 50}, 0, -1, false},
		{"fixed input alone is over", compaction.FitInput{Fixed: 200, Pieces: unitsOf(1, 1), Now: none, Limit: 100, Target: 50}, 10, -1, false},
		{"what is always shown leaves the tail a quarter", compaction.FitInput{Fixed: 60, Pieces: unitsOf(10, 10, 10, 10, 10), Now: none, Limit: 100, Target: 50}, 30, -1, true},
		{"the user's question stays", compaction.FitInput{Pieces: user(unitsOf(10, 60, 25, 15), 0), Now: none, Limit: 100, Target: 50}, 20, 0, true},
		{"unless it does not fit", compaction.FitInput{Pieces: user(unitsOf(60, 50), 0), Now: none, Limit: 100, Target: 50}, 10, -1, true},
		{"the newest question, not an older one", compaction.FitInput{Pieces: user(user(unitsOf(10, 10, 60, 25), 0), 1), Now: none, Limit: 100, Target: 50}, 30, 10, true},
		{"a question in the tail needs no anchor", compaction.FitInput{Pieces: user(unitsOf(60, 10, 35), 1), Now: none, Limit: 100, Target: 50}, 10, -1, true},
		{"a pinned question needs no anchor", compaction.FitInput{Pieces: always(user(unitsOf(10, 60, 25, 15), 0), 0), Now: none, Limit: 100, Target: 50}, 20, -1, true},
		{"a pinned piece stays in the sum", compaction.FitInput{Pieces: always(unitsOf(10, 60, 15, 15, 15), 1), Now: none, Limit: 100, Target: 50}, 30, -1, true},
		{"a question from before the window", compaction.FitInput{
			Pieces: unitsOf(60, 30, 20), Anchor: &compaction.Piece{First: 3, Tokens: 5}, Now: none, Limit: 100, Target: 50,
		}, 10, 3, true},
		{"that takes too much", compaction.FitInput{
			Pieces: unitsOf(60, 60), Anchor: &compaction.Piece{First: 3, Tokens: 50}, Now: none, Limit: 100, Target: 50,
		}, 10, -1, true},
		{"an anchor in force stays while all fits, though it is not the newest", compaction.FitInput{
			Pieces: user(unitsOf(10, 10), 0), Anchor: &compaction.Piece{First: 3, Tokens: 5}, Now: conversation.Window{Anchor: 3}, Limit: 100, Target: 50,
		}, 0, 3, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := compaction.Fit(tt.in)
			want := conversation.Window{Start: tt.start, Anchor: tt.anchor}
			if got.Window != want || got.Fits != tt.fits {
				t.Errorf("got %+v, want %+v, fits %v", got, want, tt.fits)
			}
		})
	}
}

// TestFit_GrowingConversation_CutsRarely: rare deep cuts cost less than frequent shallow ones (behaviour §8), and a start never
// moves back.
func TestFit_GrowingConversation_CutsRarely(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		const limit = 1000
		now, cuts := conversation.Window{Anchor: -1}, 0
		var pieces []compaction.Piece
		for i := range int32(200) {
			pieces = append(pieces, compaction.Piece{First: i, Tokens: rapid.Int64Range(1, 50).Draw(t, "tokens")})
			got := compaction.Fit(compaction.FitInput{Pieces: pieces, Now: now, Limit: limit, Target: limit / 2})
			if !got.Fits || got.Window.Start < now.Start {
				t.Fatalf("step %d: from %+v to %+v", i, now, got)
			}
			if got.Window != now {
				cuts++
				pieces = slices.DeleteFunc(pieces, func(p compaction.Piece) bool { return p.First < got.Window.Start })
			}
			now = got.Window
		}
		if most := 200 * 50 / 450; cuts > most {
			t.Fatalf("%d cuts", cuts)
		}
	})
}
