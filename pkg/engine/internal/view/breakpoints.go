package view

import "github.com/palimpsest-context/palimpsest/pkg/provider"

// Breakpoints are the blocks behind which a cache breakpoint pays off: the system messages, the last block before the tail, and the last
// recorded block. If the provider cannot find the end of the previous build by itself (earlier, from EarlierEnd), that end is marked in
// place of the block before the tail. So a caller who also marks tools stays within the provider's limit.
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

// RecordEnd is how many leading blocks show recorded messages: a synthetic last block comes and goes.
func RecordEnd(blocks []provider.Block) int {
	end := len(blocks)
	for end > 0 && blocks[end-1].Index < 0 {
		end--
	}
	return end
}

// EarlierEnd is how many leading blocks show the recorded messages of the previous build, if these are unchanged and lie so far back that
// the provider does not find them from the end. A provider looks at lookback blocks, including the marked one. In other cases it is 0.
func (out *Composition) EarlierEnd(lookback int, before []provider.Block) int32 {
	n := RecordEnd(before)
	if lookback == 0 || RecordEnd(out.Blocks)-n < lookback || provider.CommonPrefix(before[:n], out.Blocks) < n {
		return 0
	}
	return int32(n)
}
