package view

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// WholeUnits is how many leading blocks show at least so many of them, and all of the tail before a message, and end with a unit: no call
// is parted from its results.
func (out *Composition) WholeUnits(least int, before int32) int {
	for i := out.Tail; i < len(out.Units); i++ {
		if n := out.starts[i]; n >= least && n >= out.head && n > 0 && n < len(out.Blocks) && out.Units[i].First() >= before {
			return n
		}
	}
	return len(out.Blocks)
}

// Within are the units that so many leading blocks show.
func (out *Composition) Within(blocks int) []conversation.Unit {
	n, _ := slices.BinarySearch(out.starts, blocks)
	return out.Units[:n]
}
