package demo

import (
	"context"
	"fmt"
	"time"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/inspect/sheet"
)

// Prices of input, as multiples of a plain input token. Everything that the cache does not hold is written to it.
const (
	writePrice = 1.25
	readPrice  = 0.1
	// dollars is what a million plain input tokens may cost: a round figure among those of 2026.
	dollars = 3.0
)

func money(cost float64) float64 { return cost * dollars / 1e6 }

// ledger adds up what one way of keeping the context costs.
type ledger struct {
	sent      int64 // tokens, over all turns
	largest   int64 // tokens of the largest request
	cost      float64
	previous  int64
	overflow  int32 // the first turn that does not fit; 0 if all do
	summaries int
}

// pay books one request of which the provider has the first stable tokens in its cache.
func (l *ledger) pay(turn int32, total, stable, budget int64) {
	l.sent += total
	l.largest = max(l.largest, total)
	l.cost += float64(stable)*readPrice + float64(total-stable)*writePrice
	l.previous = total
	if total > budget && l.overflow == 0 {
		l.overflow = turn
	}
}

// built books a context of the sidecar's.
func (l *ledger) built(b *pb.BuildContextResponse) {
	l.pay(b.Turn, b.GetTokens().GetTotal(), b.GetPrefix().GetStableTokens(), b.GetTokens().GetBudget())
	for _, e := range b.Events {
		if e.Type == pb.EventType_EVENT_TYPE_SUMMARIZED {
			l.summaries++
		}
	}
}

// fits says whether the model's window took it all, and by what.
func (l *ledger) fits() string {
	switch {
	case l.overflow > 0:
		return fmt.Sprintf("until turn %d", l.overflow-1)
	case l.summaries > 0:
		return "by " + sheet.Count(l.summaries, "summary")
	}
	return "in every turn"
}

// ledgers compare what was built with four others: sending the history whole, and clipping results alone, both with the best cache
// there is, because nothing that was sent ever changes; the sidecar with nothing that expires, and the same with large results cited.
type ledgers struct {
	whole, clipped, plain, cited, kept ledger
	turns                              int
	saved                              saved
	citing                             int64 // tokens kept out by citing, in the conversation that cites
}

// saved is what was kept out of the contexts, in tokens over all turns.
type saved struct{ expiry, retention, clipping, pruning, summaries, window int64 }

// compare books a context, and what it would have been without the sidecar, or if nothing expired.
func (a *agent) compare(ctx context.Context, b *pb.BuildContextResponse) error {
	t, l := b.GetTokens(), &a.ledgers
	l.saved = saved{
		l.saved.expiry + t.GetSavedByExpiry(), l.saved.retention + t.GetSavedByRetention(), l.saved.clipping + t.GetSavedByClipping(),
		l.saved.pruning + t.GetSavedByPruning(), l.saved.summaries + t.GetSavedByCompaction(), l.saved.window + t.GetSavedByFit(),
	}
	if a.alone {
		return nil
	}
	plain, err := a.plain.build(ctx, a.format)
	if err != nil {
		return err
	}
	cited, err := a.citing.build(ctx, a.format)
	if err != nil {
		return err
	}
	var whole, clipped int64
	for i := range a.entries {
		whole += a.entries[i].tokens
		clipped += a.entries[i].tokens - a.entries[i].saved
	}
	l.whole.pay(b.Turn, whole, l.whole.previous, t.GetBudget())
	l.clipped.pay(b.Turn, clipped, min(l.clipped.previous, clipped), t.GetBudget())
	l.plain.built(plain)
	l.cited.built(cited)
	l.kept.built(b)
	l.citing += cited.GetTokens().GetSavedByCiting()
	l.turns++
	return nil
}

// summary prints what it all came to.
func (a *agent) summary(took time.Duration) {
	a.rule("what it came to")
	bytes := 0
	for i := range a.entries {
		bytes += a.entries[i].bytes
	}
	a.paragraph(fmt.Sprintf("%d turns, %d tool calls (%d failed), %d messages, %s on record, %.1f s.",
		a.turns, a.calls, a.failed, len(a.entries), weight(bytes), took.Seconds()))
	a.costs()
	saved := &a.ledgers.saved
	a.paragraph(fmt.Sprintf("Let go: %d messages compacted, %d removed or cleared, %d without words of plugins, %d pruned. Summaries: %d, "+
		"rewinds: %d, put back: %d. Kept out of the contexts, over all turns and of the originals: %s tokens by expiry, %s by retention, "+
		"%s by clipping, %s by pruning, %s by summaries, %s by the window.",
		a.events[pb.EventType_EVENT_TYPE_COMPACTED], a.events[pb.EventType_EVENT_TYPE_REMOVED]+a.events[pb.EventType_EVENT_TYPE_EXPIRED],
		a.events[pb.EventType_EVENT_TYPE_RETENTION_APPLIED], a.events[pb.EventType_EVENT_TYPE_PRUNED],
		a.events[pb.EventType_EVENT_TYPE_SUMMARIZED], a.events[pb.EventType_EVENT_TYPE_HIDDEN],
		a.events[pb.EventType_EVENT_TYPE_EXPANDED], number(saved.expiry), number(saved.retention), number(saved.clipping),
		number(saved.pruning), number(saved.summaries), number(saved.window)))
	a.Line("")
	e := &a.entries[a.biggest]
	a.paragraph(fmt.Sprintf("The biggest result: %s, %s, about %s tokens. The model saw about %s of them, head and tail.",
		e.label, weight(e.bytes), number(e.tokens), number(e.tokens-e.saved)))
	a.Line("")
}

// costs compares what was sent with what would have been.
func (a *agent) costs() {
	l := &a.ledgers
	a.Line("")
	a.row(fmt.Sprintf("input, over the first %d turns", l.turns), "tokens", "largest", "cost", "fits the window")
	for _, way := range []struct {
		name string
		*ledger
	}{
		{"the whole history, results whole", &l.whole}, {"the whole history, results clipped", &l.clipped},
		{"the sidecar, if nothing expires", &l.plain}, {"the sidecar, large results cited", &l.cited}, {"what the sidecar built", &l.kept},
	} {
		a.row(way.name, number(way.sent), number(way.largest), number(int64(way.cost)), way.fits())
	}
	a.Line("")
	a.paragraph("Cost is in plain input tokens: 1.25 for one that is written to the provider's cache, 0.1 for one that is read from " +
		"it. The first two rows assume a window without end and a cache that never misses. The third and the fourth are the same " +
		"conversation, kept beside this one without lives and plugins, in the sidecar's defaults: what outgrows the window becomes a " +
		"summary. Tokens are counted with " + a.counter + "; those of very large results are estimates. What such a history costs a " +
		"model in attention is not in the table, nor is what it misses of the messages it does not see.")
	a.paragraph(fmt.Sprintf("In money, at $%g for a million plain input tokens: $%.2f whole, $%.2f if nothing expires, $%.2f with large results cited, $%.2f as built.",
		dollars, money(l.whole.cost), money(l.plain.cost), money(l.cited.cost), money(l.kept.cost)))
	a.Line("")
}

// tableWidth is what a row takes; on narrower screens its name gets a line of its own.
const tableWidth = 98

func (s *screen) row(name, tokens, largest, cost, fits string) {
	format := "  %-36s%14s %11s %11s   %s"
	if s.Width < tableWidth {
		format = "  %s\n%14s %11s %11s   %s"
	}
	s.Line(fmt.Sprintf(format, name, tokens, largest, cost, fits))
}
