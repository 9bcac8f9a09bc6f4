package search

import (
	"slices"
	"sort"
)

// scannedSpan is a part of a text that a search read again, with its hits.
type scannedSpan struct {
	hits         []hit
	segments     []segment
	titles       [][]int32 // query words in the titles over each segment; nil if there are no titles
	startsInside bool      // begins within a segment
	isLast       bool      // nothing follows it
	dataItems    bool      // segments are independent data items
}

// read finds a query's words in text[from:to], for passages of at most maxChars characters.
func (d *Document) read(b *queryTermIndex, l *lexer, from, to int, maxChars int32) scannedSpan {
	s := scannedSpan{segments: segments(d.reading, from, to, maxChars), startsInside: from > 0, isLast: to == len(d.text), dataItems: d.reading.IsData()}
	at := 0
	l.scan(d.text, from, to, func(t token) {
		w, partial, ok := b.find(t)
		if !ok {
			return
		}
		for at+1 < len(s.segments) && s.segments[at+1].from <= t.from {
			at++
		}
		s.hits = append(s.hits, hit{from: t.from, to: t.to, pos: t.pos, word: w, segment: int32(at), partial: partial})
	})
	if d.reading.HasTitles() {
		s.titles = make([][]int32, len(s.segments))
		for i, one := range s.segments {
			s.titles[i] = d.titleWords(b, l, int(one.from))
		}
	}
	return s
}

// titlesOver returns the query words in the titles over a segment.
func (s *scannedSpan) titlesOver(i int) []int32 {
	if s.titles == nil {
		return nil
	}
	return s.titles[i]
}

// passage is a passage before its text is cut out.
type passage struct {
	from, to   int32 // the scored range
	first      bool  // nothing comes before it
	last       bool  // nothing follows it
	shown      segmentSpan
	score      float64
	share      float64 // factor for its score, because a part is shown elsewhere
	near       []hit   // hits in it and around it
	titleWords []int32 // query words in the titles over it
	phrases    uint32
}

// segmentSpan is a range of bytes from the start of a segment to the end of one.
type segmentSpan struct{ from, to int32 }

const (
	surroundingBytes = 700 // how far words around a passage count, in bytes
	passageStep      = 32  // minimum distance between the starts of passages, in bytes
	maxNear          = 512 // maximum number of hits that count
)

// passages returns the passages of a span that have a score: from the start of each segment, as many segments as fit.
func (s *scannedSpan) passages(sc *scorer, maxChars int32) (out []passage) {
	begun := int32(-passageStep)
	for i, j := 0, 0; i < len(s.segments); i++ {
		first := s.segments[i]
		if (i == 0 && s.startsInside && len(s.segments) > 1) || first.from < begun+passageStep {
			continue
		}
		begun = first.from
		j = max(i, j)
		for j+1 < len(s.segments) && s.segments[j+1].after-first.first <= maxChars {
			j++
		}
		if w := s.passage(sc, i, first.from, s.segments[j].to); w.score > 0 {
			w.shown.from = s.lead(i, j, maxChars)
			out = append(out, w)
		}
	}
	return out
}

// lead returns where the first segment begins that fits a passage with those from i to j, because what precedes tells what is spoken of.
func (s *scannedSpan) lead(i, j int, maxChars int32) int32 {
	for i > 0 && (i > 1 || !s.startsInside) && !s.dataItems && s.segments[j].after-s.segments[i-1].first <= maxChars {
		i--
	}
	return s.segments[i].from
}

// passage returns the passage [from, to), which begins in the ith segment.
func (s *scannedSpan) passage(sc *scorer, i int, from, to int32) passage {
	w := passage{from: from, to: to, shown: segmentSpan{from, to}, share: 1, near: s.near(from, to), titleWords: s.titlesOver(i)}
	if n := len(s.segments); n > 0 {
		w.first = !s.startsInside && from == s.segments[0].from
		w.last = s.isLast && to == s.segments[n-1].to
	}
	w.score = sc.score(&w)
	return w
}

func (s *scannedSpan) near(from, to int32) []hit {
	at := func(offset int32) int {
		return sort.Search(len(s.hits), func(i int) bool { return s.hits[i].from >= offset })
	}
	first, last := at(from-surroundingBytes), at(to+surroundingBytes)
	if last-first > maxNear {
		first = at(from)
		last = min(last, first+maxNear)
	}
	return s.hits[first:last]
}

