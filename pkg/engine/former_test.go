package engine_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// ending is a way in which a conversation ends without a tombstone, ten seconds after its last append.
type ending struct {
	name   string
	policy conversation.Policy
	end    func(t *testing.T, b *bench)
}

func endings() []ending {
	passes := func(_ *testing.T, b *bench) { b.now = b.now.Add(time.Minute) }
	return []ending{
		{"delete", conversation.Policy{}, func(t *testing.T, b *bench) { b.clear(t, "gone") }},
		{"delete, swept", conversation.Policy{}, func(t *testing.T, b *bench) {
			b.clear(t, "gone")
			b.sweep(t)
			b.sweep(t)
		}},
		{"ttl", conversation.Policy{TTL: ptr(time.Minute), TTLWithoutTombstone: ptr(true)}, passes},
		{"ttl, swept", conversation.Policy{TTL: ptr(time.Minute), TTLWithoutTombstone: ptr(true)}, func(t *testing.T, b *bench) {
			passes(t, b)
			for range 3 { // it is deleted and replaced, and its records are removed
				b.sweep(t)
			}
		}},
	}
}

// everyEnding runs a test for all ways in which a conversation can end, on all stores. The conversation was created with the request id
// "made". It has a message with the request id "r", two of a batch with "batch", and builds.
func everyEnding(t *testing.T, test func(t *testing.T, b *bench)) {
	for _, ending := range endings() {
		t.Run(ending.name, func(t *testing.T) {
			stores(t, func(t *testing.T, s store.Store) {
				b := newBenchOn(s, 1<<20)
				if err := create(b, "made", ending.policy); err != nil {
					t.Fatal(err)
				}
				for _, send := range []func(*bench, string) error{sendOne, sendBatch} {
					if err := send(b, ""); err != nil {
						t.Fatal(err)
					}
				}
				b.build(t, "c", conversation.FormatOpenAIChat, 100_000)
				ending.end(t, b)
				test(t, b)
			})
		})
	}
}

func (b *bench) clear(t *testing.T, id string) {
	t.Helper()
	if err := b.Clear(ctx, keyOf("c"), request("DeleteConversation", id, "")); err != nil {
		t.Fatal(err)
	}
}

func create(b *bench, id string, p conversation.Policy) error {
	_, err := b.Create(ctx, engine.CreateRequest{Key: keyOf("c"), Info: store.Info{Policy: p}, Request: request("CreateConversation", id, "")})
	return err
}

func createAgain(b *bench, suffix string) error {
	return create(b, "made"+suffix, conversation.Policy{})
}

func sendOne(b *bench, suffix string) error {
	_, err := appendOnce(b, "r"+suffix, "hello")
	return err
}

func sendBatch(b *bench, suffix string) error {
	_, err := b.Append(ctx, engine.AppendRequest{
		Key: keyOf("c"), Messages: []conversation.Message{user("a"), user(words(20_000))}, Request: request("BatchAppendMessages", "batch"+suffix, "x"),
	})
	return err
}

func retries() map[string]func(*bench, string) error {
	return map[string]func(*bench, string) error{"append": sendOne, "batch": sendBatch, "create": createAgain}
}

// TestEngine_Append_WithoutTombstone_BeginsAnew: it begins at index 0, with the default policy, and with nothing of the old one in view.
// Until then, every call answers that the conversation is deleted (behaviour §3.5).
func TestEngine_Append_WithoutTombstone_BeginsAnew(t *testing.T) {
	everyEnding(t, func(t *testing.T, b *bench) {
		b.everythingFailsButAppend(t)
		old := b.head(t, "c").Incarnation
		r := b.append(t, "c", user(words(20_000))) // large: staged before there is a head
		if m := r.Messages[0]; m.Index != 0 || m.ID != "m0" || r.Revision != 1 {
			t.Errorf("%+v at revision %d", m, r.Revision)
		}
		h := b.head(t, "c")
		if h.Incarnation == old || h.State != store.Live || !h.ExpireTime.IsZero() || h.Reusable || h.Turn != 0 {
			t.Errorf("head %+v", h)
		}
		built := b.build(t, "c", conversation.FormatOpenAIChat, 100_000)
		if built.Turn != 1 || built.Manifest.Seq != 1 || built.Prefix.BrokenBy != engine.BreakFirstBuild {
			t.Errorf("turn %d, manifest %d, %+v", built.Turn, built.Manifest.Seq, built.Prefix)
		}
		b.append(t, "c", answer("on"))
		b.sweep(t)
		b.sweep(t)
		if got := b.records(t, "c"); len(got) != 2 || len(got[0].Parts[0].Text.Inline) != 80_000 {
			t.Errorf("%d messages", len(got))
		}
	})
}

