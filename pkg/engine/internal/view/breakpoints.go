package view

import "github.com/palimpsest-context/palimpsest/pkg/provider"

// Breakpoints are where a cache breakpoint pays: after the system messages, before the tail, and at the end of what is on record. Where the
// provider does not find the end of the build before by itself (earlier, as EarlierEnd counted it), that is marked in place of the tail's
// beginning: whoever marks tools too stays within what a provider takes.
func (out *Composition) Breakpoints(earlier int32) []int32 {
	end := RecordEnd(out.Blocks)
	middle := out.head
	if earlier > 0 {
		middle = int(earlier)
	}
	var points []int32
	for _, n := range []int{out.Lead, middle, end} {
		if n > 0 && n <= end && (len(points) == 0 || points[len(points)-1] < int32(n-1)) {
			points = append(points, int32(n-1))
		}
	}
	return points
}

// RecordEnd is how many leading blocks show what is on record: a synthetic last block comes and goes.
func RecordEnd(blocks []provider.Block) int {
	end := len(blocks)
	for end > 0 && blocks[end-1].Index < 0 {
		end--
	}
	return end
}

// EarlierEnd is how many leading blocks show what the build before had of the record, if they are the same and lie so far back that the
// provider does not find them from the end on: it looks at lookback blocks, the marked one among them. Else it is 0.
func (out *Composition) EarlierEnd(lookback int, before []provider.Block) int32 {
	n := RecordEnd(before)
	if lookback == 0 || RecordEnd(out.Blocks)-n < lookback || provider.CommonPrefix(before[:n], out.Blocks) < n {
		return 0
	}
	return int32(n)
}
