package span

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/content"
	"github.com/palimpsest-context/palimpsest/pkg/facts"
	"github.com/palimpsest-context/palimpsest/pkg/summarize/extractive/choice"
)

// bullets begin list items.
var bullets = []string{"- ", "* ", "• ", "+ "}

// sentencesOf returns the sentences of a text, each on one line. List items are sentences of their own.
func sentencesOf(text string) (all []string) {
	lines := strings.Split(text, "\n")
	for from := 0; from < len(lines); {
		to := from + 1
		for to < len(lines) && !beginsEntry(lines[to]) {
			to++
		}
		for _, p := range content.Paragraphs(lines[from:to], 0) {
			all = appendSentences(all, p.Text)
		}
		from = to
	}
	return all
}

// appendSentences keeps the number of a list item with its first sentence, and removes other bullets.
func appendSentences(all []string, text string) []string {
	text = withoutBullet(text)
	if len(text) < content.LongestSentence && !strings.ContainsAny(text, ".!?。！？") {
		if text = oneLine(text); text != "" {
			all = append(all, text)
		}
		return all
	}
	number := ""
	for _, sentence := range content.Sentences(text) {
		if sentence = number + oneLine(sentence); len(sentence) < 5 && strings.Trim(sentence, "0123456789.)") == "" {
			number = sentence + " "
			continue
		}
		number = ""
		all = append(all, sentence)
	}
	return all
}

func withoutBullet(text string) string {
	text = strings.TrimLeft(text, " \t")
	for _, mark := range bullets {
		text = strings.TrimPrefix(text, mark)
	}
	return text
}

func beginsEntry(line string) bool {
	line = strings.TrimLeft(line, " \t")
	if strings.HasPrefix(line, "#") || slices.ContainsFunc(bullets, func(begin string) bool { return strings.HasPrefix(line, begin) }) {
		return true
	}
	digits := strings.TrimLeft(line, "0123456789")
	return len(digits) < len(line) && (strings.HasPrefix(digits, ". ") || strings.HasPrefix(digits, ") "))
}

// textSide is the side from which a text is shown.
type textSide int

const (
	atBeginning textSide = iota
	atEnd
)

// sentenceGap separates sentences in a digest, where others may be omitted.
const sentenceGap = " … "

// digest shortens sentences to n characters on one line: half of them from one side, then the most informative. Rules in a user's text are
// shown elsewhere and omitted here.
func digest(all []string, n int, from textSide) string {
	lines := make([]choice.Unit, len(all))
	for i := range all {
		lines[i].Text = all[i]
	}
	first, end := sideRange(all, n/2, from)
	entries := make([]choice.Entry, 0, end-first+n/40)
	add := func(i int, worth float64) {
		entries = append(entries, choice.Entry{Text: all[i], Order: i, Score: worth, MaxChars: max(n/2, 80)})
	}
	for i := first; i < end; i++ {
		add(i, 1)
	}
	boost := func(i int) float64 {
		if first <= i && i < end || from == atBeginning && facts.IsRule(all[i]) {
			return 0
		}
		return 1
	}
	for rank, i := range choice.Cover(lines, boost, n/40) {
		add(i, -float64(rank))
	}
	slices.SortFunc(entries, func(a, b choice.Entry) int { return a.Order - b.Order })
	body, _ := choice.Pack(entries, n*9/10)
	return content.Clip(strings.ReplaceAll(strings.TrimPrefix(body, "\n"), "\n", sentenceGap), n)
}

// sideRange returns the sentences [first, end) from one side that fit into room characters, at least one.
func sideRange(all []string, room int, from textSide) (first, end int) {
	for k := range all {
		i := k
		if from == atEnd {
			i = len(all) - 1 - k
		}
		if room -= utf8.RuneCountInString(all[i]) + utf8.RuneCountInString(sentenceGap); room < 0 && k > 0 {
			if from == atEnd {
				return i + 1, len(all)
			}
			return 0, i
		}
	}
	return 0, len(all)
}
