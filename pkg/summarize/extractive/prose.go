package extractive

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// isProse says whether most of the text is in sentences.
func (l *lined) isProse() bool {
	prose, all := 0, 0
	for _, u := range l.units {
		all += len(u.text)
		last, _ := utf8.DecodeLastRuneInString(u.text)
		if strings.Count(u.text, " ")*12 > len(u.text) && (len(u.text) > 80 || endsSentence(last)) || last == '。' || last >= 0x4e00 {
			prose += len(u.text)
		}
	}
	return prose*10 > all*6
}

func endsSentence(r rune) bool {
	switch r {
	case '.', '!', '?', '。', '！', '？', '…', ':':
		return true
	}
	return false
}

// draftProse offers the sentences that say most, in their order.
func draftProse(s source) draft {
	var all []unit
	for _, p := range paragraphs(s.lines, s.line) {
		for _, text := range sentences(p.text) {
			all = append(all, unit{text: text, line: p.line})
		}
	}
	d := draft{title: "Text, " + counted(len(all), "sentences"), mentions: names(s.text), named: 12, total: len(all), unit: "sentences"}
	t := termsOf(all)
	boost := func(i int) float64 { return sentenceBoost(all[i].text, i, len(all)) }
	for rank, i := range t.cover(all, boost, 10+s.target/30) {
		d.pieces = append(d.pieces, piece{text: all[i].text, most: max(150, s.target/3), order: i, worth: -float64(rank), stands: 1})
	}
	return d
}

// paragraphs joins the lines of a text that a sentence goes on over, with the line breaks between them.
func paragraphs(lines []string, before int) (all []unit) {
	open := false
	for i, line := range lines {
		switch {
		case strings.TrimSpace(line) == "":
			open = false
			continue
		case open:
			all[len(all)-1].text += "\n" + line
		default:
			all = append(all, unit{text: line, line: before + i + 1})
		}
		last, _ := utf8.DecodeLastRuneInString(line)
		open = len(line) > 40 && !endsSentence(last) && len(all[len(all)-1].text) < longestParagraph
	}
	return all
}

// longestParagraph is how many bytes of lines are joined at most.
const longestParagraph = 4000

// sentenceBoost weighs a sentence by its place and by what it reports.
func sentenceBoost(text string, i, n int) float64 {
	level := severityOf(text)
	switch {
	case i == 0:
		return 2
	case len(text) < 40:
		return 0.5
	case level == grave:
		return 1.5
	case i == n-1 || strings.ContainsAny(text, "0123456789"):
		return 1.3
	}
	return 1
}

// longestSentence is how many bytes a sentence may have before it ends at the next comma or space.
const longestSentence = 600

// sentences takes a line of prose apart.
func sentences(line string) (all []string) {
	start := 0
	for i := 0; i < len(line); {
		r, size := utf8.DecodeRuneInString(line[i:])
		i += size
		if ends(r, line[i:]) || (i-start > longestSentence && (r == ' ' || r == '，') && asciiAt(line, i)) {
			all = appendText(all, line[start:i])
			start = i
		}
	}
	return appendText(all, line[start:])
}

func appendText(all []string, s string) []string {
	if s = strings.TrimSpace(s); s != "" {
		all = append(all, s)
	}
	return all
}

// ends says whether a sentence ends with a character that something follows.
func ends(r rune, rest string) bool {
	switch r {
	case '。', '！', '？':
		next, _ := utf8.DecodeRuneInString(rest)
		return certainBorder(r, next)
	case '.', '!', '?':
		if len(rest) < 2 || (rest[0] != ' ' && rest[0] != '\n') {
			return false
		}
		next, _ := utf8.DecodeRuneInString(rest[1:])
		return unicode.IsUpper(next) || unicode.IsDigit(next) || next > 0x2e80 || next == '"' || next == '(' || next == '['
	}
	return false
}
