package memories

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// The slots of a remembered conversation: how much of it is remembered, and which memories its messages led to.
const (
	syncPrefix    = "memory/sync/"
	lineagePrefix = "memory/lineage/"
)

// SyncSlot names the slot that says how much of a conversation is remembered; empty if there is no memory.
func (s *Service) SyncSlot() string {
	if s.Target == nil {
		return ""
	}
	return syncPrefix + s.Target.Name()
}

// Slots returns SyncSlot as a list for a query; empty if there is no memory.
func (s *Service) Slots() []string {
	if s.Target == nil {
		return nil
	}
	return []string{s.SyncSlot()}
}

func lineageSlots(target string) string { return lineagePrefix + target + "/" }

func lineageSlot(target string, n int32) string {
	return fmt.Sprintf("%s%06d", lineageSlots(target), n)
}

// Why a slot was not changed.
var (
	errGone = errors.New("memories: the conversation is gone")
	errLost = errors.New("memories: somebody else sends")
)

// syncState is the state of a conversation's synchronization with the memory, as read at one time.
type syncState struct {
	*subject
	service *Service
	queue   *queue
	slot    *syncSlot
}

// subject is a conversation that the memory may hold, as read at one time.
type subject struct {
	key    store.Key
	head   store.Head
	info   *store.Info
	policy conversation.MemoryPolicy
	ttl    time.Duration // 0: no ttl
}

// syncSlot is the slot that says how much of a conversation is remembered, as read at one time, with the lease of who sends.
type syncSlot struct {
	record.MemorySync
	stored []byte // the value of the slot; nil if there is none

	name        string
	key         store.Key
	incarnation conversation.ID
	store       store.Store // shows everything
	clock       func() time.Time
	owner       string // the owner of this process's leases
}

// syncStateOf makes the state from a snapshot that was read with Info and SyncSlot.
func syncStateOf(s *Service, key store.Key, snap *store.Snapshot) (*syncState, error) {
	policy := snap.Info.Policy.Or(s.Defaults)
	of := &subject{key: key, head: snap.Head, info: snap.Info, policy: policy.Memory, ttl: conversation.ValueOr(policy.TTL, 0)}
	slot := &syncSlot{
		stored: snap.Slots[s.SyncSlot()], name: s.SyncSlot(), key: key, incarnation: snap.Head.Incarnation,
		store: s.Unguarded, clock: s.Txn.Now, owner: s.owner,
	}
	var err error
	slot.MemorySync, err = parseSync(slot.stored)
	waiting := &queue{subject: of, slot: &slot.MemorySync, store: s.Unguarded, clock: s.Txn.Now, limits: s.limits}
	return &syncState{subject: of, service: s, queue: waiting, slot: slot}, err
}

// parseSync decodes the value of a slot; the zero value if there is none.
func parseSync(stored []byte) (slot record.MemorySync, err error) {
	if stored == nil {
		return slot, nil
	}
	if slot, err = record.DecodeMemorySync(stored); err != nil {
		return slot, conversation.Errorf(conversation.CorruptRecord, "the stored state of a memory's sync is damaged").Because(err)
	}
	return slot, nil
}

// open reads a conversation; nil if it does not exist any more.
func (s *Service) open(ctx context.Context, key store.Key) (*syncState, error) {
	snap, err := s.Unguarded.Read(ctx, key, store.Query{Info: true, Slots: []string{s.SyncSlot()}})
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	}
	if gone := s.Txn.Live(&snap.Head); gone != nil {
		return nil, nil //nolint:nilerr // no conversation: there is nothing to do
	}
	return syncStateOf(s, key, snap)
}

// The bits of the scopes that a conversation's messages went to.
const (
	userBit    = 1
	sessionBit = 2
)

// scope returns the scope that the conversation's messages go to; ok is false if they go nowhere.
func (c *subject) scope() (scope memory.Scope, bit int32, ok bool) {
	if !c.policy.Remembers() {
		return scope, 0, false
	}
	kind, bit := memory.ScopeUser, int32(userBit)
	if c.policy.SyncScope == conversation.MemoryScopeSession {
		kind, bit = memory.ScopeSession, sessionBit
	}
	scope, err := scopeIn(c.key, c.head.Incarnation, c.info, kind)
	return scope, bit, err == nil
}

// scopesOf returns the scopes for the bits of a conversation.
func scopesOf(key store.Key, incarnation conversation.ID, actor string, bits int32) []memory.Scope {
	var out []memory.Scope
	if bits&userBit != 0 && actor != "" {
		out = append(out, memory.Scope{Namespace: key.Namespace, Kind: memory.ScopeUser, ID: actor})
	}
	if bits&sessionBit != 0 {
		out = append(out, memory.Scope{Namespace: key.Namespace, Kind: memory.ScopeSession, ID: sessionID(key, incarnation)})
	}
	return out
}

// leased reports whether another process has the lease.
func (s *syncSlot) leased() bool {
	return s.Owner != "" && s.Owner != s.owner && s.clock().Before(s.Until)
}

