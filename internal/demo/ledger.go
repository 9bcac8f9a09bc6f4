package demo

import palimpsestv1 "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"

// Prices of input, as multiples of a plain input token. Everything that the cache does not hold is written to it.
const (
	writePrice = 1.25
	readPrice  = 0.1
)

// ledger adds up what one way of keeping the context costs.
type ledger struct {
	sent     int64 // tokens, over all turns
	largest  int64 // tokens of the largest request
	cost     float64
	previous int64
	overflow int32 // the first turn that does not fit; 0 if all do
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

// ledgers compare what was built with two ways of doing without: sending the history whole, and clipping results alone. Both
// have the best cache there is: nothing that was sent ever changes.
type ledgers struct {
	whole, clipped, kept ledger
}

func (l *ledgers) send(b *palimpsestv1.BuildContextResponse, record []entry) {
	var whole, saved int64
	for i := range record {
		whole += record[i].tokens
		saved += record[i].saved
	}
	budget := b.GetTokens().GetBudget()
	l.whole.pay(b.Turn, whole, l.whole.previous, budget)
	l.clipped.pay(b.Turn, whole-saved, min(l.clipped.previous, whole-saved), budget)
	l.kept.pay(b.Turn, b.GetTokens().GetTotal(), b.GetPrefix().GetStableTokens(), budget)
}