// everythingFailsButAppend is everythingFails for a conversation that an append would begin anew. An append with the request id of the
// first message would not, so it is tried too.
func (b *bench) everythingFailsButAppend(t *testing.T) {
	t.Helper()
	_, err := b.StoreContent(ctx, engine.StoreContentRequest{Key: keyOf("c")})
	expect(t, err, conversation.ConversationDeleted)
	_, err = b.Import(ctx, keyOf("c"), func() (*engine.Record, error) { return nil, errors.New("not read") })
	expect(t, err, conversation.ConversationDeleted)
	expect(t, b.Watch(ctx, keyOf("c"), "", nil), conversation.ConversationDeleted)
	_, err = b.Get(ctx, keyOf("c"))
	expect(t, err, conversation.ConversationDeleted)
	_, err = b.ask("c", 1000, nil)
	expect(t, err, conversation.ConversationDeleted)
	_, err = b.Delete(ctx, keyOf("c"), engine.Request{})
	expect(t, err, conversation.ConversationDeleted)
	expect(t, b.Export(ctx, keyOf("c"), func(engine.Record) error { return nil }), conversation.ConversationDeleted)
	list, err := b.List(ctx, engine.ListRequest{Namespace: "default", Limit: 10})
	if err != nil || len(list.Conversations) != 0 {
		t.Errorf("listed: %+v, %v", list, err)
	}
}

// TestEngine_Retry_FromBeforeTheEnd_RevivesNothing: this holds before and after the conversation has begun anew, swept or not. A day
// after the request, the same request is a new one.
func TestEngine_Retry_FromBeforeTheEnd_RevivesNothing(t *testing.T) {
	for name, retry := range retries() {
		t.Run(name, func(t *testing.T) {
			everyEnding(t, func(t *testing.T, b *bench) {
				sent := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
				expect(t, retry(b, ""), conversation.ConversationDeleted)
				b.append(t, "c", user("new"))
				for _, at := range []time.Time{b.now, sent.Add(time.Hour), sent.Add(day - time.Second)} {
					b.now = at
					b.sweep(t)
					expect(t, retry(b, ""), conversation.ConversationDeleted)
					if h := b.head(t, "c"); h.Messages != 1 {
						t.Fatalf("%d messages after the retry", h.Messages)
					}
				}
				b.now = sent.Add(day)
				if name == "create" {
					expect(t, retry(b, ""), conversation.ConversationExists)
				} else if err := retry(b, ""); err != nil {
					t.Fatalf("a day later: %v", err)
				}
			})
		})
	}
}

// TestEngine_Retry_OfTheDeletion_DeletesNothingAnew: the retry reports success again, and leaves a new conversation alone.
func TestEngine_Retry_OfTheDeletion_DeletesNothingAnew(t *testing.T) {
	for _, ending := range endings()[:2] {
		t.Run(ending.name, func(t *testing.T) {
			stores(t, func(t *testing.T, s store.Store) {
				b := newBenchOn(s, 1<<20)
				b.append(t, "c", user("old"))
				ending.end(t, b)
				b.clear(t, "gone")
				expect(t, b.Clear(ctx, keyOf("c"), engine.Request{}), conversation.ConversationDeleted)
				b.append(t, "c", user("new"))
				b.clear(t, "gone")
				if got := b.records(t, "c"); len(got) != 1 || got[0].Parts[0].Text.Inline != "new" {
					t.Errorf("%d messages", len(got))
				}
				b.clear(t, "another")
				_, err := b.Get(ctx, keyOf("c"))
				expect(t, err, conversation.ConversationDeleted)
			})
		})
	}
}

