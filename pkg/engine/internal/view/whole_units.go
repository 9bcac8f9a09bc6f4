package view

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// WholeUnits is the smallest number of leading blocks, at least least, that end with a unit and show the whole tail before a message. So
// no call is separated from its results.
func (out *Composition) WholeUnits(least int, before int32) int {
	for i := out.Tail; i < len(out.Units); i++ {
		if n := out.starts[i]; n >= least && n >= out.head && n > 0 && n < len(out.Blocks) && out.Units[i].First() >= before {
			return n
		}
	}
	return len(out.Blocks)
}

// Within returns the units that the first blocks (their number) show.
func (out *Composition) Within(blocks int) []conversation.Unit {
	n, _ := slices.BinarySearch(out.starts, blocks)
	return out.Units[:n]
}
