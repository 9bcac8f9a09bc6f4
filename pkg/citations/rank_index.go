package citations

import (
	"encoding/binary"
	"slices"
	"sort"
)

// blockBytes is how much of a text an index tells apart: large enough for a few excerpts, small enough to be read again at each search.
const blockBytes = 1024

// index says in which blocks of a text a term stands. Terms are in order, each as the difference to the one before it, with the
// length of its postings, and its postings as differences, all as varints.
type index struct {
	data   []byte
	marks  []indexMark // of each indexStride-th term
	blocks int
}

type indexMark struct {
	term term
	at   uint32
}

const indexStride = 64

// indexer gathers what an index is made of.
type indexer struct {
	ids    map[term]uint32
	terms  []indexEntry
	places []indexPlace // in order of blocks
}

type indexEntry struct {
	term  term
	last  int32 // the last block it was seen in
	count uint32
	start uint32
}

type indexPlace struct{ id, block uint32 }

func newIndexer(size int) *indexer {
	return &indexer{ids: make(map[term]uint32, size/256), places: make([]indexPlace, 0, size/8)}
}

func (x *indexer) add(t token) {
	id, ok := x.ids[t.term]
	if !ok {
		id = uint32(len(x.terms))
		x.ids[t.term] = id
		x.terms = append(x.terms, indexEntry{term: t.term, last: -1})
	}
	e := &x.terms[id]
	if block := t.from / blockBytes; block != e.last {
		e.last = block
		e.count++
		x.places = append(x.places, indexPlace{id, uint32(block)})
	}
}

// postings are the blocks of each term, one after the other.
func (x *indexer) postings() []uint32 {
	start := uint32(0)
	for i := range x.terms {
		x.terms[i].start = start
		start += x.terms[i].count
	}
	out := make([]uint32, start)
	for _, p := range x.places {
		e := &x.terms[p.id]
		out[e.start] = p.block
		e.start++
	}
	return out
}

func (x *indexer) index(blocks int) index {
	postings := x.postings()
	slices.SortFunc(x.terms, func(a, b indexEntry) int {
		if a.term < b.term {
			return -1
		}
		return 1
	})
	out := index{blocks: blocks, marks: make([]indexMark, 0, len(x.terms)/indexStride+1)}
	data, list, before := make([]byte, 0, 5*len(x.terms)+len(x.places)), []byte(nil), term(0)
	for i, e := range x.terms {
		if i%indexStride == 0 {
			out.marks = append(out.marks, indexMark{e.term, uint32(len(data))})
			before = e.term
		}
		list = appendPostings(list[:0], postings[e.start-e.count:e.start])
		data = binary.AppendUvarint(data, uint64(e.term-before))
		data = binary.AppendUvarint(data, uint64(len(list)))
		data = append(data, list...)
		before = e.term
	}
	out.data = slices.Clone(data)
	return out
}

func appendPostings(out []byte, blocks []uint32) []byte {
	before := uint32(0)
	for _, b := range blocks {
		out = binary.AppendUvarint(out, uint64(b-before))
		before = b
	}
	return out
}

// find appends the blocks that a term stands in, in order.
func (x *index) find(t term, out []int32) []int32 {
	m := sort.Search(len(x.marks), func(i int) bool { return x.marks[i].term > t }) - 1
	if m < 0 {
		return out
	}
	at, current := int(x.marks[m].at), x.marks[m].term
	for range indexStride {
		if at >= len(x.data) {
			return out
		}
		delta, n := binary.Uvarint(x.data[at:])
		length, k := binary.Uvarint(x.data[at+n:])
		at += n + k
		current += term(delta)
		if current == t {
			return readPostings(x.data[at:at+int(length)], out)
		}
		if current > t {
			return out
		}
		at += int(length)
	}
	return out
}

func readPostings(data []byte, out []int32) []int32 {
	block := int32(0)
	for len(data) > 0 {
		d, n := binary.Uvarint(data)
		block += int32(d)
		out = append(out, block)
		data = data[n:]
	}
	return out
}

func (x *index) size() int {
	return cap(x.data) + 8*cap(x.marks)
}
