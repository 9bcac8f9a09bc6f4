package bpe

// splitter cuts text into the pieces that tokens never cross. It does by hand, in one linear pass, what the vocabularies' published regular
// expressions say: a general engine spends most of a count's time there, and time quadratic in the input on runs of mixed white space.
type splitter struct {
	*classes
	// word returns the end of the word that starts at i, or i if none does.
	word func(t *classes, text string, i int) int
	// slash says whether a slash may follow the line breaks after punctuation.
	slash bool
}

// next returns the end of the piece that starts at i < len(text).
func (s *splitter) next(text string, i int) int {
	if end := s.word(s.classes, text, i); end > i {
		return end
	}
	if end := s.digits(text, i); end > i {
		return end
	}
	if end := s.punctuation(text, i); end > i {
		return end
	}
	return s.blank(text, i)
}

// digits is \p{N}{1,3}
func (s *splitter) digits(text string, i int) int {
	for range 3 {
		c, width := s.at(text, i)
		if c&number == 0 {
			break
		}
		i += width
	}
	return i
}

// punctuation is ` ?[^\s\p{L}\p{N}]+[\r\n]*`, or with [\r\n/]* at its end.
func (s *splitter) punctuation(text string, i int) int {
	start := i
	if text[i] == ' ' {
		start++
	}
	end := start
	for {
		c, width := s.at(text, end)
		if width == 0 || c&(space|letter|number) != 0 {
			break
		}
		end += width
	}
	if end == start {
		return i
	}
	for end < len(text) && (text[end] == '\n' || text[end] == '\r' || s.slash && text[end] == '/') {
		end++
	}
	return end
}

// blank is \s*[\r\n]+|\s+(?!\S)|\s+ and so leaves the last blank of a line to the word that follows.
func (s *splitter) blank(text string, i int) int {
	end, last, broken := i, i, i
	for {
		c, width := s.at(text, end)
		if c&space == 0 {
			break
		}
		last = end
		end += width
		if c&newline != 0 {
			broken = end
		}
	}
	if broken > i {
		return broken
	}
	if end == len(text) || last == i {
		return end
	}
	return last
}

// prefixed returns the start of the letters of a word at i, which may have one rune before them: [^\r\n\p{L}\p{N}]?
func prefixed(t *classes, text string, i int) int {
	c, width := t.at(text, i)
	if c&(letter|number|newline) != 0 {
		return i
	}
	return i + width
}

// wordO200k matches the two alternatives for words of o200k: capitals, then small
// letters, where letters without case and marks are both; with a contraction.
func wordO200k(t *classes, text string, i int) int {
	start := prefixed(t, text, i)
	end := caseWord(t, text, start)
	if c, _ := t.at(text, i); end == start && c&upper != 0 && start > i {
		// A mark was taken for the prefix, but is all there is of the word.
		start, end = i, caseWord(t, text, i)
	}
	if end == start {
		end = t.run(text, start, upper)
	}
	if end == start {
		return i
	}
	return end + contraction(text[end:])
}

// caseWord is [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+ and returns i if it does not match.
func caseWord(t *classes, text string, i int) int {
	end, closed := i, i
	for {
		c, width := t.at(text, end)
		if c&upper == 0 {
			break
		}
		end += width
		if c&lower != 0 {
			closed = end
		}
	}
	if further := t.run(text, end, lower); further > end {
		return further
	}
	return closed
}

// wordCl100k is (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+
func wordCl100k(t *classes, text string, i int) int {
	if width := contraction(text[i:]); width > 0 {
		return i + width
	}
	start := prefixed(t, text, i)
	if end := t.run(text, start, letter); end > start {
		return end
	}
	return i
}

// contraction returns the width, in bytes, of what (?i:'s|'t|'re|'ve|'m|'ll|'d)
// matches at the start of text, or 0. The long s is an s in another case.
func contraction(text string) int {
	if len(text) < 2 || text[0] != '\'' {
		return 0
	}
	switch text[1] | 0x20 {
	case 's', 't', 'm', 'd':
		return 2
	}
	if len(text) < 3 {
		return 0
	}
	switch [2]byte{text[1] | 0x20, text[2] | 0x20} {
	case [2]byte{'r', 'e'}, [2]byte{'v', 'e'}, [2]byte{'l', 'l'}:
		return 3
	}
	if text[1:3] == "ſ" {
		return 3
	}
	return 0
}
