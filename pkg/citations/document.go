package citations

import "unsafe"

// Document is a content made ready to be searched. It is immutable and safe for concurrent use.
type Document struct {
	reading *Reading
	lang    language
	index   *index // nil: all of the text is read at each search
}

// indexedBytes is from which size on a text is indexed. Reading less than that takes a tenth of a millisecond.
const indexedBytes = 8 << 10

// Prepare makes a content ready to be searched: 2 MB in well under 100 ms.
func Prepare(r *Reading) *Document {
	d := &Document{reading: r, lang: languageOf(r.Text)}
	if len(r.Text) < indexedBytes {
		return d
	}
	x := newIndexer(len(r.Text))
	newLexer(d.lang).scan(r.Text, 0, len(r.Text), x.add)
	found := x.index(len(r.Text)/blockBytes + 1)
	if found.size() <= len(r.Content)-int(unsafe.Sizeof(Document{})+unsafe.Sizeof(index{})) {
		d.index = &found
	}
	return d
}

// Size is what the document holds in memory beside the content, in bytes: at most as much as the content.
func (d *Document) Size() int64 {
	size := int64(unsafe.Sizeof(*d))
	if d.index != nil {
		size += int64(unsafe.Sizeof(*d.index)) + int64(d.index.size())
	}
	return size
}

// blocks is how many blocks the text has.
func (d *Document) blocks() int { return len(d.reading.Text)/blockBytes + 1 }

// postings are the blocks that each word of a query stands in.
func (d *Document) postings(b *binding) [][]int32 {
	out := make([][]int32, len(b.terms))
	if d.index == nil {
		newLexer(d.lang).scan(d.reading.Text, 0, len(d.reading.Text), func(t token) {
			if w, ok := b.of[t.term]; ok {
				if l := out[w]; len(l) == 0 || l[len(l)-1] != t.from/blockBytes {
					out[w] = append(l, t.from/blockBytes)
				}
			}
		})
		return out
	}
	for w, terms := range b.terms {
		for _, t := range terms {
			out[w] = d.index.find(t, out[w])
		}
	}
	return out
}
