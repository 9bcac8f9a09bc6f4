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
	// A refusal rests on a look that is no older than freshFor. With many conversations it may be older, so that looking does not
	// become the main load of the namespace.
	freshFor             = time.Second
	freshPerConversation = 100 * time.Microsecond

	// While nothing is refused, the use is looked at this often, and less often with many conversations.
	lookEvery        = 30 * time.Second
	restPerFreshness = 10

	lookPage = 256
)

// look is one pass over the heads of a namespace.
type look struct {
	began  time.Time
	done   chan struct{} // closed at its end
	seen   amount
	missed []*Reservation // reservations that were settled during the look and are not part of seen
}

// freshness is the greatest age of a look on which a refusal may rest.
func (a *account) freshness() time.Duration {
	return max(freshFor, time.Duration(max(a.use.conversations, 0))*freshPerConversation)
}

// nextLook is how long to wait until another look can help a refused call.
func (a *account) nextLook() time.Duration {
	return max(a.lookedAt.Add(a.freshness()).Sub(a.keeper.options.Clock()), freshFor/10)
}

// lookUnlessFresh looks, or waits for a look in progress, unless the last look is fresh enough for a refusal. looked is false in that
// case.
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
	a.run(context.WithoutCancel(ctx), l) // not canceled with this call: others wait for it
	return true, nil
}

// run looks at all conversations. If the store fails, the earlier result stays: a damaged head must not block a namespace.
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

// take adds a page to the look, and marks this process's commits that are part of it.
func (a *account) take(l *look, page []store.Entry) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range page {
		l.seen = l.seen.plus(amountOf(&page[i].Head, l.began))
	}
	for r := range a.pending {
		if r.isOnPage(page) {
			r.seenBy = l
		}
	}
	l.missed = slices.DeleteFunc(l.missed, func(r *Reservation) bool { return r.isOnPage(page) })
}

// isOnPage reports whether a page of entries, sorted by id, holds what the commit made.
func (r *Reservation) isOnPage(page []store.Entry) bool {
	at, found := slices.BinarySearchFunc(page, r.conversation, func(e store.Entry, id string) int { return strings.Compare(e.ID, id) })
	return found && page[at].Head.Version >= r.version
}

// finish replaces the earlier result by that of the look.
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
			r.inUse = true
			a.release(r)
		}
	}
}

// Refresh looks at namespaces whose last look is old, so that changes of other processes are known before something is refused.
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
