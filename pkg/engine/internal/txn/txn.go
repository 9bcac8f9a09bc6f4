// Package txn reads, decides and commits. Callers of one conversation take turns, a commit compares the version that it was decided on, and
// the first outcome of a request is stored together with it.
package txn

import (
	"context"
	"errors"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/quota"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// maxConflicts is how often a call decides again because another process changed the conversation (behaviour §3).
const maxConflicts = 8

// RequestMemory is how long request ids are remembered (behaviour §3).
const RequestMemory = 24 * time.Hour

// Manager reads, decides and commits: conversations are changed through it only.
type Manager struct {
	store store.Store
	clock func() time.Time
	quota *quota.Keeper
	turns store.Turns
}

// New returns a manager of a store. A nil keeper enforces no limits.
func New(s store.Store, clock func() time.Time, q *quota.Keeper) *Manager {
	return &Manager{store: s, clock: clock, quota: q}
}

// Now is the current time in UTC.
func (t *Manager) Now() time.Time { return t.clock().UTC() }

// Request makes a call safe to retry: a call with the same ID and Digest returns the first outcome. Without an ID it has no effect.
type Request struct {
	RPC    string // name of the RPC
	ID     string
	Digest [32]byte // of everything else in the request
}

// Do waits for its turn on the conversation, and runs attempt again as long as its commit conflicts.
func (t *Manager) Do(ctx context.Context, key store.Key, attempt func() error) error {
	unlock, err := t.turns.Wait(ctx, key)
	if err != nil {
		return Failure(err)
	}
	defer unlock()
	for range maxConflicts {
		err := attempt()
		if !errors.Is(err, store.ErrConflict) {
			return Failure(err)
		}
	}
	return conversation.Errorf(conversation.Contention, "the conversation moved %d times while the call was decided", maxConflicts)
}

// Decide is Do for an attempt that returns an answer.
func Decide[T any](ctx context.Context, t *Manager, key store.Key, attempt func() (T, error)) (answer T, err error) {
	err = t.Do(ctx, key, func() (err error) {
		answer, err = attempt()
		return err
	})
	return answer, err
}

// Commit commits a change that was decided on the head before, whose version is 0 if there was no conversation. It refuses a change that
// would exceed a limit of the namespace on conversations or bytes. Commits that change neither number need not use it.
func (t *Manager) Commit(ctx context.Context, key store.Key, before *store.Head, c *store.Change) error {
	room, err := t.quota.Reserve(ctx, key, before, &c.Head)
	if err != nil {
		return err
	}
	stands := true // assumed until the outcome is known, in case the store panics
	defer func() { room.Settle(stands) }()
	err = t.store.Commit(ctx, key, c)
	stands = MayStand(err)
	return err
}

// MayStand reports whether a commit with this error may have been written.
func MayStand(err error) bool { return err == nil || errors.Is(err, store.ErrOutcomeUnknown) }

// CheckRoom refuses, before anything is staged, what Commit would refuse: one more conversation, if fresh, and the given number of bytes.
func (t *Manager) CheckRoom(ctx context.Context, key store.Key, fresh bool, bytes int64) error {
	return t.quota.Check(ctx, key.Namespace, fresh, bytes)
}

// Read reads a live conversation.
func (t *Manager) Read(ctx context.Context, key store.Key, q store.Query) (*store.Snapshot, error) {
	snap, err := t.store.Read(ctx, key, q)
	if err != nil {
		return nil, Failure(err)
	}
	return snap, t.Live(&snap.Head)
}

// ReadFor reads a live conversation for a request. It also returns the outcome if the request was answered before; nil if it was not.
func (t *Manager) ReadFor(ctx context.Context, key store.Key, r Request, q store.Query) (snap *store.Snapshot, first *store.Outcome, err error) {
	q.Request = r.Key()
	if snap, err = t.Read(ctx, key, q); err != nil {
		return nil, nil, err
	}
	first, err = t.Recall(snap, r)
	return snap, first, err
}

// Live returns an error if the conversation does not exist for its callers. One past its ttl counts as deleted on every store, even if the
// sweeper has not come yet.
func (t *Manager) Live(h *store.Head) error {
	switch {
	case h.State == store.Live && (h.ExpireTime.IsZero() || t.clock().Before(h.ExpireTime)):
		return nil
	case h.Reusable:
		return conversation.Errorf(conversation.ConversationDeleted, "the conversation is deleted; the next append begins it anew")
	default:
		return conversation.Errorf(conversation.ConversationDeleted, "the conversation is deleted; only CreateConversation reuses its id")
	}
}

// NextHead is the head after a commit at the given time, with the next version and new times. The public revision is not changed: only
// writes of the API move it.
func NextHead(h store.Head, now time.Time) store.Head {
	h.Version++
	h.UpdateTime = now
	return h
}

// AddEdit adds an edit to a change. It sets the edit's sequence number and time, and returns the edit as it will be recorded.
func AddEdit(c *store.Change, e conversation.Edit) *conversation.Edit {
	c.Head.EditSeq++
	e.Seq, e.Turn, e.Time, e.Commit = c.Head.EditSeq, c.Head.Turn, c.Head.UpdateTime, c.Head.Version
	c.Edits = append(c.Edits, e)
	return &c.Edits[len(c.Edits)-1]
}

// Remember adds the outcome of a request to a change, for retries of the request.
func Remember(c *store.Change, r Request, o store.Outcome) {
	if r.ID == "" {
		return
	}
	o.Key = store.RequestKey{RPC: r.RPC, ID: r.ID}
	o.Hash = KeyedHash(c.Head.Incarnation, r.Digest)
	o.Time = c.Head.UpdateTime
	c.Outcome = &o
	c.Head.NextDue = Earliest(c.Head.NextDue, o.Time.Add(RequestMemory))
}

// Recall returns the remembered outcome of a request; nil if it was not answered before. A remembered id with another digest is an error.
func (t *Manager) Recall(snap *store.Snapshot, r Request) (*store.Outcome, error) {
	o := snap.Outcome
	if r.ID == "" || o == nil || t.clock().Sub(o.Time) >= RequestMemory {
		return nil, nil
	}
	if o.Hash != KeyedHash(snap.Head.Incarnation, r.Digest) {
		return nil, conversation.Errorf(conversation.RequestIDReused, "the request id was used for a different request")
	}
	return o, nil
}

// Key is the key under which the store remembers the request; nil for a request without an id.
func (r Request) Key() *store.RequestKey {
	if r.ID == "" {
		return nil
	}
	return &store.RequestKey{RPC: r.RPC, ID: r.ID}
}

// Earliest returns the earlier of two times. A zero time means never.
func Earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// NewHead is the head of a conversation without messages.
func NewHead(incarnation conversation.ID, now time.Time) store.Head {
	return store.Head{Incarnation: incarnation, Request: -1, Opening: -1, CreateTime: now}
}

// RenewTTL sets the time at which a conversation expires. Every append and every change of its policy does so.
func RenewTTL(head *store.Head, policy conversation.Policy, now time.Time) {
	if policy.TTL == nil || *policy.TTL <= 0 {
		head.ExpireTime, head.Reusable = time.Time{}, false
		return
	}
	head.ExpireTime, head.Reusable = now.Add(*policy.TTL), policy.TTLWithoutTombstone != nil && *policy.TTLWithoutTombstone
	// NextDue stays if it is earlier: the sweeper looks again at that time, so an append need not move its entry each time.
	head.NextDue = Earliest(head.NextDue, head.ExpireTime)
}

// deleteSteps is how many records one step of a deletion removes at most.
const deleteSteps = 1000

// Delete deletes, in steps, what a deletion names.
func (t *Manager) Delete(ctx context.Context, key store.Key, d store.Deletion) error {
	d.Limit = deleteSteps
	for {
		done, err := t.store.Delete(ctx, key, d)
		if err != nil || done {
			return err
		}
	}
}
