package engine_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/memory"
)

func (b *bench) sweep(t testing.TB) {
	t.Helper()
	if err := b.Sweep(ctx); err != nil {
		t.Fatal(err)
	}
}

// due lists what a sweeper would be told at a time.
func (b *bench) due(t testing.TB, after time.Duration) []store.Task {
	t.Helper()
	tasks, err := b.store.Due(ctx, b.now.Add(after), 1000)
	if err != nil {
		t.Fatal(err)
	}
	return tasks
}

// remains reads what is left of an incarnation.
func (b *bench) remains(id conversation.ID) (*store.Snapshot, error) {
	return b.store.Read(ctx, keyOf("c"), store.Query{
		Incarnation: id, Info: true, Ranges: []store.MessageRange{{Range: conversation.Range{End: 1 << 30}}}, Manifest: &store.ManifestRange{Limit: 100},
	})
}

const day = 24 * time.Hour

// TestEngine_Sweep_Tombstone: records are removed at once, and the tombstone after 30 days (behaviour §3.5). Then the id is
// free.
func TestEngine_Sweep_Tombstone(t *testing.T) {
	stores(t, func(t *testing.T, s store.Store) {
		b := newBenchOn(s, 1<<20)
		b.append(t, "c", user(words(20_000)), call("a"), result("a", words(20_000)))
		b.steps(t, "c", 700, 1)
		b.build(t, "c", conversation.FormatOpenAIChat, 10_000)
		incarnation := b.head(t, "c").Incarnation
		if _, err := b.Delete(ctx, keyOf("c"), engine.Request{}); err != nil {
			t.Fatal(err)
		}
		b.sweep(t)
		if snap, err := b.remains(incarnation); err != nil || len(snap.Messages)+len(snap.Manifests) != 0 || snap.Head.State != store.Deleted {
			t.Fatalf("%d messages are left, %v", len(snap.Messages), err)
		}
		b.now = b.now.Add(30*day - time.Second)
		b.sweep(t)
		_, err := b.ask("c", 1000, nil)
		expect(t, err, conversation.ConversationDeleted)
		b.now = b.now.Add(time.Second)
		b.sweep(t)
		_, err = b.ask("c", 1000, nil)
		expect(t, err, conversation.ConversationNotFound)
		if left := b.due(t, 1000*day); len(left) != 0 {
			t.Errorf("left behind: %+v", left)
		}
		b.append(t, "c", user("a new life"))
	})
}

// TestEngine_Sweep_TTL: what is past its ttl becomes a tombstone, and its records go.
func TestEngine_Sweep_TTL(t *testing.T) {
	b := newBench(1 << 20)
	info := store.Info{Policy: conversation.Policy{TTL: ptr(time.Hour)}}
	if _, err := b.Create(ctx, engine.CreateRequest{Key: keyOf("c"), Info: info}); err != nil {
		t.Fatal(err)
	}
	b.append(t, "c", user("u"))
	b.now = b.now.Add(time.Hour - time.Second)
	b.sweep(t)
	b.append(t, "c", user("renewed"))
	b.now = b.now.Add(time.Hour - time.Second)
	b.sweep(t)
	if h := b.head(t, "c"); h.State != store.Live {
		t.Fatal("buried a second early")
	}
	b.now = b.now.Add(time.Second)
	b.sweep(t)
	b.sweep(t)
	h := b.head(t, "c")
	if snap, err := b.remains(h.Incarnation); err != nil || h.State != store.Deleted || len(snap.Messages) != 0 {
		t.Errorf("%+v, %v", h, err)
	}
	b.now = h.DeleteTime
	b.sweep(t)
	if left := b.due(t, 1000*day); len(left) != 0 {
		t.Errorf("left behind: %+v", left)
	}
}

// TestEngine_Sweep_Orphans: contents that no commit refers to go an hour after they were staged.
func TestEngine_Sweep_Orphans(t *testing.T) {
	stores(t, func(t *testing.T, s store.Store) {
		f := &faulty{Store: s}
		b := newBenchOn(f, 0)
		b.append(t, "c", user(words(20_000)))
		f.commit = func(store.Key, *store.Change) error { return store.ErrOutcomeUnknown }
		_, err := b.Append(ctx, engine.AppendRequest{Key: keyOf("c"), Messages: []conversation.Message{user(words(20_000))}})
		expect(t, err, conversation.OutcomeUnknown)
		_, err = b.Append(ctx, engine.AppendRequest{Key: keyOf("new"), Messages: []conversation.Message{user(words(20_000))}})
		expect(t, err, conversation.OutcomeUnknown)
		f.commit = nil
		if got := len(b.due(t, store.UploadGrace-time.Second)); got != 0 {
			t.Errorf("%d uploads are due early", got)
		}
		b.now = b.now.Add(store.UploadGrace)
		if got := len(b.due(t, 0)); got == 0 {
			t.Error("no upload is due")
		}
		b.sweep(t)
		if left := b.due(t, 1000*day); len(left) != 0 {
			t.Errorf("left behind: %+v", left)
		}
		if got := b.records(t, "c"); len(got) != 1 || len(got[0].Parts[0].Text.Inline) != 80_000 {
			t.Error("a content in use was swept")
		}
	})
}

