package extractive

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/content"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
	"github.com/palimpsest-context/palimpsest/pkg/summarize/extractive/choice"
)

// Extract returns an extract of text of at most target characters (Unicode code points): the text itself if it is no longer
// than that, else a first line that says what the text was and how long, and below it what was chosen from the text
// (behaviour §5).
//
// What is shown is shown verbatim, each line on its own, so that a reader can search for it; "…" stands where a line goes on.
// Lines of logs, code and output are labelled with their number in the text ("L12"), and where one stands for several that
// differ only in their variable parts, with how many ("×40"). Counts are exact. Sequences that color a terminal are left
// out, and invalid UTF-8 bytes become U+FFFD. A grapheme cluster is never cut. A target below 1 gives an empty text.
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

// draft is what a kind of text offers for its extract, before anybody has looked at how much of it fits.
type draft struct {
	// title says what the text is and how many of what it holds, for the first line.
	title   string
	entries []choice.Entry
	// names are names and references in the text, those that matter most first: room that is left lists them.
	names []string
	// mentionShare is the part of the extract, in percent, that is kept for mentions that the shown lines leave out: a reader can ask
	// for what is named.
	mentionShare int
	// total is how many of unit ("lines", "items") the text holds, where it is worth saying how many are not shown.
	total int
	unit  string
}

// compose fits a draft of a text of so many characters into target characters.
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

// note returns how many of the text's lines or items no shown one stands for.
func (d draft) note(stands int) string {
	return "\n(+" + counted(d.total-stands, "other "+d.unit) + ")"
}

func (d draft) longestNote() string {
	if d.unit == "" {
		return ""
	}
	return d.note(0)
}

// shortHead returns a first line for which there is no room: whole facts of it if possible.
func shortHead(head string, target int) string {
	for cut := strings.LastIndex(head, ", "); cut > 0; cut = strings.LastIndex(head[:cut], ", ") {
		if utf8.RuneCountInString(head[:cut]) <= target {
			return head[:cut]
		}
	}
	return content.Clip(head, target)
}

// grouped writes a count with a comma before every third digit.
func grouped(n int) string {
	digits := fmt.Sprint(n)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// counted writes a count and what is counted, in the singular where it is one.
func counted(n int, what string) string {
	if n == 1 {
		return "1 " + strings.TrimSuffix(what, "s")
	}
	return grouped(n) + " " + what
}
