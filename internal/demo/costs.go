package demo

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"

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

// way is a way of keeping the context, and what its requests cost. All figures are in tokens.
type way struct {
	id                      string // of the conversation that is kept so, if one is
	requests, fitting       int
	sent, largest, previous int64
	cost                    float64
	summaries, citing       int64
}

// pay books one request of which the provider has the first stable tokens in its cache.
func (w *way) pay(total, stable, budget int64) {
	if w.requests == w.fitting && total <= budget {
		w.fitting++
	}
	w.requests++
	w.sent += total
	w.largest = max(w.largest, total)
	w.cost += float64(stable)*readPrice + float64(total-stable)*writePrice
	w.previous = total
}

// built books a context of the sidecar's.
func (w *way) built(b *pb.BuildContextResponse) {
	w.pay(b.GetTokens().GetTotal(), b.GetPrefix().GetStableTokens(), b.GetTokens().GetBudget())
	w.citing += b.GetTokens().GetSavedByCiting()
	for _, e := range b.GetEvents() {
		if e.GetType() == pb.EventType_EVENT_TYPE_SUMMARIZED {
			w.summaries++
		}
	}
}

func (w *way) money() string { return fmt.Sprintf("$%.2f", w.cost*dollars/1e6) }

// line is a line of the table. Its end says whether the model's window took it all, and by what.
func (w *way) line(name string) []string {
	fits := "in every turn"
	switch {
	case w.fitting < w.requests:
		fits = fmt.Sprintf("until turn %d", w.fitting)
	case w.summaries > 0:
		fits = "by " + sheet.Count(int(w.summaries), "summary")
	}
	return []string{name, number(w.sent), number(w.largest), number(int64(w.cost)), w.money(), fits}
}

// compare books a context, and what it would have been without the sidecar, or if nothing expired.
func (p *player) compare(ctx context.Context, b *pb.BuildContextResponse) {
	b.GetTokens().ProtoReflect().Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if by, ok := strings.CutPrefix(string(f.Name()), "saved_by_"); ok {
			p.saved[by] += v.Int()
		}
		return true
	})
	if p.alone {
		return
	}
	budget, clipped := b.GetTokens().GetBudget(), p.history-p.clippedOff
	p.whole.pay(p.history, p.whole.previous, budget)
	p.clipped.pay(clipped, min(p.clipped.previous, clipped), budget)
	p.kept.built(b)
	p.plain.built(p.build(ctx, p.plain.id, p.format, false))
	p.cited.built(p.build(ctx, p.cited.id, p.format, false))
}

// showCosts prints what it all came to.
func (p *player) showCosts() {
	bytes := 0
	for _, e := range p.entries {
		bytes += e.bytes
	}
	p.Rule("what it came to")
	p.Paragraph("%d turns, %d tool calls (%d failed), %d messages, %s on record, %.1f s.", p.turns, p.calls, p.failed, len(p.entries), terminal.Bytes(bytes), time.Since(p.began).Seconds())
	p.Line("")
	p.table(fmt.Sprintf("input, over the first %d turns", p.whole.requests), "tokens", "largest", "cost", "money", "fits the window").Rows([][]string{
		p.whole.line("the whole history, results whole"), p.clipped.line("the whole history, results clipped"),
		p.plain.line("the sidecar, if nothing expires"), p.cited.line("the sidecar, large results cited"), p.kept.line("what the sidecar built"),
	})
	p.Line("")
	p.Paragraph("Cost is in plain input tokens: 1.25 for one that is written to the provider's cache, 0.1 for one that is read from "+
		"it; money at $%g for a million. The first two rows assume a window without end and a cache that never misses. The third and the "+
		"fourth are the same conversation, kept beside this one without lives and plugins, in the sidecar's defaults: what outgrows the "+
		"window becomes a summary. Tokens are counted with %s; those of very large results are estimates. What such a history costs a "+
		"model in attention is not in the table, nor is what it misses of the messages it does not see.", dollars, p.early.GetTokens().GetCounter())
	p.Line("")
	rows, most := make([][]string, 0, len(p.saved)), slices.Max(slices.Collect(maps.Values(p.saved)))
	for _, by := range slices.Sorted(maps.Keys(p.saved)) {
		rows = append(rows, []string{"by " + by, number(p.saved[by]), number(p.changed[by]), p.Bar(p.saved[by], most, p.Width/4, "")})
	}
	p.table("kept out, over all turns", "tokens", "messages", "").Rows(rows)
	p.Line("")
}

// table has names at its left, words at its right, and numbers between.
func (p *player) table(names ...string) *sheet.Table {
	t := &sheet.Table{Sheet: p.Sheet, Indent: strings.Repeat(" ", p.Indent)}
	for i, name := range names {
		t.Columns = append(t.Columns, sheet.Column{Title: name, Right: i > 0 && i < len(names)-1})
	}
	return t
}
