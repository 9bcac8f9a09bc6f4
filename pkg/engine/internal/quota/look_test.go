package quota

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// heads is a store that holds heads alone.
type heads map[string]store.Head

// List implements lister.
func (h heads) List(_ context.Context, _, after string, limit int) ([]store.Entry, error) {
	var out []store.Entry
	for _, id := range slices.Sorted(maps.Keys(h)) {
		if id > after && len(out) < limit {
			out = append(out, store.Entry{ID: id, Head: h[id]})
		}
	}
	return out, nil
}

// world is a store that callers change, step by step, while a look is in progress.
type world struct {
	t       *rapid.T
	keeper  *Keeper
	account *account
	heads   heads
	calls   []*call
	looking *look
	page    []store.Entry // read, and not counted yet
	read    bool
	after   string
	ended   bool
}

// call is a call in progress: it reserves room, then commits, then settles.
type call struct {
	id        string
	after     store.Head
	room      *Reservation
	committed bool
}

const limitedTo = 150

func newWorld(t *rapid.T) *world {
	w := &world{t: t, heads: heads{}}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	limits := Limits{Bytes: limitedTo, Conversations: limitedTo}
	w.keeper = New(&Options{Store: w.heads, Clock: func() time.Time { return now }, Limits: func(string) Limits { return limits }})
	w.account = w.keeper.account("n", limits)
	w.account.lookedAt = now // nothing is there
	return w
}

// begin lets a caller ask for room, for an append, a deletion or an erasure. A conversation has one caller at a time.
func (w *world) begin() {
	id := rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}).Draw(w.t, "id")
	if slices.ContainsFunc(w.calls, func(c *call) bool { return c.id == id }) {
		return
	}
	before := w.heads[id]
	c := &call{id: id, after: before}
	c.after.Version++
	switch gone := before.State == store.Deleted; {
	case !gone && before.Version > 0 && rapid.IntRange(0, 3).Draw(w.t, "deletes") == 0:
		c.after.State, c.after.Bytes = store.Deleted, 0
	default:
		c.after.State = store.Live
		c.after.Bytes = max(0, before.Bytes+int64(rapid.IntRange(-20, 60).Draw(w.t, "bytes")))
	}
	gaveUp, cancel := context.WithCancel(context.Background()) // the look that a refusal waits for goes on by steps
	cancel()
	room, err := w.keeper.Reserve(gaveUp, store.Key{Namespace: "n", Conversation: id}, &before, &c.after)
	if err != nil {
		return
	}
	c.room = room
	w.calls = append(w.calls, c)
}

// proceed lets a caller commit, settle or fail.
func (w *world) proceed() {
	if len(w.calls) == 0 {
		return
	}
	at := rapid.IntRange(0, len(w.calls)-1).Draw(w.t, "who")
	c := w.calls[at]
	if !c.committed && rapid.IntRange(0, 4).Draw(w.t, "fails") > 0 {
		c.committed = true
		w.heads[c.id] = c.after
		return
	}
	c.room.Settle(c.committed)
	w.calls = slices.Delete(w.calls, at, at+1)
}

// look goes one step further: begin, read a page, count it, end.
func (w *world) look() {
	switch a := w.account; {
	case w.looking == nil:
		w.looking, w.after, w.read, w.ended = &look{began: w.keeper.options.Clock(), done: make(chan struct{})}, "", false, false
		a.mu.Lock()
		a.current = w.looking
		a.mu.Unlock()
	case w.ended:
		a.finish(w.looking, rapid.IntRange(0, 5).Draw(w.t, "whole") > 0)
		w.looking = nil
	case !w.read:
		w.page, _ = w.heads.List(context.Background(), "n", w.after, 2)
		w.read = true
	default:
		a.take(w.looking, w.page)
		w.read = false
		if w.ended = len(w.page) < 2; !w.ended {
			w.after = w.page[1].ID
		}
	}
}

func (w *world) truth() (sum amount) {
	for _, h := range w.heads {
		sum = sum.plus(amountOf(&h, time.Time{}))
	}
	return sum
}

// TestAccount_Use_AnyInterleaving: whatever is committed while somebody looks counts exactly once, and no
// interleaving goes over a limit.
func TestAccount_Use_AnyInterleaving(t *testing.T) {
	t.Parallel()
	proptest.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			switch rapid.IntRange(0, 5).Draw(t, "step") {
			case 0, 1:
				w.begin()
			case 2, 3:
				w.proceed()
			default:
				w.look()
			}
			if on := w.truth(); on.bytes > limitedTo {
				t.Fatalf("%d bytes are on record", on.bytes)
			}
		}
		for len(w.calls) > 0 {
			w.proceed()
		}
		for w.looking != nil {
			w.look()
		}
		if a := w.account; a.use != w.truth() || a.reserved != (amount{}) || len(a.pending) > 0 {
			t.Fatalf("known are %+v and %+v on their way, and %+v is on record", a.use, a.reserved, w.truth())
		}
	})
}
