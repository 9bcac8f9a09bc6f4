package quota

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// TestKeeper_Refresh_LooksWhenItIsTime: what another process adds is known within the interval, which grows with the conversations, and
// nothing is read between.
func TestKeeper_Refresh_LooksWhenItIsTime(t *testing.T) {
	t.Parallel()
	now, reads, h := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), 0, numbered(0)
	k := New(&Options{
		Store: counting{&h, &reads}, Clock: func() time.Time { return now }, Limits: func(string) Limits { return Limits{Conversations: 1 << 40} },
	})
	k.Refresh(context.Background())
	if reads != 0 {
		t.Error("a namespace that nobody called is looked at")
	}
	if err := k.Check(context.Background(), "n", true, 0); err != nil {
		t.Fatal(err)
	}
	h = 40_000
	for _, step := range []struct {
		after time.Duration
		looks bool
	}{{29 * time.Second, false}, {30 * time.Second, true}, {30 * time.Second, false}, {40 * time.Second, true}} {
		before := reads
		now = now.Add(step.after)
		if k.Refresh(context.Background()); (reads > before) != step.looks {
			t.Errorf("after %s, %d pages are read", step.after, reads-before)
		}
		if !step.looks {
			now = now.Add(-step.after)
		}
	}
	if u := k.Use(); len(u) != 1 || u[0].Used != 40_000 {
		t.Errorf("use %+v", u)
	}
}

// numbered is a store of so many conversations.
type numbered int

// List implements lister.
func (n *numbered) List(_ context.Context, _, after string, limit int) (out []store.Entry, err error) {
	from, _ := strconv.Atoi(after)
	for i := from + 1; i <= int(*n) && len(out) < limit; i++ {
		out = append(out, store.Entry{ID: fmt.Sprintf("%06d", i), Head: store.Head{Version: 1}})
	}
	return out, nil
}

// counting counts what is read.
type counting struct {
	lister
	reads *int
}

func (c counting) List(ctx context.Context, namespace, after string, limit int) ([]store.Entry, error) {
	*c.reads++
	return c.lister.List(ctx, namespace, after, limit)
}

// TestKeeper_NoLimits_ReadsAndKeepsNothing: a namespace without limits costs nothing.
func TestKeeper_NoLimits_ReadsAndKeepsNothing(t *testing.T) { // counts allocations, so not parallel
	if k := New(&Options{}); k != nil {
		t.Fatal("a keeper is made of no limits")
	}
	reads := 0
	k := New(&Options{Store: counting{heads{}, &reads}, Clock: time.Now, Limits: func(string) Limits { return Limits{ModelCalls: 1} }})
	after := &store.Head{Version: 1, Bytes: 5}
	allocated := testing.AllocsPerRun(100, func() {
		for _, k := range []*Keeper{nil, k} {
			r, err := k.Reserve(context.Background(), store.Key{Namespace: "n"}, &store.Head{}, after)
			r.Settle(true)
			if r != nil || err != nil {
				t.Fatalf("%+v (%v)", r, err)
			}
		}
	})
	if reads > 0 || len(k.accounts) > 0 || allocated > 0 || len(k.Use()) > 0 {
		t.Errorf("%d reads, %d accounts, %.0f allocations", reads, len(k.accounts), allocated)
	}
}

func written(output int64) conversation.CallTokens { return conversation.CallTokens{Output: output} }

// TestKeeper_ReserveCall_SlidingMinute: no minute has more calls, or a higher spend, than is allowed; what was not made counts for nothing,
// and what took less than was thought makes room.
func TestKeeper_ReserveCall_SlidingMinute(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	limits := Limits{ModelCalls: 3, ModelSpend: 10}
	k := New(&Options{Clock: func() time.Time { return now }, Limits: func(string) Limits { return limits }, Profile: priced})
	call := func(model string, output int64, want bool) func(bool, conversation.CallTokens) {
		t.Helper()
		settle, ok := k.ReserveCall(context.Background(), "n", model, written(output))
		if ok != want {
			t.Errorf("a call of %s for %d tokens at %s: %v", model, output, now.Format(time.TimeOnly), ok)
		}
		return settle
	}
	settle := call("p/dear", 8_000_000, true)
	call("p/dear", 3_000_000, false)
	call("p/free", 1<<40, true)
	settle(true, written(1_000_000))
	now = now.Add(30 * time.Second)
	call("p/dear", 9_000_000, true)
	call("p/free", 1, false)
	now = now.Add(30 * time.Second)
	call("p/free", 1, true)
	call("p/free", 1, true)(false, written(0))
	call("p/dear", 1_000_001, false)
	call("p/dear", 1_000_000, true)
	call("p/free", 1, false)
	if settle, ok := k.ReserveCall(context.Background(), "n", "p/broken", written(1)); ok {
		settle(true, written(1))
		t.Error("a call is made whose price cannot be known")
	}
}

// TestKeeper_ReserveCall_LimitBelowOneCall: one call a minute is admitted that is thought to cost more than the limit, and no other beside it.
func TestKeeper_ReserveCall_LimitBelowOneCall(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	k := New(&Options{Clock: func() time.Time { return now }, Limits: func(string) Limits { return Limits{ModelSpend: 0.5} }, Profile: priced})
	call := func(want bool) (settle func(bool, conversation.CallTokens)) {
		t.Helper()
		settle, ok := k.ReserveCall(context.Background(), "n", "p/dear", written(1_000_000))
		if ok != want {
			t.Fatalf("at %s a call is admitted: %v", now.Format(time.TimeOnly), ok)
		}
		return settle
	}
	first := call(true)
	call(false)
	first(false, written(0))
	second := call(true)
	second(true, written(900_000))
	now = now.Add(callWindow - 1)
	call(false)
	now = now.Add(1)
	call(true)
	call(false)
}

// priced knows a model that costs a dollar for a million tokens of output.
func priced(_ context.Context, _, model string) (conversation.ModelProfile, error) {
	dollar := 1.0
	switch model {
	case "dear":
		return conversation.ModelProfile{OutputPrice: &dollar}, nil
	case "broken":
		return conversation.ModelProfile{}, store.ErrUnavailable
	default:
		return conversation.ModelProfile{}, nil
	}
}
