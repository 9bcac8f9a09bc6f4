package memorytest

import (
	"slices"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
)

// What goes again.
func forgetCases() []check {
	return []check{
		{"a deleted memory is gone", deleted},
		{"messages from an index on are taken back", ofAnna(retracted)},
		{"a conversation is taken back", ofAnna(retractedWhole)},
		{"another incarnation of a conversation stays", ofAnna(retractedIncarnation)},
		{"facts stay where they are to", ofAnna(retractedWithoutFacts)},
		{"a forgotten scope is empty, and can be filled again", ofAnna(forgotten)},
	}
}

func (b *box) forget(s memory.Scope) {
	b.Helper()
	b.repeat(func() (memory.Forgetting, error) { return b.target.Forget(b.ctx, s, time.Now().AddDate(10, 0, 0)) })
}

func (b *box) retract(s memory.Scope, r *memory.Retraction) memory.Forgetting {
	b.Helper()
	return b.repeat(func() (memory.Forgetting, error) { return b.target.Retract(b.ctx, s, r) })
}

func (b *box) repeat(call func() (memory.Forgetting, error)) (all memory.Forgetting) {
	b.Helper()
	for range 1000 {
		f, err := call()
		b.must(err)
		all.Deleted += f.Deleted
		all.Residue = append(all.Residue, f.Residue...)
		if !f.More {
			return all
		}
	}
	b.Fatal("it never ends")
	return all
}

func deleted(b *box) {
	if !b.limits.ForgetsOne {
		b.Log("single memories cannot be deleted")
		return
	}
	s := b.user("anna")
	one, two, three := b.put(s, facts()[0]), b.put(s, facts()[1]), b.put(s, facts()[2])
	b.remembers(s, facts()[:3]...)
	gone, err := b.target.Delete(b.ctx, s, []string{one, "no such id", "../x", "00000000-0000-0000-0000-000000000000", three})
	b.must(err)
	slices.Sort(gone)
	b.equal(gone, slices.Sorted(slices.Values([]string{one, three})))
	b.forgot(s, facts()[0], facts()[2])
	b.equal(ids(b.list(s, 50)), []string{two})
	gone, err = b.target.Delete(b.ctx, s, []string{one})
	b.must(err)
	b.equal(len(gone), 0)
}

// spoken is a conversation of two batches, with receipts.
func (b *box) spoken(s memory.Scope, name string, texts []string) (receipts []memory.Receipt) {
	b.Helper()
	receipts = append(receipts, b.add(b.batch(s, name, 0, texts[0], texts[1])), b.add(b.batch(s, name, 2, texts[2], texts[3])))
	b.remembers(s, texts...)
	return receipts
}

func retracted(b *box, s memory.Scope) {
	receipts := b.spoken(s, "talk", facts()[:4])
	b.add(b.batch(s, "other", 2, facts()[4]))
	b.put(s, facts()[5])
	b.remembers(s, facts()[4], facts()[5])
	all := b.retract(s, &memory.Retraction{
		Conversation: "talk", Incarnation: conversation.ID{1, 2, 3}, Range: conversation.Range{First: 2, End: 4}, IDs: receipts[1].IDs,
	})
	b.remembers(s, facts()[0], facts()[1], facts()[4], facts()[5])
	b.gone(s, all, facts()[2], facts()[3])
}

// gone holds a retraction to having taken texts away, or to saying that it cannot.
func (b *box) gone(s memory.Scope, all memory.Forgetting, texts ...string) {
	b.Helper()
	if b.limits.ForgetsOne && b.limits.ReturnsIDs {
		b.forgot(s, texts...)
	} else if slices.ContainsFunc(texts, func(text string) bool { return count(b.list(s, 50), text) > 0 }) && len(all.Residue) == 0 {
		b.Error("what was to be taken back is there, and no residue says so")
	}
}

func retractedWhole(b *box, s memory.Scope) {
	receipts := b.spoken(s, "talk", facts()[:4])
	b.add(b.batch(s, "talk 2", 0, facts()[4]))
	b.remembers(s, facts()[4])
	r := &memory.Retraction{
		Conversation: "talk", Incarnation: conversation.ID{1, 2, 3}, Range: conversation.Range{End: 1 << 30}, IDs: slices.Concat(receipts[0].IDs, receipts[1].IDs),
	}
	all := b.retract(s, r)
	b.remembers(s, facts()[4])
	b.gone(s, all, facts()[:4]...)
	b.retract(s, r) // again changes nothing
	b.remembers(s, facts()[4])
}

func retractedIncarnation(b *box, s memory.Scope) {
	b.add(b.batch(s, "talk", 0, facts()[0]))
	later := b.batch(s, "talk", 0, facts()[1])
	later.Incarnation = conversation.ID{9}
	receipt := b.add(later)
	b.remembers(s, facts()[0], facts()[1])
	all := b.retract(s, &memory.Retraction{
		Conversation: "talk", Incarnation: later.Incarnation, Range: conversation.Range{End: 1 << 30}, IDs: receipt.IDs,
	})
	b.remembers(s, facts()[0])
	b.gone(s, all, facts()[1])
}

func retractedWithoutFacts(b *box, s memory.Scope) {
	b.spoken(s, "talk", facts()[:4])
	b.eventually(func() string { return "" })
	drawn := ids(b.list(s, 50, memory.Fact))
	all := b.retract(s, &memory.Retraction{
		Conversation: "talk", Incarnation: conversation.ID{1, 2, 3}, Range: conversation.Range{End: 1 << 30}, KeepFacts: true,
	})
	b.equal(sorted(ids(b.list(s, 50, memory.Fact))), sorted(drawn))
	if b.limits.ForgetsOne {
		b.until("what was said is still there", func() bool { return len(b.list(s, 50, memory.Said)) == 0 })
	} else if len(b.list(s, 50, memory.Said)) > 0 && len(all.Residue) == 0 {
		b.Error("what was said is still there, and no residue says so")
	}
}

func forgotten(b *box, s memory.Scope) {
	b.add(b.batch(s, "talk", 0, facts()[0]))
	b.put(s, facts()[1])
	b.remembers(s, facts()[0], facts()[1])
	b.forget(s)
	b.forgot(s, facts()[0], facts()[1])
	b.equal(len(b.list(s, 50)), 0)
	b.forget(s) // of nothing
	b.add(b.batch(s, "talk 2", 0, facts()[2]))
	b.remembers(s, facts()[2])
	b.equal(count(b.list(s, 50), facts()[0]), 0)
}
