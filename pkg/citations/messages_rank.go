package citations

import (
	"cmp"
	"math"
	"slices"
)

// Hit is a message that answers a query.
type Hit struct {
	Index int32
	Score float64 // comparable within one search alone
}

// SearchMessages ranks messages of several runs, whose indices rise from run to run, best first, at most limit. Messages that keep
// refuses are not hits (nil keeps all).
func SearchMessages(q *Query, runs []*Messages, keep func(index int32) bool, limit int) []Hit {
	b := newBinding(q)
	b.add(0)
	var indices, lengths []int32
	total := 0.0
	for _, m := range runs {
		indices = append(indices, m.indices...)
		lengths = append(lengths, m.lengths...)
	}
	for _, n := range lengths {
		total += float64(n)
	}
	scores := make([]float64, len(indices))
	mean := total / float64(max(1, len(indices)))
	for w, terms := range b.terms {
		counts := map[int32]int32{}
		first := int32(0)
		for _, m := range runs {
			for _, t := range terms {
				for _, p := range m.postings[t] {
					counts[first+p.at] += p.count
				}
			}
			first += int32(len(m.indices))
		}
		idf := math.Log(1 + (float64(len(indices)-len(counts))+0.5)/(float64(len(counts))+0.5))
		for at, n := range counts {
			f := float64(n)
			scores[at] += q.words[w].weight * idf * f * 2 / (f + 1*(0.6+0.4*float64(lengths[at])/mean))
		}
	}
	var hits []Hit
	for i, s := range scores {
		if i > 0 {
			s += 0.2 * scores[i-1]
		}
		if i+1 < len(scores) {
			s += 0.1 * scores[i+1]
		}
		if s > 0 && (keep == nil || keep(indices[i])) {
			hits = append(hits, Hit{indices[i], s})
		}
	}
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(b.Score, a.Score) })
	return hits[:min(len(hits), max(limit, 0))]
}