// update changes the slot, and other slots with it. change may be called several times, each time with the slot's current state; its error
// ends the update.
func (s *syncSlot) update(ctx context.Context, slots map[string][]byte, change func(*record.MemorySync) error) error {
	for range maxRetries {
		next := s.MemorySync
		next.Ends, next.Again = slices.Clone(next.Ends), slices.Clone(next.Again)
		if next.Flight != nil {
			flight := *next.Flight
			next.Flight = &flight
		}
		if err := change(&next); err != nil {
			return err
		}
		value := record.EncodeMemorySync(&next)
		c := &store.Change{
			Aside: true, Head: store.Head{Incarnation: s.incarnation},
			Slots: map[string][]byte{s.name: value}, ExpectSlots: map[string][]byte{s.name: s.stored},
		}
		maps.Copy(c.Slots, slots)
		err := s.store.Commit(ctx, s.key, c)
		if err == nil {
			s.stored, s.MemorySync = value, next
			return nil
		}
		if !errors.Is(err, store.ErrConflict) && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if err := s.reread(ctx); err != nil {
			return err
		}
	}
	return errLost
}

// maxRetries is how often a change of a slot is tried while others change the slot too.
const maxRetries = 8

// reread reads the slot again.
func (s *syncSlot) reread(ctx context.Context) error {
	snap, err := s.store.Read(ctx, s.key, store.Query{Incarnation: s.incarnation, Slots: []string{s.name}})
	if errors.Is(err, store.ErrNotFound) || err == nil && snap.Head.State != store.Live {
		return errGone
	}
	if err != nil {
		return err
	}
	s.stored = snap.Slots[s.name]
	s.MemorySync, err = parseSync(s.stored)
	return err
}

// A lease is renewed while the target is being asked, so that it ends soon after its process dies. A call may take as long as the target
// needs, up to callTime.
const (
	leaseTime = 30 * time.Second
	renewal   = leaseTime / 3
	callTime  = 15 * time.Minute
)

// underLease calls the target while it renews the lease. If the lease is lost, the call is canceled.
func (s *syncSlot) underLease(ctx context.Context, call func(ctx context.Context)) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	ended, renewed := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(renewed)
		ticker := time.NewTicker(renewal)
		defer ticker.Stop()
		for {
			select {
			case <-ended:
				return
			case <-ticker.C:
			}
			switch err := s.renew(ctx); {
			case errors.Is(err, errLost):
				cancel()
				return
			case errors.Is(err, errGone):
				return // what the call leads to is taken back
			}
		}
	}()
	call(ctx)
	close(ended)
	<-renewed
}

// lease makes this process the one that may send.
func (s *syncSlot) lease(ctx context.Context, change func(*record.MemorySync)) error {
	return s.update(ctx, nil, func(slot *record.MemorySync) error {
		if s.leased() {
			return errLost
		}
		slot.Owner, slot.Until = s.owner, s.clock().Add(leaseTime)
		change(slot)
		return nil
	})
}

// renew extends a lease that this process has.
func (s *syncSlot) renew(ctx context.Context) error {
	return s.update(ctx, nil, func(slot *record.MemorySync) error {
		if slot.Owner != s.owner {
			return errLost
		}
		slot.Until = s.clock().Add(leaseTime)
		return nil
	})
}

// release changes the slot and gives up the lease. It fails if another process has taken the lease.
func (s *syncSlot) release(ctx context.Context, slots map[string][]byte, change func(*record.MemorySync)) error {
	return s.update(ctx, slots, func(slot *record.MemorySync) error {
		if slot.Owner != s.owner {
			return errLost
		}
		slot.Owner, slot.Until = "", time.Time{}
		change(slot)
		return nil
	})
}

// letGo gives up the lease after the context has ended, so that the next process need not wait for it to run out.
func (s *syncSlot) letGo(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = s.release(ctx, nil, func(*record.MemorySync) {})
}

// readMark reads the time up to which the conversation's actor is forgotten.
func (v *syncState) readMark(ctx context.Context) error {
	if v.info.ActorID == "" {
		return nil
	}
	m, err := v.service.partitions.markOf(ctx, v.key.Namespace, v.info.ActorID)
	v.queue.marked = m.Time
	return err
}

// remembersFrom reports whether a message of the given time may be remembered: not if it was said before its actor was forgotten, or before
// the store knew the target.
func (q *queue) remembersFrom(at time.Time) bool {
	return at.After(q.marked) && !at.Before(q.since)
}

// since is the time from which the store knows the target.
type since struct {
	partitions *partitions
	target     string
	begun      time.Time // when this process began
	backfill   bool      // messages of any time are sent

	turn  chan struct{}
	known bool
	at    time.Time
}

// sinceMargin is by how much the clocks of processes may differ.
const sinceMargin = time.Minute

var targetsKey = store.Key{Namespace: partitionPrefix, Conversation: "targets"}

// read returns the time from which the store knows the target, and records that time at the first use. Earlier messages are not sent:
// otherwise a new target would get years of them.
func (s *since) read(ctx context.Context) (time.Time, error) {
	if s.backfill {
		return time.Time{}, nil
	}
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return time.Time{}, ctx.Err()
	}
	if s.known {
		return s.at, nil
	}
	err := s.partitions.txn.Do(ctx, targetsKey, func() error {
		snap, err := s.partitions.read(ctx, targetsKey, store.Query{Slots: []string{s.target}})
		if err != nil {
			return err
		}
		if value := snap.Slots[s.target]; value != nil {
			m, err := record.DecodeMemoryMark(value)
			s.at = m.Time
			return err
		}
		s.at = s.begun.Add(-sinceMargin)
		return s.partitions.store.Commit(ctx, targetsKey, &store.Change{
			Expect: snap.Head.Version, Head: txn.NextHead(snap.Head, s.partitions.txn.Now()),
			Slots: map[string][]byte{s.target: record.EncodeMemoryMark(&record.MemoryMark{Time: s.at})},
		})
	})
	s.known = err == nil
	return s.at, err
}
