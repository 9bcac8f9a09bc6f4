package span

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/content"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
	"github.com/palimpsest-context/palimpsest/pkg/summarize/extractive/choice"
)

// The headings of a span's extract, in order. Every other line begins with a dash, so that no text can imitate one.
const (
	headBefore = "Told before:"
	headRules  = "Rules of the user:"
	headAsked  = "The user said:"
	headFiles  = "Files and addresses:"
	headTools  = "Tools:"
	headCalls  = "Calls:"
	headSaid   = "The assistant said:"
	headOpen   = "Open:"
	headNamed  = "Also named:"
)

var headings = []string{headBefore, headRules, headAsked, headFiles, headTools, headCalls, headSaid, headOpen, headNamed}

// Extract returns an extract of about target characters, and never more, of a stretch of conversation and the summaries before it
// (behaviour §8): what the next step needs first, in the words of those who spoke. The user's rules are verbatim, and newer messages have
// more detail. The lines of an earlier extract join those of their kind, so that extracts of extracts keep their form. System messages are
// omitted. A target below 1 gives an empty text.
func Extract(earlier []string, units []conversation.Unit, target int) string {
	if target < 1 {
		return ""
	}
	s := readTranscript(earlier, units)
	head := s.head()
	out := extractWriter{room: target - utf8.RuneCountInString(head), target: target}
	for _, part := range s.sections(target) {
		out.write(part)
	}
	out.writeNames(s)
	return content.Clip(head+out.text(), target)
}

// The start of an extract's first line, and how it continues if there were messages.
const (
	headBegins = "Extract of the conversation"
	headUpTo   = " up to message "
)

func (s *transcript) head() string {
	if s.messageCount == 0 {
		return headBegins + "."
	}
	return fmt.Sprintf("%s%s%d.", headBegins, headUpTo, s.lastIndex)
}

// section is what an extract may say of one kind, before it is cut to its room.
type section struct {
	heading string
	// share is its maximum percentage of the extract, besides what earlier sections left.
	share    int
	old, now []choice.Entry
}

// sections returns the sections in the order in which they get room: later ones may use what earlier ones leave. If there are summaries
// that are not extracts, all other shares shrink.
func (s *transcript) sections(target int) []section {
	before := section{heading: headBefore, now: s.earlier.unstructured()}
	if len(before.now) > 0 {
		before.share = maxEarlierShare
	}
	others := target * (100 - before.share) / 100
	files, oldFiles := s.targetEntries()
	all := []section{
		{heading: headRules, share: 18, old: s.earlier.entries(headRules), now: s.ruleEntries()},
		{heading: headOpen, share: 11, old: s.earlier.entries(headOpen), now: s.openEntries(others)},
		{heading: headAsked, share: 15, old: s.earlier.entries(headAsked), now: s.userEntries(others * 15 / 100)},
		{heading: headTools, share: 3, now: s.toolEntries()},
		{heading: headFiles, share: 10, old: oldFiles, now: files},
		{heading: headCalls, share: 9, old: s.earlier.entries(headCalls), now: s.callEntries()},
		{heading: headSaid, share: 12, old: s.earlier.entries(headSaid), now: s.assistantEntries(others)},
	}
	for i := range all {
		all[i].share = all[i].share * (100 - before.share) / 100
	}
	return append([]section{before}, all...)
}

// extractWriter lays out an extract.
type extractWriter struct {
	room, target int
	unspent      int // what earlier sections left of their shares
	sections     map[string]string
}

// namedShare is the percentage of an extract kept for names, because what is named can be asked for at little cost.
const namedShare = 22

// maxEarlierShare is the maximum percentage of a section's room for earlier lines while new ones need the rest.
const maxEarlierShare = 40

func (o *extractWriter) write(s section) {
	room := min(o.target*s.share/100+o.unspent, o.room-o.target*namedShare/100)
	o.unspent = room
	inside := room - utf8.RuneCountInString(s.heading) - 1
	needed := 0
	for _, p := range s.now {
		needed += min(utf8.RuneCountInString(p.Text), p.MaxChars) + 3
	}
	old, _ := choice.Pack(s.old, max(inside*maxEarlierShare/100, inside-needed))
	now, _ := choice.Pack(s.now, inside-utf8.RuneCountInString(old))
	o.add(s.heading, old+now)
}

func (o *extractWriter) add(heading, lines string) {
	if lines == "" {
		return
	}
	if o.sections == nil {
		o.sections = map[string]string{}
	}
	o.sections[heading] = lines
	used := utf8.RuneCountInString(heading) + 1 + utf8.RuneCountInString(lines)
	o.room -= used
	o.unspent -= used
}

// writeNames lists what else is named in the remaining room.
func (o *extractWriter) writeNames(s *transcript) {
	shown := o.text()
	lead := "\n" + headNamed + "\n- "
	if lines := listNames(s.rankedNames(), shown, o.room-len(lead)); lines != "" {
		o.add(headNamed, "\n- "+lines)
	}
}

func (o *extractWriter) text() string {
	var b strings.Builder
	for _, heading := range headings {
		if lines := o.sections[heading]; lines != "" {
			b.WriteString("\n" + heading + lines)
		}
	}
	return b.String()
}

// newEntry returns a line of an extract: a dash, and a text without line breaks.
func newEntry(text string, order int, worth float64, most int) choice.Entry {
	return choice.Entry{Label: "- ", Text: oneLine(summarize.Filter(oneLine(text))), Order: order, Score: worth, MaxChars: most}
}
