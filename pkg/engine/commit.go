package engine

import (
	"context"
	"errors"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// maxConflicts is how often a call decides again because the conversation moved (behaviour §3).
const maxConflicts = 8

// requestMemory is how long request ids are remembered (behaviour §3).
const requestMemory = 24 * time.Hour

// manifestMemory and manifestsKept are how long, and how many, manifests are kept (behaviour §13).
const (
	manifestMemory = 30 * 24 * time.Hour
	manifestsKept  = 1000
)

// change takes turns on the conversation and runs attempt until its commit finds the conversation unmoved.
func (e *Engine) change(ctx context.Context, key Key, attempt func() error) error {
	unlock, err := e.locks.lock(ctx, key)
	if err != nil {
		return failure(err)
	}
	defer unlock()
	for range maxConflicts {
		err := attempt()
		if !errors.Is(err, store.ErrConflict) {
			return failure(err)
		}
	}
	return conversation.Errorf(conversation.Contention, "the conversation moved %d times while the call was decided", maxConflicts)
}

// failure turns what the store and contexts say into errors of the domain.
func failure(err error) error {
	var domain *conversation.Error
	switch {
	case err == nil || errors.As(err, &domain):
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return conversation.Errorf(conversation.Cancelled, "the caller gave up").Because(err)
	case errors.Is(err, store.ErrNotFound):
		return notFound().Because(err)
	case errors.Is(err, store.ErrOutcomeUnknown):
		return conversation.Errorf(conversation.OutcomeUnknown, "the store failed while it wrote; try again with the same request id").Because(err)
	case errors.Is(err, store.ErrCorrupt):
		return conversation.Errorf(conversation.CorruptRecord, "a stored record is damaged").Because(err)
	case errors.Is(err, store.ErrFull):
		return conversation.Errorf(conversation.StoreFull, "the store has reached its size").Because(err)
	case errors.Is(err, store.ErrUnavailable):
		return conversation.Errorf(conversation.StoreUnavailable, "the store cannot write now; try again").Because(err)
	case errors.Is(err, store.ErrClosed):
		return conversation.Errorf(conversation.StoreUnavailable, "the store is shutting down").Because(err)
	default:
		return conversation.Errorf(conversation.Internal, "internal error").Because(err)
	}
}

func notFound() *conversation.Error {
	return conversation.Errorf(conversation.ConversationNotFound, "no such conversation")
}

// read reads a live conversation.
func (e *Engine) read(ctx context.Context, key Key, q store.Query) (*store.Snapshot, error) {
	snap, err := e.store.Read(ctx, key, q)
	if err != nil {
		return nil, failure(err)
	}
	return snap, e.live(&snap.Head)
}

// live says whether the conversation is there for its callers: one past its ttl is as good as deleted, on every store alike,
// however late the sweeper comes.
func (e *Engine) live(h *Head) error {
	switch {
	case h.State == store.Live && (h.ExpireTime.IsZero() || e.clock().Before(h.ExpireTime)):
		return nil
	case h.Reusable:
		return conversation.Errorf(conversation.ConversationDeleted, "the conversation is deleted; the next append begins it anew")
	default:
		return conversation.Errorf(conversation.ConversationDeleted, "the conversation is deleted; only CreateConversation reuses its id")
	}
}

// next is the head after a commit at the given time: version up, times moved. The public revision moves by API writes alone.
func next(h Head, now time.Time) Head {
	h.Version++
	h.UpdateTime = now
	return h
}

// remember adds the outcome of a request to a change, so that a retry finds it.
func remember(c *store.Change, r Request, o store.Outcome) {
	if r.ID == "" {
		return
	}
	o.Key = store.RequestKey{RPC: r.RPC, ID: r.ID}
	o.Hash = keyed(c.Head.Incarnation, r.Digest)
	o.Time = c.Head.UpdateTime
	c.Outcome = &o
	c.Head.NextDue = earlier(c.Head.NextDue, o.Time.Add(requestMemory))
}

// recall says whether the request has been answered before. A remembered id with other content is an error.
func (e *Engine) recall(snap *store.Snapshot, r Request) (*store.Outcome, error) {
	o := snap.Outcome
	if r.ID == "" || o == nil || e.clock().Sub(o.Time) >= requestMemory {
		return nil, nil
	}
	if o.Hash != keyed(snap.Head.Incarnation, r.Digest) {
		return nil, conversation.Errorf(conversation.RequestIDReused, "the request id was used for a different request")
	}
	return o, nil
}

func (r Request) key() *store.RequestKey {
	if r.ID == "" {
		return nil
	}
	return &store.RequestKey{RPC: r.RPC, ID: r.ID}
}

// earlier is the earlier of two times, of which a zero one means never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
