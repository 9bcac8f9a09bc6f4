package citations

import (
	"slices"
	"sort"
)

// stretch is a part of a text that is read again at a search, with what it holds of a query.
type stretch struct {
	hits     []hit
	segments []segment
	open     bool // begins within a segment
}

// read looks for a query's words in text[from:to].
func (d *Document) read(b *binding, l *lexer, from, to int) stretch {
	s := stretch{segments: segments(d.reading, from, to), open: from > 0}
	l.scan(d.reading.Text, from, to, func(t token) {
		if w, ok := b.of[t.term]; ok {
			s.hits = append(s.hits, hit{from: t.from, to: t.to, pos: t.pos, word: w})
		}
	})
	at := 0
	for i := range s.hits {
		for at+1 < len(s.segments) && s.segments[at+1].from <= s.hits[i].from {
			at++
		}
		s.hits[i].segment = int32(at)
	}
	return s
}

// window is a passage before it is cut out.
type window struct {
	from, to int32
	score    float64
	near     []hit // those in it and around it
}

// surroundings is how far, in bytes, the words around a passage say something of it.
const surroundings = 700

// windows are the passages of a stretch that hold anything, each from the beginning of a segment.
func (s *stretch) windows(sc *scorer, maxChars int32) (out []window) {
	for i, j := 0, 0; i < len(s.segments); i++ {
		if i == 0 && s.open && len(s.segments) > 1 {
			continue
		}
		j = max(i, j)
		for j+1 < len(s.segments) && s.segments[j+1].after-s.segments[i].first <= maxChars {
			j++
		}
		w := window{from: s.segments[i].from, to: s.segments[j].to}
		w.near = s.near(w.from, w.to)
		if w.score = sc.score(w.near, w.from, w.to); w.score > 0 {
			out = append(out, w)
		}
	}
	return out
}

func (s *stretch) near(from, to int32) []hit {
	first := sort.Search(len(s.hits), func(i int) bool { return s.hits[i].from >= from-surroundings })
	last := sort.Search(len(s.hits), func(i int) bool { return s.hits[i].from >= to+surroundings })
	return s.hits[first:last]
}

// apart keeps the best windows of which none covers most of another.
func apart(ws []window, limit int) []window {
	slices.SortStableFunc(ws, func(a, b window) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return int(a.from - b.from)
	})
	var kept []window
	for _, w := range ws {
		if !slices.ContainsFunc(kept, func(k window) bool { return overlap(w.from, w.to, k.from, k.to) > 0.3 }) {
			if kept = append(kept, w); len(kept) == limit {
				break
			}
		}
	}
	return kept
}

// overlap is how much of the shorter of two spans lies in the other.
func overlap(from, to, otherFrom, otherTo int32) float64 {
	both := min(to, otherTo) - max(from, otherFrom)
	return float64(max(both, 0)) / float64(max(1, min(to-from, otherTo-otherFrom)))
}
