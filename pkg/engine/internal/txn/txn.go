// Package txn reads, decides and commits: callers of one conversation take turns, a commit compares the version that it was decided on, and
// the first outcome of a request is remembered with it.
package txn

import (
	"context"
	"errors"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/quota"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// maxConflicts is how often a call decides again because the conversation moved (behaviour §3).
const maxConflicts = 8

// RequestMemory is how long request ids are remembered (behaviour §3).
const RequestMemory = 24 * time.Hour

// Manager reads, decides and commits: only it changes conversations.
type Manager struct {
	store store.Store
	clock func() time.Time
	quota *quota.Keeper
	turns store.Turns
}

// New returns a manager of a store. A nil keeper holds nobody to limits.
func New(s store.Store, clock func() time.Time, q *quota.Keeper) *Manager {
	return &Manager{store: s, clock: clock, quota: q}
}

// Now is the time, in UTC.
func (t *Manager) Now() time.Time { return t.clock().UTC() }

// Request makes a call safe to retry: the same ID with the same Digest returns the first outcome. Without an ID it does nothing.
type Request struct {
	RPC    string // name of the RPC
	ID     string
	Digest [32]byte // of everything else in the request
}

// Do takes turns on the conversation and runs attempt until its commit finds the conversation unmoved.
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

// Decide is Do for an attempt with an answer.
func Decide[T any](ctx context.Context, t *Manager, key store.Key, attempt func() (T, error)) (answer T, err error) {
	err = t.Do(ctx, key, func() (err error) {
		answer, err = attempt()
		return err
	})
	return answer, err
}

// Commit commits what a call decided on a head, of version 0 where there was no conversation. What would take the namespace over a limit of
// what is on record is refused. Commits that leave the number of conversations and of bytes as they are need not come through here.
func (t *Manager) Commit(ctx context.Context, key store.Key, before *store.Head, c *store.Change) error {
	room, err := t.quota.Reserve(ctx, key, before, &c.Head)
	if err != nil {
		return err
	}
	stands := true // as far as is known, should the store panic
	defer func() { room.Settle(stands) }()
	err = t.store.Commit(ctx, key, c)
	stands = MayStand(err)
	return err
}

// MayStand says of what a commit came to whether it stands, or may.
func MayStand(err error) bool { return err == nil || errors.Is(err, store.ErrOutcomeUnknown) }

// CheckRoom refuses, before anything is staged, what Commit would: a conversation that is yet to be, if fresh, and so many bytes more.
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

// ReadFor reads a live conversation for a request, with what that was answered before; nil for nothing.
func (t *Manager) ReadFor(ctx context.Context, key store.Key, r Request, q store.Query) (snap *store.Snapshot, first *store.Outcome, err error) {
	q.Request = r.Key()
	if snap, err = t.Read(ctx, key, q); err != nil {
		return nil, nil, err
	}
	first, err = t.Recall(snap, r)
	return snap, first, err
}

// Live says whether the conversation is there for its callers: one past its ttl is as good as deleted, on every store alike,
// however late the sweeper comes.
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

// NextHead is the head after a commit at the given time: version up, times moved. The public revision moves by API writes alone.
func NextHead(h store.Head, now time.Time) store.Head {
	h.Version++
	h.UpdateTime = now
	return h
}

// AddEdit adds an edit to a change, with its place in the log and the time of it, and returns the edit as it is recorded.
func AddEdit(c *store.Change, e conversation.Edit) *conversation.Edit {
	c.Head.EditSeq++
	e.Seq, e.Turn, e.Time, e.Commit = c.Head.EditSeq, c.Head.Turn, c.Head.UpdateTime, c.Head.Version
	c.Edits = append(c.Edits, e)
	return &c.Edits[len(c.Edits)-1]
}

// Remember adds the outcome of a request to a change, so that a retry finds it.
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

// Recall says whether the request has been answered before. A remembered id with other content is an error.
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

// Key is what the store remembers the request by; nil for one without an id.
func (r Request) Key() *store.RequestKey {
	if r.ID == "" {
		return nil
	}
	return &store.RequestKey{RPC: r.RPC, ID: r.ID}
}

// Earliest is the earlier of two times, of which a zero one means never.
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

// RenewTTL moves the end of a conversation, as every append and every change of its policy does.
func RenewTTL(head *store.Head, policy conversation.Policy, now time.Time) {
	if policy.TTL == nil || *policy.TTL <= 0 {
		head.ExpireTime, head.Reusable = time.Time{}, false
		return
	}
	head.ExpireTime, head.Reusable = now.Add(*policy.TTL), policy.TTLWithoutTombstone != nil && *policy.TTLWithoutTombstone
	// NextDue is left alone if it is earlier: the sweeper looks again then, and an append need not move the entry each time.
	head.NextDue = Earliest(head.NextDue, head.ExpireTime)
}

// deleteSteps is how many records a deletion takes away in one commit.
const deleteSteps = 1000

// Delete deletes what a deletion names, in steps.
func (t *Manager) Delete(ctx context.Context, key store.Key, d store.Deletion) error {
	d.Limit = deleteSteps
	for {
		done, err := t.store.Delete(ctx, key, d)
		if err != nil || done {
			return err
		}
	}
}
