package conversations

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// FormerPrefix is the prefix of the slots that remember requests of earlier incarnations: the requests to a conversation that was
// deleted without a tombstone, and the request that created it.
const FormerPrefix = "former/"

// The number of requests that a conversation remembers from before it began anew: 60,000, all of one day. A conversation with more
// requests, or with a record that cannot be read, keeps a tombstone until they may be forgotten.
const (
	formerSlots   = 20
	formerPerSlot = 3000 // 20 bytes each, in a slot of 64 KiB
)

// The size of one read for the request ids of messages, and how many messages are read in all. A conversation with more messages in
// one day is treated like one with too many requests.
const (
	formerPage       = 256
	formerPageTokens = 100_000
	formerMessages   = 2 * formerSlots * formerPerSlot
)

// requestKind is the kind of call that a request id belongs to. A message does not say which RPC appended it, so all RPCs that append
// count as one kind.
type requestKind string

const (
	// AppendRequests are requests that append.
	AppendRequests requestKind = "append"
	requestCreate  requestKind = "create"
	requestDelete  requestKind = "delete"
)

// FormerRequests are requests that are remembered after their incarnation is gone.
type FormerRequests struct {
	record.FormerRequests
	Incomplete bool // there were too many requests, or some could not be read
}

func parseFormer(incarnation conversation.ID, slots map[string][]byte) (*FormerRequests, error) {
	f := &FormerRequests{}
	f.Key = incarnation
	for _, name := range slices.Sorted(maps.Keys(slots)) {
		if !strings.HasPrefix(name, FormerPrefix) {
			continue
		}
		part, err := record.DecodeFormerRequests(slots[name])
		if err != nil {
			return nil, conversation.Errorf(conversation.CorruptRecord, "the stored list of former requests is damaged").Because(err)
		}
		f.Key, f.Unknown = part.Key, part.Unknown
		f.Requests = append(f.Requests, part.Requests...)
	}
	return f, nil
}

// values returns the slots that hold the requests.
func (f *FormerRequests) values() map[string][]byte {
	out := make(map[string][]byte)
	for part := range slices.Chunk(f.Requests, formerPerSlot) {
		value := record.FormerRequests{Key: f.Key, Requests: part, Unknown: f.Unknown}
		out[fmt.Sprintf("%s%02d", FormerPrefix, len(out))] = record.EncodeFormerRequests(&value)
	}
	return out
}

// AddTo adds the requests to a change. It leaves other slots with the same prefix alone.
func (f *FormerRequests) AddTo(c *store.Change) {
	values := f.values()
	if c.Slots == nil {
		c.Slots = values
		return
	}
	maps.Copy(c.Slots, values)
}

// hash returns a hash of a request id that only somebody who knows the key can compute. It has 64 bits.
func (f *FormerRequests) hash(kind requestKind, id string) uint64 {
	sum := txn.KeyedHash(f.Key, sha256.Sum256([]byte(string(kind)+"\x00"+id)))
	return binary.BigEndian.Uint64(sum[:])
}

func (f *FormerRequests) add(kind requestKind, id string, at time.Time) {
	switch {
	case id == "":
	case len(f.Requests) == formerSlots*formerPerSlot:
		f.Incomplete = true
	default:
		at = at.Add(time.Millisecond - 1) // rounded up, so that nothing is forgotten early
		f.Requests = append(f.Requests, record.FormerRequest{Hash: f.hash(kind, id), Time: at.UnixMilli()})
	}
}

// Has reports whether a request is remembered.
func (f *FormerRequests) Has(kind requestKind, id string, now time.Time) bool {
	if id == "" || len(f.Requests) == 0 {
		return false
	}
	hash := f.hash(kind, id)
	return slices.ContainsFunc(f.Requests, func(r record.FormerRequest) bool {
		return r.Hash == hash && now.Before(forgottenAt(&r))
	})
}

// forgottenAt is the time from which a request is no longer remembered.
func forgottenAt(r *record.FormerRequest) time.Time {
	return time.UnixMilli(r.Time).UTC().Add(txn.RequestMemory)
}

// forget drops requests that are past their time.
func (f *FormerRequests) forget(now time.Time) {
	f.Requests = slices.DeleteFunc(f.Requests, func(r record.FormerRequest) bool { return !now.Before(forgottenAt(&r)) })
}

// Until is the time at which the last request is forgotten; zero if there are none.
func (f *FormerRequests) Until() (last time.Time) {
	for i := range f.Requests {
		if at := forgottenAt(&f.Requests[i]); at.After(last) {
			last = at
		}
	}
	return last
}

// readFormer reads the requests that an incarnation remembers. If the store has another incarnation by now, that is a conflict.
func (s *Service) readFormer(ctx context.Context, key store.Key, head *store.Head) (*FormerRequests, error) {
	snap, err := s.Store.Read(ctx, key, store.Query{Incarnation: head.Incarnation, SlotsOf: FormerPrefix})
	if err != nil {
		return nil, movedOn(err)
	}
	return parseFormer(head.Incarnation, snap.Slots)
}

