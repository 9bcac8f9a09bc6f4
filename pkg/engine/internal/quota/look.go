package quota

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/store"
)

const (
	// A refusal rests on a look that is at most so old. Where there are many conversations it may be older: looking must not become the
	// namespace's main work.
	freshFor             = time.Second
	freshPerConversation = 100 * time.Microsecond

	// Use is looked at so often while nobody is refused, and as much more rarely where there are many conversations.
	lookEvery        = 30 * time.Second
	restPerFreshness = 10

	lookPage = 256
)

// look is one pass over the heads of a namespace.
type look struct {
	began  time.Time
	done   chan struct{} // closed at its end
	seen   amount
	missed []*Reservation // what was settled meanwhile and is not in seen
}

// freshness is how old a look may be that a refusal rests on.
func (a *account) freshness() time.Duration {
	return max(freshFor, time.Duration(max(a.use.conversations, 0))*freshPerConversation)
}

// nextLook is how long it is until a refused call is worth another look.
func (a *account) nextLook() time.Duration {
	return max(a.lookedAt.Add(a.freshness()).Sub(a.keeper.options.Clock()), freshFor/10)
}

// lookUnlessFresh looks, or waits for who is looking, if the last look is too old to refuse on; false if it is not.
func (a *account) lookUnlessFresh(ctx context.Context) (looked bool, err error) {
	a.mu.Lock()
	if l := a.current; l != nil {
		a.mu.Unlock()
		select {
		case <-l.done:
			return true, nil
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
	now := a.keeper.options.Clock()
	if !a.lookedAt.IsZero() && now.Sub(a.lookedAt) < a.freshness() {
		a.mu.Unlock()
		return false, nil
	}
	l := &look{began: now, done: make(chan struct{})}
	a.current = l
	a.mu.Unlock()
	a.run(context.WithoutCancel(ctx), l) // others wait for it
	return true, nil
}

// run looks at all conversations. Where the store fails, what is known stays: a damaged head must not stop a namespace.
func (a *account) run(ctx context.Context, l *look) {
	defer close(l.done)
	whole := false
	defer func() { a.finish(l, whole) }()
	for after := ""; ; {
		page, err := a.keeper.options.Store.List(ctx, a.namespace, after, lookPage)
		if err != nil {
			if a.keeper.options.OnError != nil {
				a.keeper.options.OnError(err)
			}
			return
		}
		a.take(l, page)
		if len(page) < lookPage {
			whole = true
			return
		}
		after = page[len(page)-1].ID
	}
}

// take counts a page, and notes which commits of this process are in it.
func (a *account) take(l *look, page []store.Entry) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range page {
		l.seen = l.seen.plus(amountOf(&page[i].Head, l.began))
	}
	for r := range a.pending {
		if r.isIn(page) {
			r.seenBy = l
		}
	}
	l.missed = slices.DeleteFunc(l.missed, func(r *Reservation) bool { return r.isIn(page) })
}

// isIn says whether a page of entries, in order of id, holds what a commit made.
func (r *Reservation) isIn(page []store.Entry) bool {
	at, found := slices.BinarySearchFunc(page, r.conversation, func(e store.Entry, id string) int { return strings.Compare(e.ID, id) })
	return found && page[at].Head.Version >= r.version
}

// finish replaces what is known by what was seen.
func (a *account) finish(l *look, whole bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lookedAt, a.current = l.began, nil
	if !whole {
		return
	}
	a.use = l.seen
	for _, r := range l.missed {
		a.use = a.use.plus(r.change)
	}
	for r := range a.pending {
		if r.seenBy == l {
			r.counted = true
			a.release(r)
		}
	}
}

// Refresh looks at the namespaces whose last look is old, so that what other processes do is known before anybody is refused.
func (k *Keeper) Refresh(ctx context.Context) {
	if k == nil {
		return
	}
	k.mu.Lock()
	accounts := slices.Collect(maps.Values(k.accounts))
	k.mu.Unlock()
	for _, a := range accounts {
		if ctx.Err() == nil && a.isStale() {
			_, _ = a.lookUnlessFresh(ctx)
		}
	}
}

func (a *account) isStale() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.keeper.options.Clock().Sub(a.lookedAt) >= max(lookEvery, restPerFreshness*a.freshness())
}
