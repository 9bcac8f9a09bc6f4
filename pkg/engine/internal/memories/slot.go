package memories

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
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

func (s *Service) lineageSlots() string { return lineagePrefix + s.Target.Name() + "/" }

func (s *Service) lineageSlot(n int32) string { return fmt.Sprintf("%s%06d", s.lineageSlots(), n) }

// Why a slot was not changed.
var (
	errGone = errors.New("memories: the conversation is gone")
	errLost = errors.New("memories: somebody else sends")
)

// syncState is the state of a conversation's synchronization with the memory, as read at one time.
type syncState struct {
	*Service
	key    store.Key
	head   store.Head
	info   *store.Info
	policy conversation.MemoryPolicy
	ttl    time.Duration // 0: no ttl
	slot   record.MemorySync
	stored []byte // the value of the slot; nil if there is none
	marked time.Time
	since  time.Time
}

// syncStateOf makes the state from a snapshot that was read with Info and SyncSlot.
func (s *Service) syncStateOf(key store.Key, snap *store.Snapshot) (*syncState, error) {
	policy := snap.Info.Policy.Or(s.Defaults)
	v := &syncState{Service: s, key: key, head: snap.Head, info: snap.Info, policy: policy.Memory, stored: snap.Slots[s.SyncSlot()]}
	v.ttl = conversation.ValueOr(policy.TTL, 0)
	return v, v.parse()
}

func (v *syncState) parse() (err error) {
	v.slot = record.MemorySync{}
	if v.stored == nil {
		return nil
	}
	if v.slot, err = record.DecodeMemorySync(v.stored); err != nil {
		return conversation.Errorf(conversation.CorruptRecord, "the stored state of a memory's sync is damaged").Because(err)
	}
	return nil
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
	return s.syncStateOf(key, snap)
}

// The bits of the scopes that a conversation's messages went to.
const (
	userBit    = 1
	sessionBit = 2
)

// scope returns the scope that the conversation's messages go to; ok is false if they go nowhere.
func (v *syncState) scope() (scope memory.Scope, bit int32, ok bool) {
	if !v.policy.Remembers() {
		return scope, 0, false
	}
	kind, bit := memory.ScopeUser, int32(userBit)
	if v.policy.SyncScope == conversation.MemoryScopeSession {
		kind, bit = memory.ScopeSession, sessionBit
	}
	scope, err := scopeIn(v.key, v.head.Incarnation, v.info, kind)
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
func (v *syncState) leased() bool {
	return v.slot.Owner != "" && v.slot.Owner != v.owner && v.Txn.Now().Before(v.slot.Until)
}

// update changes the slot, and other slots with it. change may be called several times, each time with the slot's current state; its error
// ends the update.
func (v *syncState) update(ctx context.Context, slots map[string][]byte, change func(*record.MemorySync) error) error {
	for range maxRetries {
		next := v.slot
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
			Aside: true, Head: store.Head{Incarnation: v.head.Incarnation},
			Slots: map[string][]byte{v.SyncSlot(): value}, ExpectSlots: map[string][]byte{v.SyncSlot(): v.stored},
		}
		maps.Copy(c.Slots, slots)
		err := v.Unguarded.Commit(ctx, v.key, c)
		if err == nil {
			v.stored, v.slot = value, next
			return nil
		}
		if !errors.Is(err, store.ErrConflict) && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if err := v.reread(ctx); err != nil {
			return err
		}
	}
	return errLost
}

// maxRetries is how often a change of a slot is tried while others change the slot too.
const maxRetries = 8

// reread reads the slot again.
func (v *syncState) reread(ctx context.Context) error {
	snap, err := v.Unguarded.Read(ctx, v.key, store.Query{Incarnation: v.head.Incarnation, Slots: []string{v.SyncSlot()}})
	if errors.Is(err, store.ErrNotFound) || err == nil && snap.Head.State != store.Live {
		return errGone
	}
	if err != nil {
		return err
	}
	v.stored = snap.Slots[v.SyncSlot()]
	return v.parse()
}

