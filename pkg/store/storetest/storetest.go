// Package storetest holds every back end to the contract of package store, line by line, and compares it with the reference
// model. A back end's own tests call Run, and its benchmarks Bench.
package storetest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// Factory opens a store that keeps what it keeps in a folder. A durable one that was closed finds it there again.
type Factory func(t testing.TB, folder string) store.Store

// Run holds a back end to the contract.
func Run(t *testing.T, open Factory) {
	t.Helper()
	RunCases(t, open, 0)
}

// RunCases is Run with another number of random sequences (0: as many as ever), for a back end whose calls take long. What the caller of the
// tests asks for stands above it.
func RunCases(t *testing.T, open Factory, sequences int) {
	t.Helper()
	for _, group := range []struct {
		name  string
		cases []check
	}{
		{"Commit", commitCases()},
		{"Read", readCases()},
		{"Logs", logCases()},
		{"Slots", slotCases()},
		{"Stage", stageCases()},
		{"Erasure", erasureCases()},
		{"Life", lifeCases()},
		{"List", listCases()},
		{"Moving", movingCases()},
		{"Concurrency", concurrencyCases()},
		{"Durability", durabilityCases()},
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, c := range group.cases {
				t.Run(c.name, func(t *testing.T) { c.run(newBox(t, open)) })
			}
		})
	}
	t.Run("Model", func(t *testing.T) { checkModel(t, open, sequences) })
}

// check is one clause of the contract.
type check struct {
	name string
	run  func(*box)
}

// of is a clause about one conversation, which the store has and knows of.
func of(run func(*talk)) func(*box) {
	return func(b *box) { run(b.begin(name("a"))) }
}

// box is a test with a store of its own.
type box struct {
	*testing.T
	ctx    context.Context
	open   Factory
	folder string
	s      store.Store
	ids    uint64
}

func newBox(t *testing.T, open Factory) *box {
	b := &box{T: t, ctx: t.Context(), open: open, folder: t.TempDir()}
	b.s = open(t, b.folder)
	t.Cleanup(func() { b.must(b.s.Close()) })
	return b
}

// reopen closes the store and opens it again over the same folder. It says whether what was acknowledged must be there.
func (b *box) reopen() (durable bool) {
	b.Helper()
	b.must(b.s.Close())
	b.s = b.open(b, b.folder)
	return b.s.Durability() != store.DurabilityNone
}

func (b *box) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *box) wants(err, want error) {
	b.Helper()
	if !errors.Is(err, want) {
		b.Fatalf("error is %v, and must be %v", err, want)
	}
}

func (b *box) equal(got, want any) {
	b.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		b.Fatalf("wanted (-), got (+):\n%s", diff)
	}
}

// id makes an id that differs from all before it.
func (b *box) id() (id conversation.ID) {
	b.ids++
	binary.BigEndian.PutUint64(id[:], b.ids*0x9e3779b97f4a7c15) // spread over the key space
	binary.BigEndian.PutUint64(id[8:], b.ids)
	return id
}

func (b *box) read(key store.Key, q store.Query) *store.Snapshot {
	b.Helper()
	snap, err := b.s.Read(b.ctx, key, q)
	b.must(err)
	snap.Head.Epoch = "" // it is the back end's own
	return snap
}

// absent reads what must not be there.
func (b *box) absent(key store.Key, q store.Query) {
	b.Helper()
	_, err := b.s.Read(b.ctx, key, q)
	b.wants(err, store.ErrNotFound)
}

// paged reads one page after the other until one is empty.
func paged[T any](next func(after *T) []T) (all []T) {
	var after *T
	for {
		page := next(after)
		if len(page) == 0 {
			return all
		}
		all, after = append(all, page...), &page[len(page)-1]
	}
}

func (b *box) due(until time.Time) []store.Task {
	b.Helper()
	tasks, err := b.s.Due(b.ctx, until, 1000)
	b.must(err)
	return tasks
}

// undeletable makes a deletion that must be refused.
func (b *box) undeletable(key store.Key, d store.Deletion, want error) {
	b.Helper()
	_, err := b.s.Delete(b.ctx, key, d)
	b.wants(err, want)
}

func (b *box) deleteAll(key store.Key, d store.Deletion) {
	b.Helper()
	for range 10_000 {
		done, err := b.s.Delete(b.ctx, key, d)
		b.must(err)
		if done {
			return
		}
	}
	b.Fatal("Delete does not come to an end")
}

