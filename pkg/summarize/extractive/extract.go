package extractive

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/content"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
	"github.com/palimpsest-context/palimpsest/pkg/summarize/extractive/choice"
)

// Extract returns an extract of text of at most target characters (Unicode code points): the text itself if it is short enough, else a
// first line that says what the text was and how long, and below it what was selected from the text (behaviour §5).
//
// Each line is shown verbatim, so that a reader can search for it; "…" marks where a line continues. Lines of logs, code and output are
// labeled with their line number ("L12"), and a line that represents several that differ only in their variable parts, with their number
// ("×40"). Counts are exact. ANSI color sequences are removed, and invalid UTF-8 becomes U+FFFD. Grapheme clusters are never cut. A target
// below 1 gives an empty text.
func Extract(text string, target int) string {
	if target < 1 {
		return ""
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	size := utf8.RuneCountInString(text)
	if size <= target {
		return text
	}
	return compose(recognize(source{text: summarize.Plain(text), target: target}), size, target)
}

// draft is what a kind of text offers for its extract, regardless of room.
type draft struct {
	// title says for the first line what the text is and what it contains.
	title   string
	entries []choice.Entry
	// names are names and references in the text, the most important first; they fill the remaining room.
	names []string
	// mentionShare is the percentage of the extract that is kept for names that the shown lines omit, because a reader can ask for what is
	// named.
	mentionShare int
	// total is the number of units ("lines", "items") in the text, where it is worth saying how many are not shown.
	total int
	unit  string
}

// compose fits a draft of a text of size characters into target characters.
func compose(d draft, size, target int) string {
	head := fmt.Sprintf("%s, %s characters.", d.title, grouped(size))
	room := target - utf8.RuneCountInString(head)
	if room < 0 {
		return shortHead(head, target)
	}
	note := d.longestNote()
	if utf8.RuneCountInString(note) > room/4 {
		note = ""
	}
	body, stands := choice.Pack(d.entries, room-room*d.mentionShare/100-utf8.RuneCountInString(note))
	out := head + body
	if note != "" && stands < d.total {
		out += d.note(stands)
	}
	return out + namesLine(d.names, body, target-utf8.RuneCountInString(out))
}

// note says how many of the text's units are not represented.
func (d draft) note(stands int) string {
	return "\n(+" + counted(d.total-stands, "other "+d.unit) + ")"
}

func (d draft) longestNote() string {
	if d.unit == "" {
		return ""
	}
	return d.note(0)
}

// shortHead shortens a first line that does not fit, at a comma if possible.
func shortHead(head string, target int) string {
	for cut := strings.LastIndex(head, ", "); cut > 0; cut = strings.LastIndex(head[:cut], ", ") {
		if utf8.RuneCountInString(head[:cut]) <= target {
			return head[:cut]
		}
	}
	return content.Clip(head, target)
}

// grouped formats a count with thousands separators.
func grouped(n int) string {
	digits := fmt.Sprint(n)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// counted formats a count and its noun, in the singular for one.
func counted(n int, what string) string {
	if n == 1 {
		return "1 " + strings.TrimSuffix(what, "s")
	}
	return grouped(n) + " " + what
}