// TestEngine_Create_WithoutTombstone_RemembersToo: a conversation that was created and deleted again still remembers the requests to the
// first one.
func TestEngine_Create_WithoutTombstone_RemembersToo(t *testing.T) {
	everyEnding(t, func(t *testing.T, b *bench) {
		if err := createAgain(b, " anew"); err != nil {
			t.Fatal(err)
		}
		if err := createAgain(b, " anew"); err != nil {
			t.Fatalf("a retry of what created it: %v", err)
		}
		b.clear(t, "gone again")
		b.sweep(t)
		for _, suffix := range []string{"", " anew"} {
			expect(t, createAgain(b, suffix), conversation.ConversationDeleted)
		}
		b.append(t, "c", user("third"))
		for _, suffix := range []string{"", " anew"} { // also if another one exists by now
			expect(t, createAgain(b, suffix), conversation.ConversationDeleted)
		}
		for name, retry := range retries() {
			if err := retry(b, ""); conversation.KindOf(err) != conversation.ConversationDeleted {
				t.Errorf("%s: %v", name, err)
			}
		}
		if h := b.head(t, "c"); h.Messages != 1 {
			t.Errorf("%d messages", h.Messages)
		}
	})
}

// TestEngine_Sweep_WithoutTombstone_LeavesNothing: a day later the name is free, and a live conversation no longer holds remembered
// requests.
func TestEngine_Sweep_WithoutTombstone_LeavesNothing(t *testing.T) {
	everyEnding(t, func(t *testing.T, b *bench) {
		b.sweep(t)
		b.sweep(t)
		b.sweep(t)
		if len(b.due(t, 0)) != 0 {
			t.Error("something is still due")
		}
		b.now = b.now.Add(day - time.Second)
		b.sweep(t)
		_, err := b.Get(ctx, keyOf("c"))
		expect(t, err, conversation.ConversationDeleted)
		b.now = b.now.Add(time.Second)
		b.sweep(t)
		_, err = b.Get(ctx, keyOf("c"))
		expect(t, err, conversation.ConversationNotFound)
		if left := b.due(t, 1000*day); len(left) != 0 {
			t.Errorf("left behind: %+v", left)
		}
	})
	everyEnding(t, func(t *testing.T, b *bench) {
		b.append(t, "c", user("new"))
		if h := b.head(t, "c"); h.Former.IsZero() || h.NextDue.After(h.Former) {
			t.Fatalf("former requests are not remembered: %+v", h)
		}
		b.now = b.now.Add(2 * day)
		b.sweep(t)
		snap, err := b.store.Read(ctx, keyOf("c"), store.Query{SlotsOf: "former/"})
		if err != nil || len(snap.Slots) != 0 || !snap.Head.Former.IsZero() {
			t.Errorf("%d slots, %v", len(snap.Slots), err)
		}
	})
}

// TestEngine_Watch_WithoutTombstone_OldTokensExpire: a stream in progress ends too.
func TestEngine_Watch_WithoutTombstone_OldTokensExpire(t *testing.T) {
	stores(t, func(t *testing.T, s store.Store) {
		b := newBenchOn(s, 1<<20)
		b.append(t, "c", user("old"))
		first := b.watch(t, "c", "", 1)[0].Token
		err := b.Watch(ctx, keyOf("c"), "", func(engine.EventAt) error {
			b.clear(t, "gone")
			b.append(t, "c", user("new"))
			return nil
		})
		expect(t, err, conversation.ConversationDeleted)
		expect(t, b.Watch(ctx, keyOf("c"), first, nil), conversation.ResumeTokenExpired)
		if got := b.watch(t, "c", "", 1); got[0].Event.Index != 0 {
			t.Errorf("the new stream begins at %d", got[0].Event.Index)
		}
	})
}

