package citations

import "sort"

// maxTitleBytes is how much of the titles over a passage counts.
const maxTitleBytes = 256

// titles are what stands over a position without being near it: the title of its section, or the keys of the JSON objects that it
// lies in, the nearest first.
func (d *Document) titles(at int) (out []span) {
	room := maxTitleBytes
	add := func(from, to int) {
		to = runeStart(d.text, max(from, min(to, from+room, len(d.text))))
		if room -= to - from; to > from {
			out = append(out, span{from, to})
		}
	}
	if j := d.reading.json; j != nil {
		for n := j.nodes[j.nodeAt(at)]; n.parent >= 0 && room > 0; n = j.nodes[n.parent] {
			if start := int(n.start); j.text[start] == '"' {
				add(start+1, jsonStringEnd(j.text, start)-1)
			}
		}
	} else if i := sort.Search(len(d.reading.headings), func(i int) bool { return int(d.reading.headings[i].from) > at }) - 1; i >= 0 {
		add(int(d.reading.headings[i].from), int(d.reading.headings[i].to))
	}
	return out
}

// nodeAt is the innermost array or object that is split and that a position lies in.
func (j *jsonShape) nodeAt(at int) int32 {
	node := int32(max(0, sort.Search(len(j.nodes), func(i int) bool { return int(j.nodes[i].start) > at })-1))
	for j.nodes[node].parent >= 0 && int(j.nodes[node].end) <= at {
		node = j.nodes[node].parent
	}
	return node
}

// titled says whether anything stands over any position.
func (d *Document) titled() bool {
	return len(d.reading.headings) > 0 || (d.reading.json != nil && len(d.reading.json.nodes) > 1)
}

// scan emits the tokens of the text, and at the beginning of each block those of the titles over it.
func (d *Document) scan(l *lexer, emit func(token)) {
	if !d.titled() {
		l.scan(d.text, 0, len(d.text), emit)
		return
	}
	over, next := newLexer(d.lang), 0
	over.only = l.only
	l.scan(d.text, 0, len(d.text), func(t token) {
		for ; next <= int(t.from); next += blockBytes {
			for _, s := range d.titles(next) {
				over.scan(d.text, s.from, s.to, func(title token) {
					title.from = int32(next)
					emit(title)
				})
			}
		}
		emit(t)
	})
}

// titleWords are the words of a query in the titles over a position.
func (d *Document) titleWords(b *binding, l *lexer, at int) (words []int32) {
	if !d.titled() {
		return nil
	}
	for _, s := range d.titles(at) {
		l.scan(d.text, s.from, s.to, func(t token) {
			if w, ok := b.of[t.term]; ok {
				words = append(words, w)
			}
		})
	}
	return words
}
