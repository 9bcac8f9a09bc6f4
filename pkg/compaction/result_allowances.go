package compaction

import "slices"

// Allowances returns how many tokens each tool result of the newest unit may weigh so that all fit the room: the largest shrink first, down
// to the size of the next, and none shrinks more than needed (behaviour §4).
func Allowances(weights []int64, room int64) []int64 {
	sorted := slices.Clone(weights)
	slices.Sort(sorted)
	for i, w := range sorted {
		rest := int64(len(sorted) - i)
		if w*rest > room {
			limit, out := max(room, 0)/rest, slices.Clone(weights)
			for k := range out {
				out[k] = min(out[k], limit)
			}
			return out
		}
		room -= w
	}
	return weights
}