// start is when all conversations of the suite begin.
func start() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 89, time.UTC) }

func span(first, end int32) conversation.Range { return conversation.Range{First: first, End: end} }

func all() conversation.Range { return span(0, 1<<30) }

func allMessages() store.Query { return store.Query{Ranges: []store.MessageRange{{Range: all()}}} }

// talk is a conversation that the suite changes.
type talk struct {
	*box
	key  store.Key
	head store.Head
}

// begin makes a conversation, with its attributes.
func (b *box) begin(key store.Key) *talk {
	b.Helper()
	k := b.unborn(key)
	c := k.change()
	c.Info = &store.Info{Title: key.Conversation, Metadata: `{"a":1}`}
	k.commit(c)
	return k
}

// unborn is a conversation that no commit has made.
func (b *box) unborn(key store.Key) *talk {
	return &talk{box: b, key: key, head: store.Head{Incarnation: b.id(), Request: -1, CreateTime: start(), UpdateTime: start()}}
}

func name(conversation string) store.Key {
	return store.Key{Namespace: "default", Conversation: conversation}
}

// change is a commit on top of what the conversation is.
func (k *talk) change() *store.Change {
	c := &store.Change{Expect: k.head.Version, Head: k.head}
	c.Head.Version++
	c.Head.Revision++
	return c
}

// say adds messages of some tokens each to a change.
func say(c *store.Change, tokens ...int32) *store.Change {
	for _, n := range tokens {
		c.Messages = append(c.Messages, conversation.Message{
			ID: fmt.Sprintf("m%d", c.Head.Messages), Index: c.Head.Messages, Role: conversation.RoleUser, Tokens: n,
			Parts: []conversation.Part{{
				Kind: conversation.PartText, Tokens: n,
				Text: conversation.Content{Inline: fmt.Sprintf("words of message %d", c.Head.Messages)},
			}},
			CreateTime: start(), Commit: c.Head.Version,
		})
		c.Head.Messages++
		c.Head.Tokens += int64(n)
		c.Head.Bytes += int64(n) << 33 // more than 32 bits hold
	}
	return c
}

// edit adds an edit to a change.
func edit(c *store.Change, kind conversation.EditKind, first, end int32) *store.Change {
	c.Head.EditSeq++
	c.Edits = append(c.Edits, conversation.Edit{
		Seq: c.Head.EditSeq, Kind: kind, Range: conversation.Range{First: first, End: end}, Commit: c.Head.Version, Time: start(),
	})
	return c
}

// build adds a manifest to a change.
func build(c *store.Change) *store.Change {
	c.Head.ManifestSeq++
	c.Manifest = &conversation.Manifest{Seq: c.Head.ManifestSeq, Window: conversation.WindowFrom(0), Model: "m", Factor: 1.02}
	return c
}

// commit makes a change that must succeed.
func (k *talk) commit(c *store.Change) {
	k.Helper()
	k.must(k.s.Commit(k.ctx, k.key, c))
	if !c.Aside {
		k.head = c.Head
	}
}

// refused makes a change that must fail, and must change nothing.
func (k *talk) refused(c *store.Change, want error) {
	k.Helper()
	before, errBefore := k.s.Read(k.ctx, k.key, everything())
	k.wants(k.s.Commit(k.ctx, k.key, c), want)
	after, errAfter := k.s.Read(k.ctx, k.key, everything())
	if !errors.Is(errAfter, errBefore) && errBefore != nil {
		k.wants(errAfter, store.ErrNotFound)
	}
	k.equal(after, before)
}

// everything is a query for all that a small conversation has, but for its contents.
func everything() store.Query {
	return store.Query{
		Info: true, Ranges: []store.MessageRange{{Range: all()}}, Edits: &store.EditRange{},
		Manifest: &store.ManifestRange{Limit: 1000}, SlotsOf: "s",
	}
}

func (k *talk) messages(q store.MessageRange) []int32 {
	k.Helper()
	return indices(k.read(k.key, store.Query{Ranges: []store.MessageRange{q}}).Messages)
}

func indices(ms []conversation.Message) []int32 {
	out := make([]int32, 0, len(ms))
	for i := range ms {
		out = append(out, ms[i].Index)
	}
	return out
}

func seqs(es []conversation.Edit) []int64 {
	out := make([]int64, 0, len(es))
	for i := range es {
		out = append(out, es[i].Seq)
	}
	return out
}
