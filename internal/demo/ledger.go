package demo

import (
	"context"
	"fmt"
	"slices"
	"time"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/inspect/sheet"
	"github.com/palimpsest-context/palimpsest/internal/terminal"
)

// Prices of input, as multiples of a plain input token. Everything that the cache does not hold is written to it.
const (
	writePrice = 1.25
	readPrice  = 0.1
	// dollars is what a million plain input tokens may cost: a round figure among those of 2026.
	dollars = 3.0
)

// ledger adds up what one way of keeping the context costs.
type ledger struct {
	sent      int64 // tokens, over all turns
	largest   int64 // tokens of the largest request
	cost      float64
	previous  int64
	overflow  int32 // the first turn that does not fit; 0 if all do
	summaries int
}

func (l *ledger) money() string { return fmt.Sprintf("$%.2f", l.cost*dollars/1e6) }

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
	l.pay(b.GetTurn(), b.GetTokens().GetTotal(), b.GetPrefix().GetStableTokens(), b.GetTokens().GetBudget())
	for _, e := range b.GetEvents() {
		if e.Type == pb.EventType_EVENT_TYPE_SUMMARIZED {
			l.summaries++
		}
	}
}

// row is a line of the table. Its end says whether the model's window took it all, and by what.
func (l *ledger) row(name string) []string {
	fits := "in every turn"
	switch {
	case l.overflow > 0:
		fits = fmt.Sprintf("until turn %d", l.overflow-1)
	case l.summaries > 0:
		fits = "by " + sheet.Count(l.summaries, "summary")
	}
	return []string{name, number(l.sent), number(l.largest), number(int64(l.cost)), l.money(), fits}
}

// ledgers compare what was built with four others: sending the history whole, and clipping results alone, both with the best cache
// there is, because nothing that was sent ever changes; the sidecar with nothing that expires, and the same with large results cited.
type ledgers struct {
	whole, clipped, plain, cited, kept ledger
	turns                              int
	saved                              [len(savers)]int64 // kept out of the contexts, in tokens over all turns
	citing                             int64              // and by citing, in the conversation that cites
}

// savers are what keeps tokens out of contexts, and which events say so.
var savers = [...]struct {
	name   string
	tokens func(*pb.TokenReport) int64
	events []pb.EventType
}{
	{"expiry", (*pb.TokenReport).GetSavedByExpiry, []pb.EventType{
		pb.EventType_EVENT_TYPE_COMPACTED, pb.EventType_EVENT_TYPE_REMOVED, pb.EventType_EVENT_TYPE_EXPIRED,
	}},
	{"retention", (*pb.TokenReport).GetSavedByRetention, []pb.EventType{pb.EventType_EVENT_TYPE_RETENTION_APPLIED}},
	{"clipping", (*pb.TokenReport).GetSavedByClipping, []pb.EventType{pb.EventType_EVENT_TYPE_CLIPPED}},
	{"pruning", (*pb.TokenReport).GetSavedByPruning, []pb.EventType{pb.EventType_EVENT_TYPE_PRUNED}},
	{"summaries", (*pb.TokenReport).GetSavedByCompaction, []pb.EventType{pb.EventType_EVENT_TYPE_SUMMARIZED}},
	{"the window", (*pb.TokenReport).GetSavedByFit, nil},
}

// compare books a context, and what it would have been without the sidecar, or if nothing expired.
func (a *agent) compare(ctx context.Context, b *pb.BuildContextResponse) {
	t, l := b.GetTokens(), &a.ledgers
	for i := range savers {
		l.saved[i] += savers[i].tokens(t)
	}
	if a.alone {
		return
	}
	plain, cited := a.plain.build(ctx, a.format), a.citing.build(ctx, a.format)
	var whole, clipped int64
	for i := range a.entries {
		whole += a.entries[i].tokens
		clipped += a.entries[i].tokens - a.entries[i].saved
	}
	l.whole.pay(b.GetTurn(), whole, l.whole.previous, t.GetBudget())
	l.clipped.pay(b.GetTurn(), clipped, min(l.clipped.previous, clipped), t.GetBudget())
	l.plain.built(plain)
	l.cited.built(cited)
	l.kept.built(b)
	l.citing += cited.GetTokens().GetSavedByCiting()
	l.turns++
}

// summary prints what it all came to.
func (a *agent) summary() {
	a.Rule("what it came to")
	bytes := 0
	for i := range a.entries {
		bytes += a.entries[i].bytes
	}
	a.Paragraph("%d turns, %d tool calls (%d failed), %d messages, %s on record, %.1f s.", a.turns, a.calls, a.failed, len(a.entries), terminal.Bytes(bytes), time.Since(a.began).Seconds())
	l := &a.ledgers
	a.Line("")
	a.table(fmt.Sprintf("input, over the first %d turns", l.turns), "tokens", "largest", "cost", "money", "fits the window").Rows([][]string{
		l.whole.row("the whole history, results whole"), l.clipped.row("the whole history, results clipped"),
		l.plain.row("the sidecar, if nothing expires"), l.cited.row("the sidecar, large results cited"), l.kept.row("what the sidecar built"),
	})
	a.Line("")
	a.Paragraph("Cost is in plain input tokens: 1.25 for one that is written to the provider's cache, 0.1 for one that is read from "+
		"it; money at $%g for a million. The first two rows assume a window without end and a cache that never misses. The third and the "+
		"fourth are the same conversation, kept beside this one without lives and plugins, in the sidecar's defaults: what outgrows the "+
		"window becomes a summary. Tokens are counted with %s; those of very large results are estimates. What such a history costs a "+
		"model in attention is not in the table, nor is what it misses of the messages it does not see.", dollars, a.counter)
	a.Line("")
	most, rows, saved := slices.Max(l.saved[:]), make([][]string, 0, len(savers)), &l.saved
	for i, by := range savers {
		events := 0
		for _, kind := range by.events {
			events += a.events[kind]
		}
		rows = append(rows, []string{"by " + by.name, number(saved[i]), number(events), a.Bar(saved[i], most, a.Width/4, "")})
	}
	a.table("kept out, over all turns", "tokens", "messages", "").Rows(rows)
	a.Line("")
}
