package compaction

import "slices"

// Return says by how much a unit grows if the window starts behind a message that it needs, but not behind the unit itself.
type Return struct {
	Unit   int32 // its first message
	Needs  int32
	Tokens int64
}

// returned is how much units grow in all if a window starts at each of the units, oldest first. The work is linear, apart from one
// search for each return.
func returned(units []TailUnit, returns []Return) []int64 {
	out := make([]int64, len(units)+1)
	at := func(index int32) int {
		i, _ := slices.BinarySearchFunc(units, index, func(u TailUnit, index int32) int { return int(u.First) - int(index) })
		return i
	}
	for _, r := range returns {
		if from, to := at(r.Needs+1), min(at(r.Unit+1), len(units)); from < to {
			out[from] += r.Tokens
			out[to] -= r.Tokens
		}
	}
	for i := 1; i < len(out); i++ {
		out[i] += out[i-1]
	}
	return out[:len(units)]
}
