package search

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
	"sort"
)

// blockBytes is the block size of an index: large enough for a few excerpts, small enough to be read again in each search.
const blockBytes = 1024

// index maps terms to the blocks of a text that contain them. Terms are truncated to as many bits as distinguish most of them: terms that
// share a key share its blocks, and reading these again tells them apart. Keys are sorted and stored as differences, each with the length
// of its postings and the postings as differences, all as varints.
type index struct {
	data  []byte
	marks []indexMark // of each indexStride-th key
	shift uint8       // how many bits of terms are cut off
}

type indexMark struct {
	key term
	at  uint32
}

const (
	indexStride = 64
	indexSpread = 6 // how many bits more keys have than would number them
)

// indexer collects the entries of an index.
type indexer struct {
	ids      map[term]uint32
	terms    []indexEntry
	gathered []indexPosting // in order of blocks
	overflow bool           // grows faster than the text
}

type indexEntry struct {
	term  term
	last  int32 // the last block it was seen in
	count uint32
	start uint32
}

type indexPosting struct{ id, block uint32 }

func newIndexer(size int) *indexer {
	return &indexer{ids: make(map[term]uint32, size/256), gathered: make([]indexPosting, 0, size/8)}
}

// indexHeadStart is how much larger than the text so far an index may become before it is given up: words repeat later.
const indexHeadStart = 64 << 10

func (x *indexer) add(t token) {
	if x.overflow {
		return
	}
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
		x.gathered = append(x.gathered, indexPosting{id, uint32(block)})
		x.overflow = 2*len(x.terms)+len(x.gathered) > int(t.from)+indexHeadStart
	}
}

// postings returns the blocks of all terms, one term after the other.
func (x *indexer) postings() []uint32 {
	start := uint32(0)
	for i := range x.terms {
		x.terms[i].start = start
		start += x.terms[i].count
	}
	out := make([]uint32, start)
	for _, p := range x.gathered {
		e := &x.terms[p.id]
		out[e.start] = p.block
		e.start++
	}
	return out
}

// index sorts what was collected. The indexer must not be used afterwards.
func (x *indexer) index() index {
	postings := x.postings()
	out := index{shift: uint8(max(0, 32-indexSpread-bits.Len(uint(len(x.terms)))))}
	slices.SortFunc(x.terms, func(a, b indexEntry) int { return cmp.Compare(a.term, b.term) })
	data, list, before, keys := make([]byte, 0, 4*len(x.terms)+len(x.gathered)), []byte(nil), term(0), 0
	for i := 0; i < len(x.terms); keys++ {
		key, first := x.terms[i].term>>out.shift, i
		for i < len(x.terms) && x.terms[i].term>>out.shift == key {
			i++
		}
		if keys%indexStride == 0 {
			out.marks = append(out.marks, indexMark{key, uint32(len(data))})
			before = key
		}
		list = appendPostings(list[:0], blocksOf(x.terms[first:i], postings))
		data = binary.AppendUvarint(data, uint64(key-before))
		data = binary.AppendUvarint(data, uint64(len(list)))
		data = append(data, list...)
		before = key
	}
	out.data, out.marks = slices.Clone(data), slices.Clone(out.marks)
	return out
}

// blocksOf returns the blocks of terms that share a key, in order.
func blocksOf(terms []indexEntry, postings []uint32) []uint32 {
	if len(terms) == 1 {
		return postings[terms[0].start-terms[0].count : terms[0].start]
	}
	var all []uint32
	for _, e := range terms {
		all = append(all, postings[e.start-e.count:e.start]...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func appendPostings(out []byte, blocks []uint32) []byte {
	before := uint32(0)
	for _, b := range blocks {
		out = binary.AppendUvarint(out, uint64(b-before))
		before = b
	}
	return out
}

// find appends the blocks that contain a term, in order.
func (x *index) find(t term, out []int32) []int32 {
	key := t >> x.shift
	m := sort.Search(len(x.marks), func(i int) bool { return x.marks[i].key > key }) - 1
	if m < 0 {
		return out
	}
	at, current := int(x.marks[m].at), x.marks[m].key
	for range indexStride {
		if at >= len(x.data) {
			return out
		}
		delta, n := binary.Uvarint(x.data[at:])
		length, k := binary.Uvarint(x.data[at+n:])
		at += n + k
		current += term(delta)
		if current == key {
			return readPostings(x.data[at:at+int(length)], out)
		}
		if current > key {
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
