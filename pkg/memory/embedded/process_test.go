package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/memory/embedded"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// watching counts what is read of a store, and may say that it is of another epoch.
type watching struct {
	store.Store
	mu    sync.Mutex
	slots int
	epoch string
}

func (w *watching) Read(ctx context.Context, key store.Key, q store.Query) (*store.Snapshot, error) {
	snap, err := w.Store.Read(ctx, key, q)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil {
		w.slots += len(snap.Slots)
		snap.Head.Epoch = w.epoch
	}
	return snap, err
}

func (w *watching) Commit(ctx context.Context, key store.Key, c *store.Change) error {
	w.mu.Lock()
	if c.Head.Epoch != "" && c.Head.Epoch != w.epoch {
		w.mu.Unlock()
		return store.ErrConflict
	}
	w.mu.Unlock()
	return w.Store.Commit(ctx, key, c)
}

func (w *watching) read() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.slots
	w.slots = 0
	return n
}

// filler is a text of so many words that no other text has.
func filler(name string, words int) string {
	var b strings.Builder
	for i := range words {
		fmt.Fprintf(&b, "%s%dx ", name, i)
	}
	return b.String()
}

func TestTarget_Processes_SeeEachOthersChanges(t *testing.T) {
	t.Parallel()
	w := memoryWorld(t)
	one, two, s := w.process(), w.process(), user("anna")
	if found := find(t, two, s, "bees"); len(found) > 0 {
		t.Fatalf("%v of nothing", found)
	}
	for i := range 5 {
		text := fmt.Sprintf("My bees number %d are in hall %d.", 1000+i, i)
		add(t, one, talk(s, fmt.Sprint("talk", i), 0, day(i), text))
		if found := find(t, two, s, text); len(found) == 0 || found[0].Text != text {
			t.Errorf("%d: the other process finds %v", i, textsOf(found))
		}
		one, two = two, one
	}
	_, err := one.Forget(t.Context(), s, time.Now().AddDate(10, 0, 0))
	must(t, err)
	if found := find(t, two, s, "bees"); len(found) > 0 {
		t.Errorf("forgotten, and the other process finds %v", textsOf(found))
	}
}

// A generation that moved costs the segments that changed, and one that did not the head alone.
func TestTarget_Changes_AreReadAlone(t *testing.T) {
	t.Parallel()
	w := memoryWorld(t)
	counted := &watching{Store: w.store}
	o := w.options()
	o.Store = counted
	one, two, s := w.process(), w.with(o), user("anna")
	for i := range 40 {
		add(t, one, talk(s, fmt.Sprint("talk", i), 0, day(i), filler(fmt.Sprint("a", i, "b"), 2000)))
	}
	find(t, two, s, "a3b7x")
	stats, err := two.Stats(t.Context(), s)
	must(t, err)
	if first := counted.read(); stats.Segments < 5 || first != stats.Segments+1 {
		t.Errorf("%d slots read of %d segments", first, stats.Segments)
	}
	find(t, two, s, "a3b7x")
	if again := counted.read(); again != 0 {
		t.Errorf("%d slots read of what did not change", again)
	}
	add(t, one, talk(s, "more", 0, day(1), "My bees are in the hall."))
	if found := find(t, two, s, "bees"); len(found) == 0 {
		t.Error("what was added is not found")
	}
	if more := counted.read(); more != 3 { // the directory, and again with the segment
		t.Errorf("%d slots read for one that changed", more)
	}
}

func TestTarget_AnotherEpoch_IsReadAnew(t *testing.T) {
	t.Parallel()
	w := memoryWorld(t)
	counted := &watching{Store: w.store, epoch: "a"}
	o := w.options()
	o.Store = counted
	target, s := w.with(o), user("anna")
	add(t, target, talk(s, "talk", 0, day(0), "My bees are in the hall."))
	find(t, target, s, "bees")
	counted.mu.Lock()
	counted.epoch = "b"
	counted.mu.Unlock()
	counted.read()
	if found := find(t, target, s, "bees"); len(found) == 0 || counted.read() < 2 {
		t.Error("what was ready in another epoch is trusted")
	}
	add(t, target, talk(s, "talk", 1, day(0), "They make honey."))
	if found := find(t, target, s, "honey"); len(found) == 0 {
		t.Error("nothing is added in the new epoch")
	}
}

