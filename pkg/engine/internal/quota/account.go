package quota

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// amount is an amount on record, or a change of it.
type amount struct{ conversations, bytes int64 }

func (a amount) plus(b amount) amount {
	return amount{a.conversations + b.conversations, a.bytes + b.bytes}
}

func (a amount) minus(b amount) amount {
	return amount{a.conversations - b.conversations, a.bytes - b.bytes}
}

// growth is the part of a change that adds.
func (a amount) growth() amount { return amount{max(a.conversations, 0), max(a.bytes, 0)} }

// amountOf is what a conversation counts for. One past its ttl counts nothing, even if the sweeper has not come yet.
func amountOf(h *store.Head, now time.Time) amount {
	if h.Version == 0 || h.State != store.Live || !h.ExpireTime.IsZero() && !now.Before(h.ExpireTime) {
		return amount{}
	}
	return amount{1, h.Bytes}
}

// account is what this process knows of one namespace's use.
type account struct {
	keeper    *Keeper
	namespace string

	mu       sync.Mutex
	use      amount // the result of the last look, plus what this process has changed since
	reserved amount // what commits in progress may add
	pending  map[*Reservation]struct{}
	lookedAt time.Time // the start of the last look; zero before the first one
	current  *look     // the look in progress; nil if there is none
}

// Reservation is the room reserved for a commit in progress. It must be settled.
type Reservation struct {
	account      *account
	conversation string
	version      uint64 // the version that the commit makes
	change       amount
	seenBy       *look // the look that found the commit in the store
	inUse        bool  // the result of that look is in use
}

// Reserve reserves room for a commit that replaces the head before by the head after. Version 0 means that there was no conversation.
// It fails if the namespace would exceed a limit. A commit that adds nothing is never refused.
func (k *Keeper) Reserve(ctx context.Context, key store.Key, before, after *store.Head) (*Reservation, error) {
	if k == nil {
		return nil, nil
	}
	limits, now := k.options.Limits(key.Namespace), k.options.Clock()
	a := k.account(key.Namespace, limits)
	change := amountOf(after, now).minus(amountOf(before, now))
	if a == nil || change == (amount{}) {
		return nil, nil
	}
	r := &Reservation{account: a, conversation: key.Conversation, version: after.Version, change: change}
	return r, a.admit(ctx, limits, change.growth(), func() {
		a.reserved = a.reserved.plus(change.growth())
		a.pending[r] = struct{}{}
	})
}

// Check refuses what the commit would be refused for: one more conversation, if fresh, and the given number of bytes.
func (k *Keeper) Check(ctx context.Context, namespace string, fresh bool, bytes int64) error {
	if k == nil {
		return nil
	}
	limits := k.options.Limits(namespace)
	a := k.account(namespace, limits)
	if a == nil {
		return nil
	}
	more := amount{bytes: bytes}
	if fresh {
		more.conversations = 1
	}
	return a.admit(ctx, limits, more, func() {})
}

// Settle releases the room, and counts what was committed. Pass true if the commit may stand: it counts until the next look.
func (r *Reservation) Settle(committed bool) {
	if r == nil {
		return
	}
	a := r.account
	a.mu.Lock()
	defer a.mu.Unlock()
	if r.inUse {
		return
	}
	a.release(r)
	if !committed {
		return
	}
	a.use = a.use.plus(r.change)
	if a.current != nil && r.seenBy != a.current {
		a.current.missed = append(a.current.missed, r)
	}
}

// release releases the room of a reservation.
func (a *account) release(r *Reservation) {
	a.reserved = a.reserved.minus(r.change.growth())
	delete(a.pending, r)
}

// maxLooks is how often one call looks at most: a store may be so slow that no look is ever fresh.
const maxLooks = 2

// admit calls do under the lock if there is room for more. It looks again before it refuses.
func (a *account) admit(ctx context.Context, limits Limits, more amount, do func()) error {
	for looks := 0; ; looks++ {
		refused := a.attempt(limits, more, do)
		if refused == nil || looks == maxLooks {
			return refused
		}
		if looked, err := a.lookUnlessFresh(ctx); err != nil || !looked {
			return cmp.Or(err, refused)
		}
	}
}

// attempt calls do if there is room for more, and otherwise returns the reason.
func (a *account) attempt(limits Limits, more amount, do func()) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if refused := a.refusal(limits, more); refused != nil {
		return refused
	}
	do()
	return nil
}

// refusal returns an error that names the limit which more would exceed; nil for none.
func (a *account) refusal(limits Limits, more amount) error {
	after, again := a.use.plus(a.reserved).plus(more), a.nextLook()
	switch {
	case more == amount{}:
		return nil
	case a.lookedAt.IsZero():
		return conversation.Errorf(conversation.Internal, "the use of the namespace is not known yet")
	case more.conversations > 0 && limits.Conversations > 0 && after.conversations > limits.Conversations:
		return conversation.Errorf(conversation.QuotaExceeded,
			"this namespace may hold %d conversations: delete some, or ask the operator for more", limits.Conversations).OverQuota(Conversations, again)
	case more.bytes > 0 && limits.Bytes > 0 && after.bytes > limits.Bytes:
		return conversation.Errorf(conversation.QuotaExceeded,
			"this namespace may hold %d bytes of contents: delete conversations, or ask the operator for more", limits.Bytes).OverQuota(Bytes, again)
	default:
		return nil
	}
}

// used returns what is on record, as far as this process knows.
func (a *account) used() amount {
	a.mu.Lock()
	defer a.mu.Unlock()
	return amount{max(a.use.conversations, 0), max(a.use.bytes, 0)}
}