// TestEngine_Sweep_OutcomesAndManifests: request ids are removed after 24 hours, and manifests after 30 days. This is
// bookkeeping, which changes neither the revision nor the time of the last change.
func TestEngine_Sweep_OutcomesAndManifests(t *testing.T) {
	b := newBench(1 << 20)
	if _, err := appendOnce(b, "r", "x"); err != nil {
		t.Fatal(err)
	}
	b.build(t, "c", conversation.FormatOpenAIChat, 1000)
	before := b.head(t, "c")
	outcome := func() *store.Outcome {
		snap, err := b.store.Read(ctx, keyOf("c"), store.Query{Request: &store.RequestKey{RPC: "AppendMessage", ID: "r"}})
		if err != nil {
			t.Fatal(err)
		}
		return snap.Outcome
	}
	b.now = b.now.Add(day - time.Second)
	b.sweep(t)
	if outcome() == nil {
		t.Error("forgotten early")
	}
	b.now = b.now.Add(time.Second)
	if len(b.due(t, 0)) != 1 {
		t.Error("after a day, nothing is due")
	}
	b.sweep(t)
	if outcome() != nil {
		t.Error("still remembered after a day")
	}
	b.now = b.now.Add(29*day - time.Second)
	b.sweep(t)
	if list, _, err := b.Manifests(ctx, keyOf("c"), 0, 10); err != nil || len(list) != 1 {
		t.Errorf("%d manifests before 30 days, %v", len(list), err)
	}
	b.now = b.now.Add(time.Second)
	b.sweep(t)
	if list, _, err := b.Manifests(ctx, keyOf("c"), 0, 10); err != nil || len(list) != 0 {
		t.Errorf("%d manifests after 30 days, %v", len(list), err)
	}
	after := b.head(t, "c")
	if after.Revision != before.Revision || !after.UpdateTime.Equal(before.UpdateTime) || after.Turn != before.Turn {
		t.Errorf("before %+v, after %+v", before, after)
	}
	if left := b.due(t, 1000*day); len(left) != 0 {
		t.Errorf("a conversation at rest is due again: %+v", left)
	}
	if r := b.build(t, "c", conversation.FormatOpenAIChat, 1000); r.Turn != 2 || r.Manifest.Seq != 2 {
		t.Errorf("turn %d, manifest %d", r.Turn, r.Manifest.Seq)
	}
}

// TestEngine_Sweep_FailureOfOne: the failure of one task does not stop the others.
func TestEngine_Sweep_FailureOfOne(t *testing.T) {
	f := newFaulty()
	b := newBenchOn(f, 0)
	for _, id := range []string{"a", "b", "c"} {
		b.append(t, id, user("u"))
		if _, err := b.Delete(ctx, keyOf(id), engine.Request{}); err != nil {
			t.Fatal(err)
		}
	}
	f.commit = func(key store.Key, _ *store.Change) error {
		if key == keyOf("b") {
			return store.ErrFull
		}
		return nil
	}
	expect(t, b.Sweep(ctx), conversation.StoreFull)
	f.commit = nil
	for id, want := range map[string]bool{"a": true, "b": false, "c": true} {
		if got := b.head(t, id).NextDue.After(b.now); got != want {
			t.Errorf("%s swept: %v", id, got)
		}
	}
	b.sweep(t)
}

// TestEngine_Run_SweepsInTurnAndRecovers: Run ends with its context.
func TestEngine_Run_SweepsInTurnAndRecovers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		due := 0
		var told []error
		s := &dueStore{Store: memory.New(memory.Options{}), due: func() error {
			due++
			if due == 2 {
				panic("secret words")
			}
			if due == 3 {
				return store.ErrCorrupt
			}
			return nil
		}}
		e := engine.New(engine.Options{Store: s, Clock: time.Now, OnError: func(err error) { told = append(told, err) }})
		running, stop := contextWithCancel()
		done := make(chan error)
		go func() { done <- e.Run(running) }()
		time.Sleep(81 * time.Second) // the bubble's time: four times the interval
		stop()
		if err := <-done; err != nil || due != 5 || len(told) != 2 {
			t.Fatalf("%v after %d sweeps, told %v", err, due, told)
		}
		if told[0].Error() != "background work: panic of type string" || conversation.KindOf(told[1]) != conversation.CorruptRecord {
			t.Errorf("told %v", told)
		}
	})
}
