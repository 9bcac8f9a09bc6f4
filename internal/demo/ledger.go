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
	cuts     int   // moves of the window's start
	sums     int   // summaries
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
func (l *ledger) built(b *palimpsestv1.BuildContextResponse) {
	l.pay(b.Turn, b.GetTokens().GetTotal(), b.GetPrefix().GetStableTokens(), b.GetTokens().GetBudget())
	if b.GetPrefix().GetBrokenBy() == palimpsestv1.PrefixBreak_PREFIX_BREAK_WINDOW_MOVED {
		l.cuts++
	}
	for _, e := range b.Events {
		if e.Type == palimpsestv1.EventType_EVENT_TYPE_SUMMARIZED {
			l.sums++
		}
	}
}

// ledgers compare what was built with four others: sending the history whole, and clipping results alone, both
// with the best cache there is, because nothing that was sent ever changes; the sidecar with nothing that expires, and the same
// with large results cited.
type ledgers struct {
	whole, clipped, plain, cited, kept ledger
	turns                              int
	saved                              saved
}

// saved is what was kept out of the contexts, in tokens over all turns, as the sidecar says: by citing, in the conversation that
// cites.
type saved struct{ clipping, window, expiry, retention, pruning, summaries, citing int64 }

func (s *saved) add(t *palimpsestv1.TokenReport) {
	s.clipping += t.GetSavedByClipping()
	s.window += t.GetSavedByFit()
	s.expiry += t.GetSavedByExpiry()
	s.retention += t.GetSavedByRetention()
	s.pruning += t.GetSavedByPruning()
	s.summaries += t.GetSavedByCompaction()
}

func (l *ledgers) send(b, plain, cited *palimpsestv1.BuildContextResponse, record []entry) {
	var whole, clipped int64
	for i := range record {
		whole += record[i].tokens
		clipped += record[i].tokens - record[i].saved
	}
	budget := b.GetTokens().GetBudget()
	l.whole.pay(b.Turn, whole, l.whole.previous, budget)
	l.clipped.pay(b.Turn, clipped, min(l.clipped.previous, clipped), budget)
	l.plain.built(plain)
	l.cited.built(cited)
	l.saved.citing += cited.GetTokens().GetSavedByCiting()
	l.kept.built(b)
	l.turns++
}