// Nothing is lost, and nothing is there twice, whoever is faster.
func TestTarget_ConcurrentProcesses_LoseNothing(t *testing.T) {
	t.Parallel()
	w, s := memoryWorld(t), user("anna")
	var all sync.WaitGroup
	const processes, batches = 4, 15
	for p := range processes {
		target := w.process()
		all.Go(func() {
			for i := range batches {
				b := talk(s, fmt.Sprint("talk", p), int32(i), day(0), fmt.Sprintf("I live in house %d of street %d.", i, p))
				for {
					_, err := target.Add(context.Background(), b)
					if err == nil {
						break
					}
					if !errors.Is(err, memory.ErrUnavailable) {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	all.Wait()
	said := textsOf(list(t, w.process(), s, memory.Said))
	slices.Sort(said)
	if n := len(slices.Compact(said)); n != processes*batches {
		t.Errorf("%d of %d messages", n, processes*batches)
	}
}

func TestTarget_NewestMessages_Stay(t *testing.T) {
	t.Parallel()
	w, s := memoryWorld(t), user("anna")
	o := w.options()
	o.MaxMessages = 30
	target := w.with(o)
	for i := range 25 {
		at := day(i)
		if i == 24 {
			at = day(-100) // older than all: it does not stay
		}
		add(t, target, talk(s, fmt.Sprint("talk", i), 0, at, fmt.Sprintf("The bees of day %d.", i), fmt.Sprintf("The honey of day %d.", i)))
	}
	stats, err := target.Stats(t.Context(), s)
	must(t, err)
	if stats.Messages != 30 || stats.Left != 20 {
		t.Errorf("%+v", stats)
	}
	for _, m := range list(t, target, s, memory.Said) {
		if m.Time.Before(day(9)) {
			t.Errorf("a message of %v stays", m.Time)
		}
	}
	o.MaxMessages, o.MaxBytes = 0, 100<<10
	target = w.with(o)
	for i := range 40 {
		add(t, target, talk(s, fmt.Sprint("long", i), 0, day(60+i), filler(fmt.Sprint("a", i, "b"), 2500)))
	}
	if stats, err = target.Stats(t.Context(), s); err != nil || stats.Bytes > 110<<10 {
		t.Errorf("%+v, %v", stats, err)
	}
}

func TestTarget_HiddenMessages_AreNotShown(t *testing.T) {
	t.Parallel()
	w, s := memoryWorld(t), user("anna")
	o := w.options()
	o.Extract = nil
	target := w.with(o)
	var texts []string
	for i := range 40 {
		texts = append(texts, fmt.Sprintf("The bees are in hall %d.", i))
	}
	add(t, target, talk(s, "talk", 0, day(0), texts...))
	for i := range int32(35) {
		w.record.hide(s.Namespace, "talk", incarnationOf("talk"), i)
	}
	if found := find(t, target, s, "bees"); len(found) != 5 {
		t.Errorf("%v", textsOf(found))
	}
	if listed := list(t, target, s); len(listed) != 5 {
		t.Errorf("%v", textsOf(listed))
	}
}

// A batch that is sent again brings back nothing that was deleted, nor what was forgotten; what is said later is remembered.
func TestTarget_ResentBatches_BringNothingBack(t *testing.T) {
	t.Parallel()
	w, s := memoryWorld(t), user("anna")
	target := w.process()
	b := talk(s, "talk", 0, day(0), "I prefer tea over coffee.", "The bees are in the hall.")
	add(t, target, b)
	for _, m := range find(t, target, s, "what do I prefer") {
		_, err := target.Delete(t.Context(), s, []string{m.ID})
		must(t, err)
	}
	add(t, target, b)
	if left := textsOf(list(t, target, s)); len(left) != 1 || left[0] != b.Messages[1].Text {
		t.Errorf("%q", left)
	}
	w.now.Store(day(1).UnixMilli())
	_, err := target.Forget(t.Context(), s, time.Now().AddDate(10, 0, 0))
	must(t, err)
	add(t, target, b)
	add(t, target, talk(s, "talk", 2, day(1).Add(time.Second), "They make honey."))
	if left := textsOf(list(t, target, s)); len(left) != 1 || left[0] != "They make honey." {
		t.Errorf("%q", left)
	}
	_, err = target.Put(t.Context(), s, &memory.Note{Key: "k", Text: "old", Time: day(0)})
	if !errors.Is(err, memory.ErrRefused) {
		t.Errorf("a note from before: %v", err)
	}
	if _, err := target.Put(t.Context(), s, &memory.Note{Key: "k", Text: "new", Time: day(2)}); err != nil {
		t.Error(err)
	}
}

func TestTarget_StoreThatFails_IsUnavailable(t *testing.T) {
	t.Parallel()
	w, s := memoryWorld(t), user("anna")
	target := w.process()
	add(t, target, talk(s, "talk", 0, day(0), "The bees are in the hall."))
	_ = w.store.Close()
	for name, call := range map[string]func() error{
		"Search": func() error {
			_, err := target.Search(t.Context(), s, &memory.Query{Text: "bees", Limit: 1})
			return err
		},
		"Add": func() error {
			_, err := target.Target.Add(t.Context(), talk(s, "more", 0, day(0), "Honey."))
			return err
		},
		"Retract": func() error {
			_, err := target.Retract(t.Context(), s, &memory.Retraction{Conversation: "talk", Range: conversation.Range{End: 9}})
			return err
		},
	} {
		if err := call(); !errors.Is(err, memory.ErrUnavailable) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTarget_WhatItCannotTake_IsRefused(t *testing.T) {
	t.Parallel()
	w, s := memoryWorld(t), user("anna")
	target := w.process()
	for name, change := range map[string]func(*memory.Batch){
		"no scope":        func(b *memory.Batch) { b.Scope.Kind = 0 },
		"no actor":        func(b *memory.Batch) { b.Scope.ID = "" },
		"no conversation": func(b *memory.Batch) { b.Conversation = "" },
		"no incarnation":  func(b *memory.Batch) { b.Incarnation = conversation.ID{} },
		"too many":        func(b *memory.Batch) { b.Messages = make([]memory.Message, target.Limits().MaxMessages+1) },
		"a wrong index":   func(b *memory.Batch) { b.Messages[0].Index = -1 },
	} {
		b := talk(s, "talk", 0, day(0), "The bees are in the hall.")
		change(b)
		if _, err := target.Target.Add(t.Context(), b); !errors.Is(err, memory.ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, n := range map[string]*memory.Note{"no key": {Text: "x"}, "no JSON": {Key: "k", Text: "x", Metadata: "{"}} {
		if _, err := target.Put(t.Context(), s, n); !errors.Is(err, memory.ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPartition_Scopes_HaveTheirOwn(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 250)
	seen := map[store.Key]memory.Scope{}
	for _, namespace := range []string{"", "a", "a:b", long, long + "y"} {
		for _, s := range []memory.Scope{
			{Kind: memory.ScopeUser, ID: "anna"}, {Kind: memory.ScopeSession, ID: "anna"}, {Kind: memory.ScopeAgent, ID: "anna"}, {Kind: memory.ScopeOrg},
			{Kind: memory.ScopeUser, ID: long},
		} {
			s.Namespace = namespace
			key := embedded.Partition(s)
			if err := key.Check(); err != nil {
				t.Error(err)
			}
			if other, ok := seen[key]; ok {
				t.Errorf("%+v and %+v share a partition", s, other)
			}
			seen[key] = s
			if strings.Contains(key.Conversation, "anna") || !strings.HasPrefix(key.Namespace, "memory") {
				t.Errorf("%+v", key)
			}
		}
	}
}
