package demo

import (
	"encoding/hex"
	"fmt"
	"time"

	palimpsestv1 "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/terminal"
)

func (s *screen) summary(a *agent, p *proof, took time.Duration) {
	s.rule("what it came to")
	var bytes int64
	for i := range a.entries {
		bytes += int64(a.entries[i].bytes)
	}
	s.paragraph(fmt.Sprintf("%d turns, %d tool calls (%d failed), %d messages, %s on record, %.1f s.",
		len(a.builds), a.calls, a.failed, len(a.entries), weight(bytes), took.Seconds()))
	s.table(&a.ledgers, a.last.GetTokens().GetCounter())
	s.letGo(a)
	s.biggestResult(a, p)
	s.proofs(a, p)
}

// table compares what was sent with what would have been.
func (s *screen) table(l *ledgers, counter string) {
	fmt.Fprintln(s.out)
	s.row(fmt.Sprintf("input, over the first %d turns", l.turns), "tokens", "largest", "cost", "fits the window")
	s.way("the whole history, results whole", &l.whole)
	s.way("the whole history, results clipped", &l.clipped)
	s.way("the sidecar, if nothing expires", &l.plain)
	s.way("the sidecar, large results cited", &l.cited)
	s.way("what the sidecar built", &l.kept)
	fmt.Fprintln(s.out)
	s.paragraph("Cost is in plain input tokens: 1.25 for one that is written to the provider's cache, 0.1 for one that is read from " +
		"it. The first two rows assume a window without end and a cache that never misses. The third and the fourth are the same " +
		"conversation, kept beside this one without lives and plugins, in the sidecar's defaults: what outgrows the window becomes a summary. Tokens are counted with " + counter + "; those of very large results are estimates. What such a " +
		"history costs a model in attention is not in the table, nor is what it misses of the messages it does not see.")
	s.paragraph(fmt.Sprintf("In money, at $%g for a million plain input tokens: $%.2f whole, $%.2f if nothing expires, $%.2f with large results cited, $%.2f as built.",
		dollars, money(l.whole.cost), money(l.plain.cost), money(l.cited.cost), money(l.kept.cost)))
}

// dollars is what a million plain input tokens may cost: a round figure among those of 2026.
const dollars = 3.0

func money(cost float64) float64 { return cost * dollars / 1e6 }

// letGo says what the sidecar let go and brought back.
func (s *screen) letGo(a *agent) {
	saved := &a.ledgers.saved
	fmt.Fprintln(s.out)
	s.paragraph(fmt.Sprintf("Let go: %d messages compacted, %d removed or cleared, %d without words of plugins, %d pruned. Summaries: %d, "+
		"rewinds: %d, put back: %d. Kept out of the contexts, over all turns and of the originals: %s tokens by expiry, %s by retention, %s by clipping, "+
		"%s by pruning, %s by summaries, %s by the window.",
		a.let[palimpsestv1.EventType_EVENT_TYPE_COMPACTED], a.let[palimpsestv1.EventType_EVENT_TYPE_REMOVED]+a.let[palimpsestv1.EventType_EVENT_TYPE_EXPIRED],
		a.let[palimpsestv1.EventType_EVENT_TYPE_RETENTION_APPLIED], a.let[palimpsestv1.EventType_EVENT_TYPE_PRUNED],
		a.let[palimpsestv1.EventType_EVENT_TYPE_SUMMARIZED], a.let[palimpsestv1.EventType_EVENT_TYPE_HIDDEN],
		a.let[palimpsestv1.EventType_EVENT_TYPE_EXPANDED],
		terminal.Number(saved.expiry), terminal.Number(saved.retention), terminal.Number(saved.clipping),
		terminal.Number(saved.pruning), terminal.Number(saved.summaries), terminal.Number(saved.window)))
}

func (s *screen) way(name string, l *ledger) {
	fits := "in every turn"
	switch {
	case l.overflow > 0:
		fits = fmt.Sprintf("until turn %d", l.overflow-1)
	case l.cuts > 0:
		fits = "by " + counted(l.cuts, "cut", "cuts")
	case l.sums > 0:
		fits = "by " + counted(l.sums, "summary", "summaries")
	}
	s.row(name, terminal.Number(l.sent), terminal.Number(l.largest), terminal.Number(int64(l.cost)), fits)
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// tableWidth is what a row takes; on narrower screens its name gets a line of its own.
const tableWidth = 98

func (s *screen) row(name, tokens, largest, cost, fits string) {
	format := "  %-36s%14s %11s %11s   %s\n"
	if s.width < tableWidth {
		format = "  %s\n%14s %11s %11s   %s\n"
	}
	fmt.Fprintf(s.out, format, name, tokens, largest, cost, fits)
}

func (s *screen) biggestResult(a *agent, p *proof) {
	e := &a.entries[p.biggest]
	fmt.Fprintln(s.out)
	s.paragraph(fmt.Sprintf("The biggest result: %s, %s, %s tokens. The model saw %s of them, head and tail.",
		e.label, weight(int64(e.bytes)), e.about(e.tokens), e.about(p.shown)))
}

func (s *screen) proofs(a *agent, p *proof) {
	fmt.Fprintln(s.out)
	s.labelled("✓", green, fmt.Sprintf("The last context leaves out or shortens %d messages, %s: each was asked back just now, "+
		"and all %d on record were read. SHA-256 equal, byte for byte.", p.keptOut, weight(p.bytes), len(a.entries)))
	e := a.entries[p.biggest]
	s.labelled("✓", green, fmt.Sprintf("The biggest among them: message %d, %s bytes, SHA-256 %s….",
		p.biggest, terminal.Number(int64(e.bytes)), hex.EncodeToString(e.sum[:8])))
	if p.summary != "" {
		s.labelled("✓", green, fmt.Sprintf("Summary %s expands to the %d messages of its range: SHA-256 equal, byte for byte.", p.summary, p.children))
	}
	s.labelled("✓", green, "The system prompt stands in the last context as it was written.")
	how := "the hash of its bytes is the one it was built with"
	if !p.rebuilds {
		how = "its hash is the one it was built with"
	}
	s.labelled("✓", green, fmt.Sprintf("The context of turn %d (%s) was built again: %s, %.16s….", p.rebuilt.turn, p.rebuilt.manifestID, how, p.rebuilt.sha256))
}