const (
	repetitionPenalty = 0.8  // share of its score that a passage loses if it lies within an earlier one
	maxOverlap        = 0.7  // overlap with shown passages above which only the rest is shown
	allOverlap        = 0.95 // overlap above which there is no rest
	minRest           = 40   // bytes
)

// diversify keeps the best passages, best first, and lowers the score of those that overlap kept ones.
func diversify(ws []passage, limit int) (kept []passage) {
	worth := make([]float64, len(ws))
	for i := range ws {
		worth[i] = ws[i].score
	}
	for len(kept) < limit {
		best := largest(worth)
		if best < 0 {
			break
		}
		k := ws[best]
		worth[best] = 0
		if !k.trim(kept) {
			continue
		}
		kept = append(kept, k)
		for i, w := range ws {
			if w.from < k.to && k.from < w.to {
				worth[i] = min(worth[i], w.score*noveltyFactor(overlap(w.from, w.to, k.from, k.to)))
			}
		}
	}
	return kept
}

// trim removes what other passages show from a passage that mostly overlaps them, and reports whether anything is left.
func (w *passage) trim(others []passage) bool {
	for _, o := range others {
		part := overlap(w.shown.from, w.shown.to, o.shown.from, o.shown.to)
		if part <= maxOverlap || w.phrases&^o.phrases != 0 {
			continue
		}
		if o.shown.from-w.shown.from >= w.shown.to-o.shown.to {
			w.shown.to = o.shown.from
		} else {
			w.shown.from = o.shown.to
		}
		w.share, w.phrases = noveltyFactor(part), 0
		if w.shown.to-w.shown.from < minRest {
			return false
		}
	}
	return true
}

// body returns the range of a passage that is compared with others.
func (w *passage) body() (from, to int32) {
	if w.share < 1 {
		return w.shown.from, w.shown.to
	}
	return w.from, w.to
}

// noveltyFactor returns the factor for a passage's score, given how much of it lies in an earlier one.
func noveltyFactor(overlap float64) float64 {
	if overlap > allOverlap {
		return 0
	}
	return 1 - repetitionPenalty*overlap
}

// largest returns the index of the first largest positive value, -1 if there is none.
func largest(values []float64) int {
	best := -1
	for i, v := range values {
		if v > 0 && (best < 0 || v > values[best]) {
			best = i
		}
	}
	return best
}

// overlap returns how much of the shorter of two spans lies in the other.
func overlap(from, to, otherFrom, otherTo int32) float64 {
	both := min(to, otherTo) - max(from, otherFrom)
	return float64(max(both, 0)) / float64(max(1, min(to-from, otherTo-otherFrom)))
}

// passageHolding returns the passage for a phrase that no other contains: from the start of its segment if it fits, else from the phrase's
// own start.
func (s *scannedSpan) passageHolding(sc *scorer, text string, from, to, maxChars int32) passage {
	i := sort.Search(len(s.segments), func(i int) bool { return s.segments[i].from > from }) - 1
	start := from
	if i >= 0 && !(i == 0 && s.startsInside) && charsWithin(text[s.segments[i].from:to], maxChars) {
		start = s.segments[i].from
	}
	end := to
	for j := max(i, 0); j < len(s.segments); j++ {
		if s.segments[j].to > end && charsWithin(text[start:s.segments[j].to], maxChars) {
			end = s.segments[j].to
		}
	}
	return s.passage(sc, max(i, 0), start, end)
}

// charsWithin reports whether a text has at most most characters.
func charsWithin(text string, most int32) bool {
	for range text {
		if most--; most < 0 {
			return false
		}
	}
	return true
}

// span is a range of bytes in a text.
type span struct{ from, to int }

// mergeSpans sorts spans and joins those that touch.
func mergeSpans(spans []span) (out []span) {
	slices.SortFunc(spans, func(a, b span) int { return a.from - b.from })
	for _, s := range spans {
		if k := len(out); k > 0 && out[k-1].to >= s.from {
			out[k-1].to = max(out[k-1].to, s.to)
		} else {
			out = append(out, s)
		}
	}
	return out
}
