package compaction

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/facts"
)

// group is how facts of a kind are listed: on a line of their own each if they are sentences, with commas if they hold spaces,
// else with spaces, which cost less. No fact can pass for a heading, because a heading begins a line and a fact never does.
type group struct {
	kind    conversation.FactKind
	heading string
	between string
}

const line = "\n "

var groups = []group{
	{conversation.FactCall, "Open calls:", line},
	{conversation.FactRule, "The user's rules:", line},
	{conversation.FactPath, "Files:", " "},
	{conversation.FactURL, "Addresses:", " "},
	{conversation.FactID, "Names:", " "},
	{conversation.FactNumber, "Figures:", ", "},
	{conversation.FactError, "Errors:", line},
}

const listHeading = "Not told above, in the words of the original:"

// write is the list as it stands, and how many facts it leaves out.
func (l *losses) write() (list string, left int) {
	listed := l.byTime(l.must[:l.musts])
	left = len(l.must) + len(l.rest) + l.beyond - l.musts
	for i, f := range l.rest {
		contained := l.rests > 0 && l.within[i] < l.rests
		if contained || i < l.rests {
			left--
		}
		if i < l.rests && !contained {
			listed = append(listed, f)
		}
	}
	var b strings.Builder
	b.WriteString(listHeading)
	for _, g := range groups {
		l.writeGroup(&b, g, listed)
	}
	if left > 0 {
		fmt.Fprintf(&b, "\n(and %d more)", left)
	}
	return b.String(), left
}

func (l *losses) writeGroup(b *strings.Builder, g group, facts []conversation.Fact) {
	first := true
	for _, f := range facts {
		if f.Kind != g.kind {
			continue
		}
		switch {
		case !first:
			b.WriteString(g.between)
		case g.between == line:
			b.WriteString("\n" + g.heading + line)
		default:
			b.WriteString("\n" + g.heading + " ")
		}
		first = false
		b.WriteString(l.shown(f))
	}
}

// shown is a fact as it is listed.
func (l *losses) shown(f conversation.Fact) string {
	switch f.Kind {
	case conversation.FactCall:
		return facts.Clean(f.Text, max(l.calls, named(f.Text)))
	case conversation.FactRule:
		return facts.CutRule(f.Text, l.cut)
	default:
		return f.Text
	}
}

// named is how many characters of a call its name and its id take: they are never cut.
func named(call string) int {
	name, rest, _ := strings.Cut(call, " ")
	id, _, _ := strings.Cut(rest, " ")
	return utf8.RuneCountInString(name + " " + id + "…")
}
