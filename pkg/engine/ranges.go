package engine

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// merge sorts ranges, joins those that touch and drops empty ones. It may reuse its argument.
func merge(ranges []conversation.Range) []conversation.Range {
	ranges = slices.DeleteFunc(ranges, func(r conversation.Range) bool { return r.Len() <= 0 })
	slices.SortFunc(ranges, func(a, b conversation.Range) int { return int(a.First) - int(b.First) })
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

// subtract returns what of the ranges lies in none of the others.
func subtract(ranges, others []conversation.Range) []conversation.Range {
	left := merge(slices.Clone(ranges))
	for _, o := range others {
		next := make([]conversation.Range, 0, 2*len(left))
		for _, r := range left {
			next = append(next, conversation.Range{First: r.First, End: min(r.End, o.First)},
				conversation.Range{First: max(r.First, o.End), End: r.End})
		}
		if o.Len() > 0 {
			left = merge(next)
		}
	}
	return left
}

// intersect returns what lies in both.
func intersect(a, b []conversation.Range) []conversation.Range {
	out := make([]conversation.Range, 0, len(a)*len(b))
	for _, r := range a {
		for _, o := range b {
			out = append(out, conversation.Range{First: max(r.First, o.First), End: min(r.End, o.End)})
		}
	}
	return merge(out)
}
