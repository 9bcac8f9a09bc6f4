package conversation

import (
	"slices"
)

// InRanges reports whether one of the ranges contains a message.
func InRanges(ranges []Range, index int32) bool {
	return slices.ContainsFunc(ranges, func(r Range) bool { return r.Contains(index) })
}

// MergeRanges sorts ranges, joins adjacent ones and drops empty ones. It may reuse its argument.
func MergeRanges(ranges []Range) []Range {
	ranges = slices.DeleteFunc(ranges, func(r Range) bool { return r.Len() <= 0 })
	slices.SortFunc(ranges, func(a, b Range) int { return int(a.First) - int(b.First) })
	out := ranges[:0]
	for _, r := range ranges {
		if n := len(out); n > 0 && r.First <= out[n-1].End {
			out[n-1].End = max(out[n-1].End, r.End)
			continue
		}
		out = append(out, r)
	}
	return out
}

// SubtractRanges returns the parts of ranges that are in none of the others.
func SubtractRanges(ranges, others []Range) []Range {
	left := MergeRanges(slices.Clone(ranges))
	for _, o := range others {
		next := make([]Range, 0, 2*len(left))
		for _, r := range left {
			next = append(next, Range{First: r.First, End: min(r.End, o.First)},
				Range{First: max(r.First, o.End), End: r.End})
		}
		if o.Len() > 0 {
			left = MergeRanges(next)
		}
	}
	return left
}

// IntersectRanges returns the parts that are in both.
func IntersectRanges(a, b []Range) []Range {
	out := make([]Range, 0, len(a)*len(b))
	for _, r := range a {
		for _, o := range b {
			out = append(out, Range{First: max(r.First, o.First), End: min(r.End, o.End)})
		}
	}
	return MergeRanges(out)
}
