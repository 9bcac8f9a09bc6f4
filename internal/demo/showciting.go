package demo

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/palimpsest-context/palimpsest/internal/terminal"
)

const (
	// citationLines and answerLines are how many lines are shown of the beginning of a citation, and of an answer.
	citationLines = 5
	answerLines   = 2
	// aroundLines is how many are shown before and behind the one that was asked for.
	aroundLines = 1
)

// citing shows the conversation in which large results are cited: what stands for the largest, what the model is answered when it
// asks for a part of it, and what that saves.
func (s *screen) citing(a *agent, p *passage) {
	if p == nil {
		return
	}
	s.rule("the same conversation, with large results cited")
	s.paragraph("It was kept beside this one: results over 1,000 characters stay outside of the view from the start, and nothing is " +
		"rewritten later. Here is the largest, as the model sees it, and what it asks for.")
	e := &a.entries[p.of.index]
	s.line("result", plain, fmt.Sprintf("#%d %s: %s, %s tokens", p.of.index, e.label, weight(p.of.citation.TotalBytes), e.about(e.tokens)))
	cited := linesOf(p.of.citation.Text)
	s.block("cited as", cited, citationLines, len(cited)-1, len(cited))
	s.labelled("model", cyan, p.call.Name+" "+p.call.ArgumentsJson)
	s.line("answer", green, fmt.Sprintf("%s tokens, in %s; asked again, in %s", terminal.Number(int64(p.answer.TokenCount)), millis(p.first), millis(p.again)))
	answer := linesOf(p.answer.ToolResult.GetText())
	at := slices.IndexFunc(answer, func(line string) bool { return holds(line, p.of.phrase) })
	s.block("", answer, answerLines, at-aroundLines, at+aroundLines+1)
	t := p.build.GetTokens()
	s.line("context", plain, fmt.Sprintf("goes on with %s of %s tokens, and the passage in it", terminal.Number(t.GetTotal()), terminal.Number(t.GetBudget())))
	s.labelled("✓", green, fmt.Sprintf("All of it was read again, %s bytes, in %s: SHA-256 equal, byte for byte.",
		terminal.Number(p.of.citation.TotalBytes), millis(p.whole)))
	l := &a.ledgers
	s.labelled("saved", green, fmt.Sprintf("%d results are cited. That keeps %s tokens out of the first %d contexts: %s were sent, $%.2f in money, "+
		"instead of %s and $%.2f in the same sidecar without citations.", len(a.cited), terminal.Number(l.saved.citing), l.turns,
		terminal.Number(l.cited.sent), money(l.cited.cost), terminal.Number(l.plain.sent), money(l.plain.cost)))
}

// block shows the first lines of a text, and some of the others.
func (s *screen) block(label string, lines []string, first, from, to int) {
	for i, line := range lines {
		switch {
		case i < first || from <= i && i < to:
			s.line(label, dim, line)
		case i == first:
			s.line("", dim, "…")
		}
		label = ""
	}
}

// linesOf are the lines of a text that say anything.
func linesOf(text string) []string {
	return slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return strings.TrimSpace(line) == "" })
}

func millis(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}

// about is a number of a message's tokens, which is an estimate if it is very large.
func (e *entry) about(tokens int64) string {
	if e.estimated {
		return "about " + terminal.Number(tokens)
	}
	return terminal.Number(tokens)
}
