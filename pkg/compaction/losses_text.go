package compaction

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/facts"
)

// listGroup is how facts of a kind are listed: each on its own line if they are sentences, separated with commas if they contain spaces,
// else with spaces, which cost less. No fact can imitate a heading, because only headings begin a line.
type listGroup struct {
	kind    conversation.FactKind
	heading string
	between string
}

const lineStart = "\n "

var listGroups = []listGroup{
	{conversation.FactCall, "Open calls:", lineStart},
	{conversation.FactRule, "The user's rules:", lineStart},
	{conversation.FactPath, "Files:", " "},
	{conversation.FactURL, "Addresses:", " "},
	{conversation.FactID, "Names:", " "},
	{conversation.FactNumber, "Figures:", ", "},
	{conversation.FactError, "Errors:", lineStart},
}

const listHeading = "Not told above, in the words of the original:"

// write returns the list so far, and how many facts it omits.
func (l *lossLister) write() (list string, left int) {
	listed := l.byTime(l.required[:l.requiredListed])
	left = len(l.required) + len(l.optional) + l.unlisted - l.requiredListed
	for i, f := range l.optional {
		contained := l.optionalListed > 0 && l.containedIn[i] < l.optionalListed
		if contained || i < l.optionalListed {
			left--
		}
		if i < l.optionalListed && !contained {
			listed = append(listed, f)
		}
	}
	var b strings.Builder
	b.WriteString(listHeading)
	for _, g := range listGroups {
		l.writeGroup(&b, g, listed)
	}
	if left > 0 {
		fmt.Fprintf(&b, "\n(and %d more)", left)
	}
	return b.String(), left
}

func (l *lossLister) writeGroup(b *strings.Builder, g listGroup, facts []conversation.Fact) {
	first := true
	for _, f := range facts {
		if f.Kind != g.kind {
			continue
		}
		switch {
		case !first:
			b.WriteString(g.between)
		case g.between == lineStart:
			b.WriteString("\n" + g.heading + lineStart)
		default:
			b.WriteString("\n" + g.heading + " ")
		}
		first = false
		b.WriteString(l.listedText(f))
	}
}

// listedText returns a fact as it is listed.
func (l *lossLister) listedText(f conversation.Fact) string {
	switch f.Kind {
	case conversation.FactCall:
		return facts.Clean(f.Text, max(l.callChars, callPrefixChars(f.Text)))
	case conversation.FactRule:
		return facts.CutRule(f.Text, l.ruleChars)
	default:
		return f.Text
	}
}

// callPrefixChars returns the length of a call's name and id, which are never cut.
func callPrefixChars(call string) int {
	name, rest, _ := strings.Cut(call, " ")
	id, _, _ := strings.Cut(rest, " ")
	return utf8.RuneCountInString(name + " " + id + "…")
}
