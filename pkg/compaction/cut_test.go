package compaction_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/pkg/compaction"
)

// tail makes units of ten tokens from letters: u is a user message, a another message, e an exchange of 3 messages, x one of
// 6.
func tail(letters string) []compaction.TailUnit {
	var out []compaction.TailUnit
	first := int32(0)
	for _, l := range letters {
		p := compaction.TailUnit{First: first, Messages: map[rune]int32{'u': 1, 'a': 1, 'e': 3, 'x': 6}[l], Tokens: 10, User: l == 'u'}
		out = append(out, p)
		first += p.Messages
	}
	return out
}

func TestCut_Table(t *testing.T) {
	for _, tt := range []struct {
		name, units string
		keep        int32
		tail        int64
		want        int
	}{
		{"no units", "", 5, 100, 0},
		{"one unit", "u", 0, 0, 0},
		{"all of it stays", "aaaaa", 5, 50, 0},
		{"all of it stays, though a user speaks", "auaaa", 5, 50, 0},
		{"messages", "aaaaaaaa", 3, 1000, 5},
		{"tokens", "aaaaaaaa", 20, 30, 5},
		{"tokens, a little less", "aaaaaaaa", 20, 29, 6},
		{"messages of units", "aaaee", 6, 1000, 3},
		{"a unit is not split", "aaaee", 5, 1000, 4},
		{"the newest unit stays, however many messages", "aax", 1, 1000, 2},
		{"the newest unit stays, whatever it weighs", "aaa", 20, 9, 2},
		{"nothing to keep", "aaa", 0, 0, 2},
		{"at a user message already", "aaauau", 3, 1000, 3},
		{"later by one", "aaaaaaauaa", 4, 1000, 7},
		{"later by five", "aaaaaaaaaua", 7, 1000, 9},
		{"two too far on: 6 messages", "aaaaaaaaaaua", 8, 1000, 4},
		{"later, to the newest", "aaau", 2, 1000, 3},
		{"earlier by one", "aaauaaaa", 4, 50, 3},
		{"earlier by one, too heavy", "aaauaaaa", 4, 49, 4},
		{"earlier by five", "auaaaaaaaa", 4, 1000, 1},
		{"two too far back: 6 messages", "auaaaaaaaaa", 4, 1000, 7},
		{"an exchange lies between", "aueeaa", 2, 1000, 4},
		{"an exchange counts as its messages", "aaueaa", 2, 1000, 2},
		{"nearer is later", "aauaaaauaa", 4, 1000, 7},
		{"nearer is earlier", "aaaauaaaua", 5, 1000, 4},
		{"a tie goes to the earlier", "aauaaauaa", 5, 1000, 2},
		{"a tie goes to the later if the earlier is too heavy", "aaauauaa", 4, 40, 5},
		{"never back to the beginning", "uaaaaa", 3, 1000, 3},
	} {
		if got := compaction.Cut(compaction.CutInput{Units: tail(tt.units), Keep: tt.keep, Tail: tt.tail}); got != tt.want {
			t.Errorf("%s: %q cut at %d, want %d", tt.name, tt.units, got, tt.want)
		}
	}
}

// referenceCut finds the result of Cut by trying every position.
type referenceCut struct{ compaction.CutInput }

func (c referenceCut) messages(from, to int) (n int32) {
	for _, p := range c.Units[min(from, to):max(from, to)] {
		n += p.Messages
	}
	return n
}

func (c referenceCut) tokens(from int) (n int64) {
	for _, p := range c.Units[from:] {
		n += p.Tokens
	}
	return n
}

func (c referenceCut) cut() int {
	last := len(c.Units) - 1
	base := 0
	for base < last && (c.messages(base, last+1) > c.Keep || c.tokens(base) > c.Tail) {
		base++
	}
	if base == 0 {
		return 0
	}
	var places []int
	for i := 1; i <= last; i++ {
		if c.Units[i].User && c.messages(i, base) <= 5 && (i >= base || c.tokens(i) <= c.Tail) {
			places = append(places, i)
		}
	}
	slices.SortStableFunc(places, func(a, b int) int { return int(c.messages(a, base) - c.messages(b, base)) })
	return append(places, base)[0]
}

func TestCut_AnyTail_AgreesWithReference(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		in := compaction.CutInput{Keep: rapid.Int32Range(0, 25).Draw(t, "keep"), Tail: rapid.Int64Range(0, 300).Draw(t, "tail")}
		for range rapid.IntRange(0, 25).Draw(t, "pieces") {
			in.Units = append(in.Units, compaction.TailUnit{
				Messages: rapid.Int32Range(1, 4).Draw(t, "messages"), Tokens: rapid.Int64Range(0, 40).Draw(t, "tokens"),
				User: rapid.IntRange(0, 4).Draw(t, "user") == 0,
			})
		}
		if got, want := compaction.Cut(in), (referenceCut{in}).cut(); got != want {
			t.Fatalf("cut at %d, want %d", got, want)
		}
	})
}

func TestShrinks(t *testing.T) {
	for _, tt := range []struct {
		before, after, percent int64
		want                   bool
	}{
		{100, 90, 10, true}, {100, 91, 10, false}, {100, 0, 90, true}, {99, 90, 10, false}, {9, 8, 10, true},
		{100, 100, 0, false}, {100, 99, 0, true}, {100, 110, 10, false}, {0, 0, 10, false},
	} {
		if got := compaction.Shrinks(tt.before, tt.after, tt.percent); got != tt.want {
			t.Errorf("from %d to %d by %d percent: %v", tt.before, tt.after, tt.percent, got)
		}
	}
}
