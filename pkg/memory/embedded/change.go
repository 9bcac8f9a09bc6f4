package embedded

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

const (
	// changeAttempts is how often a change is decided anew because another process was faster.
	changeAttempts = 12
	// changePause bounds how long a change waits before it is decided anew, times the number of attempts.
	changePause = 10 * time.Millisecond
)

// change decides what becomes of a scope, and commits it. decide may be called several times, and changes the draft alone.
func (t *Target) change(ctx context.Context, s memory.Scope, decide func(*draft) error) error {
	if err := checkScope(s); err != nil {
		return err
	}
	key := Partition(s)
	done, err := t.turns.Wait(ctx, key)
	if err != nil {
		return contractError(ctx, err)
	}
	defer done()
	for attempt := range changeAttempts {
		if attempt > 0 {
			if err := store.Pause(ctx, rand.N(time.Duration(attempt)*changePause)); err != nil {
				return contractError(ctx, err)
			}
		}
		err := t.attempt(ctx, s, key, decide)
		if !errors.Is(err, store.ErrConflict) && !errors.Is(err, store.ErrNotFound) {
			return contractError(ctx, err)
		}
	}
	return contractError(ctx, errMoved)
}

func (t *Target) attempt(ctx context.Context, s memory.Scope, key store.Key, decide func(*draft) error) error {
	x, err := t.load(ctx, s)
	if err != nil {
		return err
	}
	d := newDraft(x, s, t.Clock().UnixMilli())
	if err := decide(d); err != nil || !d.changed() {
		return err
	}
	head := t.nextHead(&x.head)
	newer, c, err := d.commit(head, t.MaxMessages, t.MaxBytes)
	if err != nil {
		return err
	}
	if err := t.Store.Commit(ctx, key, c); err != nil {
		t.Cache.Drop(key) // nothing is known of the outcome, or others were faster
		return err
	}
	t.Cache.Put(key, newer, newer.held())
	return nil
}

// nextHead is the head after one more change.
func (t *Target) nextHead(before *store.Head) store.Head {
	now := t.Clock()
	head := *before
	if head.Incarnation.IsZero() || head.State == store.Deleted {
		head = store.Head{Incarnation: t.IDs(), Request: -1, Opening: -1, CreateTime: now, Version: before.Version}
	}
	head.Version++
	head.UpdateTime = now
	return head
}

func checkScope(s memory.Scope) error {
	if s.Kind < memory.ScopeUser || s.Kind > memory.ScopeOrg || (s.ID == "") != (s.Kind == memory.ScopeOrg) {
		return refused("a scope without a kind or a name")
	}
	return nil
}
