package rules

import (
	"errors"
	"slices"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// faults are the paths and texts that a table finds in a number.
func faults(t *testing.T, r Rule[int32], n int32) (out []string) {
	t.Helper()
	c := &Checker{}
	Table[int32]{r}.Check(c, n)
	var e *conversation.Error
	if errors.As(c.Err(), &e) {
		for _, v := range e.Violations {
			out = append(out, v.Field+" "+v.Text)
		}
	}
	return out
}

func even(c *Checker, n int32) {
	if n%2 != 0 {
		c.Fail("must be even")
	}
}

func TestRule_Also_FindsBothFaults(t *testing.T) {
	r := Number("n", NumberRange(0, 9), func(n int32) int32 { return n }).Also(even)
	for n, want := range map[int32][]string{4: nil, 5: {"n must be even"}, 11: {"n must be 0 to 9", "n must be even"}} {
		if got := faults(t, r, n); !slices.Equal(got, want) {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func TestRule_Then_AsksOnlyOfWhatIsGood(t *testing.T) {
	r := Number("n", NumberRange(0, 9), func(n int32) int32 { return n }).Then(even)
	for n, want := range map[int32][]string{4: nil, 5: {"n must be even"}, 11: {"n must be 0 to 9"}} {
		if got := faults(t, r, n); !slices.Equal(got, want) {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
