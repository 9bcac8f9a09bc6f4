package search

import (
	"container/heap"
	"iter"
)

// Coding is the version of the codes that lines have. Lines of different ones are not searched together: whoever changes how texts are read,
// stemmed or coded raises it, and who keeps lines prepares them anew.
const Coding = 1

// Line is a message as the codes of its terms: what is kept outside and searched again without reading the text.
type Line struct {
	Codes    []byte
	Language uint8 // which language the terms are stemmed in
	Opening  uint8 // number of terms before an opening colon
	Question bool
}

// NewLine prepares a message that follows another one of its thread (nil for the first, or where that one is not known): a short message
// without evidence of its language is taken to be in that one's.
func NewLine(text string, before *Line) Line {
	var m Messages
	if before != nil && int(before.Language) < len(languageTable) {
		m.last = language(before.Language)
	}
	m.Add(0, text)
	e := m.entries[0]
	return Line{Codes: m.codes[:len(m.codes):len(m.codes)], Language: uint8(m.last), Opening: e.opening, Question: e.question}
}

// Thread is the lines of one conversation, in order. Lines of other threads are no context of its own.
type Thread []Line

// LineHit is a line that answers a query.
type LineHit struct {
	Line  int32   // counted over all threads, in order
	Score float64 // comparable within one search alone
	// Share is which part of the query the line covers with those beside it, 0 to 1: by how rare words are, without function words. Words
	// that no line contains count as the rarest, so that a request about something else has a small share of everything.
	Share float64
}

// RankLines ranks the lines of threads as RankMessages ranks messages, and yields those that keep takes (nil takes all) and whose share is
// at least floor, best first. The number of a line counts over all threads.
func RankLines(q *Query, threads []Thread, keep func(line int32) bool, floor float64) iter.Seq[LineHit] {
	return func(yield func(LineHit) bool) {
		r := newMessageRanking(q, lineThreads(threads))
		if !r.rank() {
			return
		}
		shares := r.newShares(threads)
		for best := r.hits(keep); len(best) > 0; heap.Pop(&best) {
			hit := best[0]
			if share := shares.of(hit.at); share >= floor && !yield(LineHit{Line: hit.at, Score: hit.Score, Share: share}) {
				return
			}
		}
	}
}

type lineThreads []Thread

func (threads lineThreads) spoken() (set uint32) {
	for _, t := range threads {
		for i := range t {
			set |= 1 << (t[i].Language % uint8(len(languageTable)))
		}
	}
	return set
}

func (threads lineThreads) count() (n int) {
	for _, t := range threads {
		n += len(t)
	}
	return n
}

func (threads lineThreads) each(give func(at int, e messageEntry, codes []byte)) {
	at := 0
	for _, t := range threads {
		for i := range t {
			l := &t[i]
			give(at, messageEntry{index: int32(at), opening: l.Opening, question: l.Question}, l.Codes)
			at++
		}
	}
}

func (threads lineThreads) threads(give func(from, end int)) {
	at := 0
	for _, t := range threads {
		if len(t) > 0 {
			give(at, at+len(t))
			at += len(t)
		}
	}
}
