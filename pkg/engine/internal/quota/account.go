package quota

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// amount is what is on record, or a change of it.
type amount struct{ conversations, bytes int64 }

func (a amount) plus(b amount) amount {
	return amount{a.conversations + b.conversations, a.bytes + b.bytes}
}

func (a amount) minus(b amount) amount {
	return amount{a.conversations - b.conversations, a.bytes - b.bytes}
}

// growth is what of a change makes more.
func (a amount) growth() amount { return amount{max(a.conversations, 0), max(a.bytes, 0)} }

// amountOf is what a conversation counts for. One past its ttl counts no more, however late the sweeper comes.
func amountOf(h *store.Head, now time.Time) amount {
	if h.Version == 0 || h.State != store.Live || !h.ExpireTime.IsZero() && !now.Before(h.ExpireTime) {
		return amount{}
	}
	return amount{1, h.Bytes}
}

// account is what is known of one namespace's use.
type account struct {
	keeper    *Keeper
	namespace string

	mu       sync.Mutex
	use      amount // at the last look, and what this process changed since
	reserved amount // by commits on their way: what they may add
	pending  map[*Reservation]struct{}
	lookedAt time.Time // when the last look began; zero before the first
	current  *look     // nil while nobody looks
}

// Reservation is room that a commit on its way has. It must be settled.
type Reservation struct {
	account      *account
	conversation string
	version      uint64 // that the commit makes
	change       amount
	seenBy       *look // that found the commit in the store
	counted      bool  // that look is what is known now
}

// Reserve makes room for the commit of a head over another, which has version 0 where there is none. It is refused if it would take the
// namespace over a limit; what makes nothing more is never refused.
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

// Check refuses what would be refused in the end: a conversation that is yet to be, if fresh, and so many bytes more.
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

// Settle gives the room back, and counts what was committed. What may stand counts too, until the next look.
func (r *Reservation) Settle(committed bool) {
	if r == nil {
		return
	}
	a := r.account
	a.mu.Lock()
	defer a.mu.Unlock()
	if r.counted {
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

// release gives a reservation's room back.
func (a *account) release(r *Reservation) {
	a.reserved = a.reserved.minus(r.change.growth())
	delete(a.pending, r)
}

// maxLooks bounds how often one call looks: a store may be so slow that no look is ever fresh.
const maxLooks = 2

// admit does something under the lock if there is room for more, and looks again before it refuses.
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

// attempt does something if there is room for more, or says why there is none.
func (a *account) attempt(limits Limits, more amount, do func()) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if refused := a.refusal(limits, more); refused != nil {
		return refused
	}
	do()
	return nil
}

// refusal says which limit is in the way of more; nil for none.
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

// used is what is on record, as far as it is known.
func (a *account) used() amount {
	a.mu.Lock()
	defer a.mu.Unlock()
	return amount{max(a.use.conversations, 0), max(a.use.bytes, 0)}
}