func movedOn(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("%w: %w", store.ErrConflict, err)
	}
	return err
}

// CheckFormer refuses a retry of a request from before the conversation began anew.
func (s *Service) CheckFormer(ctx context.Context, key store.Key, head *store.Head, kind requestKind, id string) error {
	if id == "" || !s.Clock().Before(head.Former) {
		return nil
	}
	f, err := s.readFormer(ctx, key, head)
	if err == nil && f.Has(kind, id, s.Txn.Now()) {
		err = RetryOfFormer()
	}
	return err
}

// RetryOfFormer is the error for a request that was made before the conversation began anew.
func RetryOfFormer() *conversation.Error {
	return conversation.Errorf(conversation.ConversationDeleted, "the request id was used before the conversation was deleted")
}

// BeginAnew prepares a new incarnation after one that leaves no tombstone, and returns the requests that it has to remember. A
// conversation past its ttl is deleted first.
func (s *Service) BeginAnew(ctx context.Context, key store.Key, head *store.Head) (*FormerRequests, error) {
	if head.State == store.Live {
		buried, err := s.MarkDeleted(ctx, key, *head, Deletion{Reusable: true})
		if err != nil {
			return nil, err
		}
		*head = buried
	}
	return s.collectFormer(ctx, key, head)
}

// collectFormer returns all requests of a deleted incarnation that must be remembered: those in its slots, and appends, which its
// messages name. Nobody removes the messages before a new incarnation has replaced the old.
func (s *Service) collectFormer(ctx context.Context, key store.Key, head *store.Head) (*FormerRequests, error) {
	f, err := s.readFormer(ctx, key, head)
	if err != nil {
		return nil, err
	}
	now := s.Txn.Now()
	f.forget(now)
	for end, last := head.Messages, ""; end > 0 && !f.Incomplete; {
		if f.Incomplete = head.Messages-end > formerMessages; f.Incomplete {
			break
		}
		snap, err := s.Store.Read(ctx, key, store.Query{Incarnation: head.Incarnation, Ranges: []store.MessageRange{{
			Range: conversation.Range{End: end}, Reverse: true, Limit: formerPage, MaxTokens: formerPageTokens,
		}}})
		if errors.Is(err, store.ErrCorrupt) || err == nil && len(snap.Messages) == 0 {
			f.Incomplete = true
			break
		}
		if err != nil {
			return nil, movedOn(err)
		}
		for i := range snap.Messages {
			m := &snap.Messages[i]
			if !now.Before(m.CreateTime.Add(txn.RequestMemory)) {
				return f, nil
			}
			if end = m.Index; m.RequestID != last { // messages of one append are adjacent
				f.add(AppendRequests, m.RequestID, m.CreateTime)
				last = m.RequestID
			}
		}
	}
	return f, nil
}

// SweepReusable replaces a conversation that was deleted without a tombstone by a new incarnation that only remembers its requests, so
// that all records of the old one can be removed. A day later that incarnation is removed too.
func (s *Service) SweepReusable(ctx context.Context, key store.Key, head store.Head) error {
	if !s.Txn.Now().Before(head.DeleteTime) {
		return s.Txn.Delete(ctx, key, store.Deletion{Incarnation: head.Incarnation})
	}
	f, err := s.collectFormer(ctx, key, &head)
	if err != nil {
		return err
	}
	c := &store.Change{Expect: head.Version, Head: txn.NextHead(head, s.Txn.Now())}
	if f.Incomplete {
		c.Head.Reusable, c.Head.NextDue = false, c.Head.UpdateTime
		return s.Store.Commit(ctx, key, c)
	}
	c.Head = txn.NewHead(s.IDs(), head.CreateTime)
	c.Head.Version, c.Head.UpdateTime, c.Head.ActorID = head.Version+1, s.Txn.Now(), head.ActorID
	c.Head.State, c.Head.Reusable = store.Deleted, true
	c.Head.DeleteTime, c.Head.NextDue = head.DeleteTime, head.DeleteTime
	f.AddTo(c)
	return s.Store.Commit(ctx, key, c)
}

// TidyFormer removes the remembered requests once all of them are past their time.
func TidyFormer(c *store.Change, slots map[string][]byte, now time.Time) error {
	f, err := parseFormer(c.Head.Incarnation, slots)
	if err != nil {
		return err
	}
	if until := f.Until(); until.After(now) {
		c.Head.NextDue = txn.Earliest(c.Head.NextDue, until)
		return nil
	}
	for name := range slots {
		if !strings.HasPrefix(name, FormerPrefix) {
			continue
		}
		if c.Slots == nil {
			c.Slots = make(map[string][]byte)
		}
		c.Slots[name] = nil
	}
	c.Head.Former = time.Time{}
	return nil
}