// A lease is renewed while the target is being asked, so that it ends soon after its process dies. A call may take as long as the target
// needs, up to callTime.
const (
	leaseTime = 30 * time.Second
	renewal   = leaseTime / 3
	callTime  = 15 * time.Minute
)

// underLease calls the target while it renews the lease. If the lease is lost, the call is canceled.
func (v *syncState) underLease(ctx context.Context, call func(ctx context.Context)) {
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
			switch err := v.renew(ctx); {
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
func (v *syncState) lease(ctx context.Context, change func(*record.MemorySync)) error {
	return v.update(ctx, nil, func(slot *record.MemorySync) error {
		if v.leased() {
			return errLost
		}
		slot.Owner, slot.Until = v.owner, v.Txn.Now().Add(leaseTime)
		change(slot)
		return nil
	})
}

// renew extends a lease that this process has.
func (v *syncState) renew(ctx context.Context) error {
	return v.update(ctx, nil, func(slot *record.MemorySync) error {
		if slot.Owner != v.owner {
			return errLost
		}
		slot.Until = v.Txn.Now().Add(leaseTime)
		return nil
	})
}

// release changes the slot and gives up the lease. It fails if another process has taken the lease.
func (v *syncState) release(ctx context.Context, slots map[string][]byte, change func(*record.MemorySync)) error {
	return v.update(ctx, slots, func(slot *record.MemorySync) error {
		if slot.Owner != v.owner {
			return errLost
		}
		slot.Owner, slot.Until = "", time.Time{}
		change(slot)
		return nil
	})
}

// letGo gives up the lease after the context has ended, so that the next process need not wait for it to run out.
func (v *syncState) letGo(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = v.release(ctx, nil, func(*record.MemorySync) {})
}

// readMark reads the time up to which the conversation's actor is forgotten.
func (v *syncState) readMark(ctx context.Context) error {
	if v.info.ActorID == "" {
		return nil
	}
	m, err := v.markOf(ctx, v.key.Namespace, v.info.ActorID)
	v.marked = m.Time
	return err
}

// remembersFrom reports whether a message of the given time may be remembered: not if it was said before its actor was forgotten, or before
// the store knew the target.
func (v *syncState) remembersFrom(at time.Time) bool {
	return at.After(v.marked) && !at.Before(v.since)
}

// since is the time from which the store knows the target.
type since struct {
	turn  chan struct{}
	known bool
	at    time.Time
}

// sinceMargin is by how much the clocks of processes may differ.
const sinceMargin = time.Minute

var targetsKey = store.Key{Namespace: partitionPrefix, Conversation: "targets"}

// readSince returns the time from which the store knows the target, and records that time at the first use. Earlier messages are not sent:
// otherwise a new target would get years of them.
func (s *Service) readSince(ctx context.Context) (time.Time, error) {
	if s.Backfill {
		return time.Time{}, nil
	}
	select {
	case s.since.turn <- struct{}{}:
		defer func() { <-s.since.turn }()
	case <-ctx.Done():
		return time.Time{}, ctx.Err()
	}
	if s.since.known {
		return s.since.at, nil
	}
	name := strings.TrimPrefix(s.SyncSlot(), syncPrefix)
	err := s.Txn.Do(ctx, targetsKey, func() error {
		snap, err := s.partition(ctx, targetsKey, store.Query{Slots: []string{name}})
		if err != nil {
			return err
		}
		if value := snap.Slots[name]; value != nil {
			m, err := record.DecodeMemoryMark(value)
			s.since.at = m.Time
			return err
		}
		s.since.at = s.begun.Add(-sinceMargin)
		return s.Unguarded.Commit(ctx, targetsKey, &store.Change{
			Expect: snap.Head.Version, Head: txn.NextHead(snap.Head, s.Txn.Now()),
			Slots: map[string][]byte{name: record.EncodeMemoryMark(&record.MemoryMark{Time: s.since.at})},
		})
	})
	s.since.known = err == nil
	return s.since.at, err
}
