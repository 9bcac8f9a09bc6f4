package search

// maxTitleBytes is how much of the titles over a passage counts.
const maxTitleBytes = 256

// titles returns the ranges of the titles over a position.
func (d *Document) titles(at int) [][2]int {
	out := d.reading.Titles(at, maxTitleBytes)
	for i := range out {
		out[i][1] = min(out[i][1], len(d.text)) // of a text over 2 GiB, not all is searched
	}
	return out
}

// scan emits the tokens of the text, and at the start of each block those of the titles over it.
func (d *Document) scan(l *lexer, emit func(token)) {
	if !d.reading.HasTitles() {
		l.scan(d.text, 0, len(d.text), emit)
		return
	}
	over, next := newLexer(d.lang), 0
	over.prefixes = l.prefixes
	l.scan(d.text, 0, len(d.text), func(t token) {
		for ; next <= int(t.from); next += blockBytes {
			for _, s := range d.titles(next) {
				over.scan(d.text, s[0], s[1], func(title token) {
					title.from = int32(next)
					emit(title)
				})
			}
		}
		emit(t)
	})
}

// titleWords returns the query words in the titles over a position.
func (d *Document) titleWords(b *queryTermIndex, l *lexer, at int) (words []int32) {
	if !d.reading.HasTitles() {
		return nil
	}
	for _, s := range d.titles(at) {
		l.scan(d.text, s[0], s[1], func(t token) {
			if w, ok := b.wordOf[t.term]; ok {
				words = append(words, w)
			}
		})
	}
	return words
}