// TestEngine_Append_WithoutTombstone_Race: callers in two processes and a sweeper find the deleted conversation at the same time. The
// result is one incarnation, with every message once.
func TestEngine_Append_WithoutTombstone_Race(t *testing.T) {
	everyEnding(t, func(t *testing.T, b *bench) {
		other := second(b)
		other.now = b.now
		var all sync.WaitGroup
		for i := range 12 {
			all.Go(func() {
				e := []*bench{b, other}[i%2]
				for { // what lost eight times may be sent again
					_, err := appendOnce(e, fmt.Sprint("new", i), fmt.Sprint(i))
					if conversation.KindOf(err) != conversation.Contention {
						if err != nil {
							t.Error(err)
						}
						return
					}
				}
			})
		}
		all.Go(func() { _ = other.Sweep(ctx) })
		all.Wait()
		seen := map[string]bool{}
		for i, m := range b.records(t, "c") {
			seen[m.RequestID] = true
			if int(m.Index) != i {
				t.Errorf("message %d has index %d", i, m.Index)
			}
		}
		if len(seen) != 12 || b.head(t, "c").Messages != 12 {
			t.Errorf("%d of 12, %d messages", len(seen), b.head(t, "c").Messages)
		}
		expect(t, sendOne(b, ""), conversation.ConversationDeleted)
	})
}

// TestEngine_Append_WithoutTombstone_StoreFails: whichever commit fails, the next try begins the conversation anew, and a retry from
// before the deletion does not.
func TestEngine_Append_WithoutTombstone_StoreFails(t *testing.T) {
	for fails := 1; fails <= 2; fails++ {
		f := newFaulty()
		b := newBenchOn(f, 0)
		if err := create(b, "made", conversation.Policy{TTL: ptr(time.Minute), TTLWithoutTombstone: ptr(true)}); err != nil {
			t.Fatal(err)
		}
		if err := sendOne(b, ""); err != nil {
			t.Fatal(err)
		}
		b.now = b.now.Add(time.Minute)
		f.commits = 0
		f.commit = func(store.Key, *store.Change) error {
			if f.commits == fails {
				return store.ErrUnavailable
			}
			return nil
		}
		expect(t, sendOne(b, " new"), conversation.StoreUnavailable)
		expect(t, sendOne(b, ""), conversation.ConversationDeleted)
		if err := sendOne(b, " new"); err != nil || b.head(t, "c").Messages != 1 {
			t.Errorf("commit %d failed: %v", fails, err)
		}
	}
}

// TestEngine_Append_TooManyFormerRequests_StaysDeleted: if not all requests can be remembered, the id stays taken for a day.
func TestEngine_Append_TooManyFormerRequests_StaysDeleted(t *testing.T) {
	const most = 60_000
	b := newBench(1 << 20)
	b.append(t, "c", user("first"))
	for first := b.head(t, "c").Messages; first <= most; first = b.head(t, "c").Messages {
		h := b.head(t, "c")
		c := &store.Change{Expect: h.Version, Head: h}
		c.Head.Version++
		for range 5000 {
			m := user("x")
			m.Index, m.CreateTime, m.RequestID = c.Head.Messages, b.now, fmt.Sprint("many", c.Head.Messages)
			c.Messages = append(c.Messages, m)
			c.Head.Messages++
		}
		if err := b.store.Commit(ctx, keyOf("c"), c); err != nil {
			t.Fatal(err)
		}
	}
	b.clear(t, "gone")
	expect(t, sendOne(b, ""), conversation.ConversationDeleted)
	b.sweep(t)
	expect(t, sendOne(b, ""), conversation.ConversationDeleted)
	b.sweep(t)
	if snap, err := b.remains(b.head(t, "c").Incarnation); err != nil || len(snap.Messages) != 0 {
		t.Errorf("%d messages are left, %v", len(snap.Messages), err)
	}
	b.now = b.now.Add(day)
	b.sweep(t)
	if err := sendOne(b, ""); err != nil {
		t.Errorf("a day later: %v", err)
	}
}

// TestEngine_TTL_WithTombstone_AppendsFail: the option is off by default.
func TestEngine_TTL_WithTombstone_AppendsFail(t *testing.T) {
	for _, option := range []*bool{nil, ptr(false)} {
		b := newBench(1 << 20)
		if err := create(b, "made", conversation.Policy{TTL: ptr(time.Minute), TTLWithoutTombstone: option}); err != nil {
			t.Fatal(err)
		}
		b.now = b.now.Add(time.Minute)
		expect(t, sendOne(b, ""), conversation.ConversationDeleted)
		b.sweep(t)
		expect(t, sendOne(b, ""), conversation.ConversationDeleted)
		if got := b.head(t, "c").DeleteTime.Sub(b.now); got != 30*day {
			t.Errorf("a tombstone for %s", got)
		}
	}
}
