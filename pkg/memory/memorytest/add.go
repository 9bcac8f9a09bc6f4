package memorytest

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
)

// Batches of messages.
func addCases() []check {
	return []check{
		{"limits say what can be worked with", limitsAreUsable},
		{"what was said is found", saidIsFound},
		{"what is kept as it is names its message", ofAnna(keptNamesItsMessage)},
		{"sources lie in the batch", ofAnna(sourcesLieInTheBatch)},
		{"receipts name memories that are there", ofAnna(receiptsNameMemories)},
		{"a largest batch is taken", ofAnna(largestBatch)},
		{"a batch that is sent again doubles nothing", ofAnna(resentBatch)},
		{"a batch that nobody sent is not there", ofAnna(unsentBatch)},
		{"a batch whose answer was lost is there once", ofAnna(lostBatch)},
	}
}

func limitsAreUsable(b *box) {
	l := b.limits
	if l.MaxMessages < 1 || l.MaxChars < 1 || l.MaxNote < 1 || l.Concurrency < 1 || l.Interval < 0 {
		b.Errorf("limits are %+v", l)
	}
	if name := b.target.Name(); !regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`).MatchString(name) {
		b.Errorf("%q is no label", name)
	}
}

func saidIsFound(b *box) {
	for i, infer := range []bool{true, false} {
		s := b.user(fmt.Sprint("anna", i))
		batch := b.batch(s, fmt.Sprint("talk", i), 4, facts()[0], facts()[1])
		batch.Infer = infer
		b.add(batch)
		b.remembers(s, facts()[0], facts()[1])
	}
}

func keptNamesItsMessage(b *box, s memory.Scope) {
	batch := b.batch(s, "talk", 4, facts()[0], facts()[1])
	batch.Messages[1].Role, batch.Infer = conversation.RoleAssistant, false
	b.add(batch)
	b.remembers(s, facts()[0])
	for _, m := range b.list(s, 50) {
		said := strings.Contains(m.Text, facts()[0])
		if m.SaidBy != "" && said != (m.SaidBy == "user") {
			b.Errorf("%q was said by %q", m.Text, m.SaidBy)
		}
	}
}

func sourcesLieInTheBatch(b *box, s memory.Scope) {
	batch := b.batch(s, "a talk/with: names", 7, facts()[0], facts()[1], facts()[2])
	b.add(batch)
	b.remembers(s, facts()[0])
	for _, m := range b.list(s, 50) {
		for _, src := range m.Sources {
			switch {
			case src.Conversation != batch.Conversation || !src.Incarnation.IsZero() && src.Incarnation != batch.Incarnation:
				b.Error("the source is another conversation")
			case src.First < 7 || src.Last > 9 || src.First > src.Last:
				b.Errorf("the source is messages %d to %d", src.First, src.Last)
			case !src.Time.IsZero() && (src.Time.Before(batch.Messages[0].Time.Truncate(time.Second)) || src.Time.After(batch.Messages[2].Time)):
				b.Errorf("the source is of %v", src.Time)
			}
		}
	}
}

func receiptsNameMemories(b *box, s memory.Scope) {
	receipt := b.add(b.batch(s, "talk", 0, facts()[0], facts()[1]))
	b.remembers(s, facts()[0], facts()[1])
	if !b.limits.ReturnsIDs {
		return // watched holds it to naming none
	}
	if len(receipt.IDs) == 0 {
		b.Error("the receipt names no memory")
	}
	there := ids(b.list(s, 50))
	for _, id := range receipt.IDs {
		if !slices.Contains(there, id) {
			b.Error("the receipt names a memory that is not there")
		}
	}
}

func largestBatch(b *box, s memory.Scope) {
	texts := make([]string, min(b.limits.MaxMessages, 200))
	for i := range texts {
		texts[i] = fmt.Sprintf("My locker number %d is in hall %d.", 1000+i, i)
	}
	b.add(b.batch(s, "talk", 0, texts...))
	b.remembers(s, texts[0], texts[len(texts)-1])
}

func resentBatch(b *box, s memory.Scope) {
	batch := b.batch(s, "talk", 0, facts()[0], facts()[1])
	first := b.add(batch)
	b.remembers(s, facts()[0])
	before := len(b.list(s, 50))
	var again memory.Receipt
	if b.limits.Idempotent {
		again = b.add(batch)
	} else {
		var err error
		again, err = b.target.Settle(b.ctx, batch)
		b.must(err)
	}
	if b.limits.ReturnsIDs {
		b.equal(sorted(again.IDs), sorted(first.IDs))
	}
	b.eventually(func() string {
		if n := len(b.list(s, 50)); n != before {
			return fmt.Sprintf("%d memories became %d", before, n)
		}
		return ""
	})
}

func sorted(s []string) []string { return slices.Sorted(slices.Values(s)) }

func unsentBatch(b *box, s memory.Scope) {
	if b.limits.Idempotent {
		return // it is sent again, and nobody asks
	}
	sent := b.batch(s, "talk", 0, facts()[0])
	b.add(sent)
	_, err := b.target.Settle(b.ctx, b.batch(s, "talk", 0, facts()[0]))
	b.wants(err, memory.ErrNotFound)
	other := *sent
	other.Scope = b.user("bert")
	_, err = b.target.Settle(b.ctx, &other)
	b.wants(err, memory.ErrNotFound)
}

func lostBatch(b *box, s memory.Scope) {
	if b.o.Lose == nil {
		b.Log("no answer of this target can be lost")
		return
	}
	batch := b.batch(s, "talk", 0, facts()[0])
	b.o.Lose(b, unwatched(b.target))
	_, err := b.target.Add(b.ctx, batch)
	b.wants(err, memory.ErrOutcomeUnknown)
	if b.limits.Idempotent {
		b.add(batch)
	} else {
		b.until("the batch is not settled", func() bool {
			receipt, err := b.target.Settle(b.ctx, batch)
			if err != nil && !errors.Is(err, memory.ErrNotFound) {
				b.Fatal(err)
			}
			return err == nil && !receipt.Pending
		})
	}
	b.remembers(s, facts()[0])
	said := b.list(s, 50, memory.Said)
	drawn := b.list(s, 50, memory.Fact)
	if count(said, facts()[0]) > 1 || count(drawn, facts()[0]) > 1 {
		b.Errorf("what was said once is there %d times as said and %d times as a fact", len(said), len(drawn))
	}
}

func unwatched(t memory.Target) memory.Target {
	if w, ok := t.(*watched); ok {
		return w.Target
	}
	return t
}
