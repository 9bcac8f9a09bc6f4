package search

import (
	"cmp"
	"math"
	"slices"
	"unsafe"

	"github.com/palimpsest-context/palimpsest/pkg/content"
)

// Document is a content prepared for search. It is immutable and safe for concurrent use.
type Document struct {
	reading *content.Reading
	text    string // of the reading, as far as it is searched
	lang    language
	index   *index // nil: all of the text is read at each search
}

// indexedBytes is the text size from which an index is built. Reading less takes a tenth of a millisecond.
const indexedBytes = 8 << 10

// NewDocument prepares a content for search: 2 MB in well under 100 ms. A content whose index would be larger than itself, such as one of short
// unique words, has none; searching it is slower. Only the first 2 GiB of a content are searched.
func NewDocument(r *content.Reading) *Document {
	d := &Document{reading: r, text: r.Text[:min(len(r.Text), math.MaxInt32-blockBytes)]}
	d.lang = languageOf(d.text)
	if len(d.text) < indexedBytes {
		return d
	}
	x := newIndexer(len(d.text))
	d.scan(newLexer(d.lang), x.add)
	if x.overflow {
		return d
	}
	found := x.index()
	if found.size() <= len(r.Content)-int(unsafe.Sizeof(Document{})+unsafe.Sizeof(index{})) {
		d.index = &found
	}
	return d
}

// Size returns the memory that the document takes besides the content, in bytes: its index takes at most as much as the content.
func (d *Document) Size() int64 {
	size := int64(unsafe.Sizeof(*d)) + d.reading.Size()
	if d.index != nil {
		size += int64(unsafe.Sizeof(*d.index)) + int64(d.index.size())
	}
	return size
}

// blocks returns the number of blocks of the text.
func (d *Document) blocks() int { return len(d.text)/blockBytes + 1 }

// postings returns the blocks that contain each word of a query, in order.
func (d *Document) postings(b *queryTermIndex, l *lexer) [][]int32 {
	out := make([][]int32, len(b.terms))
	if d.index == nil {
		d.scan(l, func(t token) {
			if w, ok := b.wordOf[t.term]; ok {
				if known := out[w]; len(known) == 0 || known[len(known)-1] != t.from/blockBytes {
					out[w] = append(known, t.from/blockBytes)
				}
			}
		})
		return out
	}
	for w, terms := range b.terms {
		for _, t := range terms {
			out[w] = d.index.find(t, out[w])
		}
		if len(terms) > 1 {
			slices.Sort(out[w])
			out[w] = slices.Compact(out[w])
		}
	}
	return out
}

// blocksRead is how many blocks of a text are read again in a search, plus those around them: about 100 KB.
const blocksRead = 48

// spansToScan returns the parts of the text that contain most of a query, and those around the given spans.
func (d *Document) spansToScan(postings [][]int32, weights []float64, also []span) []span {
	if len(d.text) < indexedBytes {
		return []span{{0, len(d.text)}}
	}
	var out []span
	add := func(first, last int) {
		from, to := max(0, first-1)*blockBytes, min(len(d.text), (last+2)*blockBytes)
		out = append(out, span{content.RuneStart(d.text, from), content.RuneStart(d.text, to)})
	}
	for _, b := range topBlocks(postings, weights, d.blocks(), blocksRead) {
		add(b, b)
	}
	for _, s := range also {
		add(s.from/blockBytes, s.to/blockBytes)
	}
	return mergeSpans(out)
}

// topBlocks returns the blocks with the highest score, counting the better of their neighbors, because a passage may span two.
func topBlocks(postings [][]int32, weights []float64, blocks, limit int) (order []int) {
	scores := make([]float64, blocks+2) // of block b at b+1
	for w, list := range postings {
		for _, b := range list {
			scores[b+1] += weights[w]
		}
	}
	for b := range blocks {
		if scores[b+1] > 0 {
			order = append(order, b)
		}
	}
	value := func(b int) float64 { return scores[b+1] + max(scores[b], scores[b+2])/2 }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(value(b), value(a)) })
	return order[:min(len(order), limit)]
}
