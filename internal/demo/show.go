package demo

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/status"

	palimpsestv1 "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/terminal"
)

func (s *screen) opening(c *Command, a *agent) {
	s.rule("an agent explores " + a.tree.name)
	s.paragraph("The agent's words are a script. Its tools are real: they read this machine's files now. Everything goes through " +
		"the sidecar over gRPC, and below stands what a model would be sent in each turn.")
	s.paragraph(fmt.Sprintf("Window %s tokens, an eighth of it left for the answer. Format %s. No model is called.",
		terminal.Number(int64(c.Window)), c.Format))
	s.paragraph("Results live for some turns in full: listings for 1, then they leave; what was searched for 3 and what was read " +
		"for 2, then a short form stays; manuals for 4. Plugins add words to questions and to failures, for one build, for a while or for good.")
	s.paragraph("The row of letters is the record: s system, u user, a assistant, t tool result, T clipped, c compacted, - cleared; ·12· " +
		"are twelve messages that the model does not see, [12] twelve that a summary stands for.")
}

func (s *screen) turn(t *turn) {
	s.rule(fmt.Sprintf("turn %d", t.build.Turn))
	s.view(t)
	for _, r := range t.clipped {
		s.line("clipped", yellow, fmt.Sprintf("#%d %s: %s → %s tokens", r.index, r.entry.label, terminal.Number(r.before), terminal.Number(r.after)))
	}
	for _, c := range t.changes {
		s.change(&c)
	}
	if t.waiting > 0 {
		s.line("waiting", dim, fmt.Sprintf("%d due, until changing old text costs less than it saves", t.waiting))
	}
	for _, d := range t.build.Decisions {
		s.decision(d, t)
	}
	s.labelled("agent", cyan, t.step.says)
	for _, o := range t.results {
		s.outcome(o)
	}
	if t.retried != nil {
		s.line("retry", green, fmt.Sprintf("reply lost? the same request id again: still message %d, nothing added", t.retried.Index))
	}
	s.restored(t.restored)
	s.between(t)
	if t.step.next != "" {
		s.labelled("user", bold, t.step.next)
	}
	if t.noted != "" {
		s.line("plugins", cyan, t.noted)
	}
	time.Sleep(s.pace)
}

// view shows what the model sees: how much of the budget, which messages, and what of it the provider's cache has.
func (s *screen) view(t *turn) {
	tokens := t.build.GetTokens()
	fmt.Fprintf(s.out, "  %s%s %s\n", s.in(dim, fmt.Sprintf("%-*s", labelWidth, "context")),
		s.bar(tokens.GetTotal(), tokens.GetBudget(), s.width/4),
		fmt.Sprintf("%s of %s tokens, %d of %d messages", terminal.Number(tokens.GetTotal()), terminal.Number(tokens.GetBudget()), t.inView, t.record))
	s.line("sees", plain, shortened(t.strip, s.width-labelWidth-2))
	s.line("cache", plain, prefixWords(t.build.GetPrefix(), tokens.GetTotal()))
}

// shortened keeps the end of a row, which is where things happen.
func shortened(row string, width int) string {
	runes := []rune(row)
	if len(runes) <= width {
		return row
	}
	return "…" + string(runes[len(runes)-width+1:])
}

func prefixWords(p *palimpsestv1.PrefixReport, total int64) string {
	share := fmt.Sprintf("%d %% stood in the last one, byte for byte", p.GetStableTokens()*100/max(total, 1))
	switch p.GetBrokenBy() {
	case palimpsestv1.PrefixBreak_PREFIX_BREAK_UNSPECIFIED:
		return share
	case palimpsestv1.PrefixBreak_PREFIX_BREAK_FIRST_BUILD:
		return "nothing yet: the first context"
	}
	reason := strings.TrimPrefix(p.GetBrokenBy().String(), "PREFIX_BREAK_")
	return share + "; changed: " + strings.ReplaceAll(strings.ToLower(reason), "_", " ")
}

// decision shows a cut of the window in the turn that it is made in; clipping is shown apart, with the tool it concerns.
func (s *screen) decision(d *palimpsestv1.Decision, t *turn) {
	moved := t.build.GetPrefix().GetBrokenBy() == palimpsestv1.PrefixBreak_PREFIX_BREAK_WINDOW_MOVED
	switch {
	case d.Kind == palimpsestv1.DecisionKind_DECISION_KIND_LEFT_OUT && moved:
		s.line("left out", yellow, fmt.Sprintf("%d messages up to #%d, %s tokens: before the window's start, still on record",
			t.record-t.inView, d.EndIndex-1, terminal.Number(d.TokensBefore-d.TokensAfter)))
	case d.Kind == palimpsestv1.DecisionKind_DECISION_KIND_REPAIRED:
		s.line("repaired", yellow, d.Detail)
	}
}

