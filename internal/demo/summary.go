package demo

import (
	"encoding/hex"
	"fmt"
	"time"
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
	s.biggestResult(a, p)
	s.proofs(a, p)
}

// table compares what was sent with what would have been.
func (s *screen) table(l *ledgers, counter string) {
	const row = "  %-38s %14s %12s %12s   %s\n"
	fmt.Fprintln(s.out)
	fmt.Fprintf(s.out, row, "input, over all turns", "tokens", "largest", "cost", "fits the window")
	for _, way := range []struct {
		name   string
		ledger *ledger
	}{
		{"the whole history, results whole", &l.whole},
		{"the whole history, results clipped", &l.clipped},
		{"what the sidecar built", &l.kept},
	} {
		fits := "in every turn"
		if way.ledger.overflow > 0 {
			fits = fmt.Sprintf("until turn %d", way.ledger.overflow-1)
		}
		fmt.Fprintf(s.out, row, way.name, number(way.ledger.sent), number(way.ledger.largest), number(int64(way.ledger.cost)), fits)
	}
	fmt.Fprintln(s.out)
	s.paragraph("Cost is in plain input tokens: 1.25 for one that is written to the provider's cache, 0.1 for one that is read from " +
		"it. The first two rows assume a window without end and a cache that never misses. Tokens are counted with " + counter + "; " +
		"those of very large results are estimates. What such a history costs a model in attention is not in the table, nor is what it misses " +
		"of the messages it does not see.")
}

func (s *screen) biggestResult(a *agent, p *proof) {
	e := a.entries[p.biggest]
	about := ""
	if e.estimated {
		about = "about "
	}
	fmt.Fprintln(s.out)
	s.paragraph(fmt.Sprintf("The biggest result: %s, %s, %s%s tokens. The model saw %s%s of them, head and tail.",
		e.label, weight(int64(e.bytes)), about, number(e.tokens), about, number(p.shown)))
}

func (s *screen) proofs(a *agent, p *proof) {
	fmt.Fprintln(s.out)
	s.labelled("✓", green, fmt.Sprintf("The last context leaves out or clips %d messages, %s. All %d on record were read back just now: "+
		"SHA-256 equal, byte for byte.", p.keptOut, weight(p.bytes), len(a.entries)))
	e := a.entries[p.biggest]
	s.labelled("✓", green, fmt.Sprintf("The biggest among them: message %d, %s bytes, SHA-256 %s….",
		p.biggest, number(int64(e.bytes)), hex.EncodeToString(e.sum[:8])))
	s.labelled("✓", green, "The system prompt stands in the last context as it was written.")
	how := "the hash of its bytes is the one it was built with"
	if !p.rebuilds {
		how = "its hash is the one it was built with"
	}
	s.labelled("✓", green, fmt.Sprintf("The context of turn %d (%s) was built again: %s, %.16s….", p.rebuilt.turn, p.rebuilt.manifestID, how, p.rebuilt.sha256))
}
