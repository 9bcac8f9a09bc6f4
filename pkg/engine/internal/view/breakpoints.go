package view

// Breakpoints are where a cache breakpoint pays: after the system messages, before the tail, and at the end of what is on
// record (a synthetic last block comes and goes).
func (out *Composition) Breakpoints() []int32 {
	end := len(out.Blocks)
	for end > 0 && out.Blocks[end-1].Index < 0 {
		end--
	}
	var points []int32
	for _, n := range []int{out.Lead, out.head, end} {
		if n > 0 && n <= end && (len(points) == 0 || points[len(points)-1] < int32(n-1)) {
			points = append(points, int32(n-1))
		}
	}
	return points
}