// exampleLines is how much is shown of what stands for a result.
const (
	exampleLines = 3
	summaryLines = 6
)

// change shows what expired, and which blocks of plugins are shown no longer.
func (s *screen) change(c *change) {
	var label, what string
	switch c.kind {
	case palimpsestv1.EventType_EVENT_TYPE_COMPACTED:
		label, what = "compacted", "a short form stays"
	case palimpsestv1.EventType_EVENT_TYPE_EXPIRED:
		label, what = "cleared", "a placeholder stays"
	case palimpsestv1.EventType_EVENT_TYPE_REMOVED:
		label, what = "removed", "with what was said about it"
	case palimpsestv1.EventType_EVENT_TYPE_RETENTION_APPLIED:
		label, what = "retention", "words of plugins are shown no longer"
	case palimpsestv1.EventType_EVENT_TYPE_PRUNED:
		label, what = "pruned", "a placeholder stays"
	case palimpsestv1.EventType_EVENT_TYPE_SUMMARIZED:
		label, what = "summary", c.summary+" stands for them"
	default:
		return
	}
	s.line(label, yellow, fmt.Sprintf("%s: %s, %s tokens fewer", c.which(), what, terminal.Number(c.saved)))
	if c.example == "" {
		return
	}
	for _, line := range c.lines(s.width - labelWidth - 2) {
		s.line("", dim, line)
	}
}

// lines are the first of the example: of a summary, as they stand there.
func (c *change) lines(width int) []string {
	if c.summary != "" {
		lines := slices.DeleteFunc(strings.Split(c.example, "\n"), func(line string) bool { return strings.TrimSpace(line) == "" })
		return lines[:min(summaryLines, len(lines))]
	}
	lines := wrap(c.example, width)
	return lines[:min(exampleLines, len(lines))]
}

// which names the messages: the first and the last of those that a summary stands for.
func (c *change) which() string {
	if c.summary != "" {
		return fmt.Sprintf("#%d to #%d", c.messages[0], c.messages[1])
	}
	return indexes(c.messages)
}

// indexes names messages, the first few of them.
func indexes(messages []int32) string {
	const most = 6
	var b strings.Builder
	for i, m := range messages {
		if i == most {
			fmt.Fprintf(&b, " and %d more", len(messages)-most)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "#%d", m)
	}
	return b.String()
}

// restored shows what was put back into the view, and what that costs.
func (s *screen) restored(r *restored) {
	switch {
	case r == nil:
	case r.refused != nil:
		s.labelled("restore", red, fmt.Sprintf("#%d %s: %s", r.index, r.label, status.Convert(r.refused).Message()))
	default:
		s.labelled("restored", green, fmt.Sprintf("#%d %s: back in full, and its turns begin again; about %s tokens are read anew for it",
			r.index, r.label, terminal.Number(r.reply.GetRewriteTokens())))
	}
}

// between shows what people did between an answer and the next question.
func (s *screen) between(t *turn) {
	if t.cleared > 0 {
		s.labelled("operator", bold, fmt.Sprintf("Results older than the newest %s tokens may be cleared.", terminal.Number(int64(t.cleared))))
	}
	s.compacted(t.compacted)
	if r := t.rewound; r != nil {
		s.labelled("rewound", yellow, fmt.Sprintf("#%d to #%d: the user takes the question back, to edit it; on record it stays", r.StartIndex, r.EndIndex-1))
	}
}

// compacted shows a summary that was asked for.
func (s *screen) compacted(c *compacted) {
	if c == nil {
		return
	}
	s.labelled("operator", bold, "Make the view smaller now, 7,000 tokens at most. A build does so by itself once it outgrows its budget.")
	if c.refused != nil {
		s.labelled("refused", red, status.Convert(c.refused).Message())
	}
	s.change(&c.change)
}

func (s *screen) outcome(o outcome) {
	if o.call.Tool == expandTool && o.err == nil {
		s.labelled("tool", green, fmt.Sprintf("%s → %s, as it was appended; the view stays as it is", o.call, weight(int64(o.bytes))))
		return
	}
	if o.err != nil {
		s.labelled("tool", red, o.call.String()+": "+o.err.Error())
		return
	}
	s.line("tool", plain, fmt.Sprintf("%s → %s", o.call, weight(int64(o.bytes))))
}
