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

// FormerPrefix is the prefix of the slots that remember requests beyond their incarnation: what a conversation without a tombstone
// was asked before it began anew, and what it was created by.
const FormerPrefix = "former/"

// What a conversation remembers at most of requests from before it began anew: 60,000 of one day. One with more of them, or with a
// record that cannot be read, keeps a tombstone until they are forgotten.
const (
	formerSlots   = 20
	formerPerSlot = 3000 // 20 bytes each, in a slot of 64 KiB
)

// One read for the request ids of messages takes so much, and so many messages are looked at: with more in one day, it is as with more
// requests.
const (
	formerPage       = 256
	formerPageTokens = 100_000
	formerMessages   = 2 * formerSlots * formerPerSlot
)

// requestKind is what a request id belongs to. A message does not say by which RPC it was appended, so both count as one.
type requestKind string

const (
	// AppendRequests are the request ids of appends.
	AppendRequests requestKind = "append"
	requestCreate  requestKind = "create"
	requestDelete  requestKind = "delete"
)

// FormerRequests are requests that are remembered beyond their incarnation.
type FormerRequests struct {
	record.FormerRequests
	Incomplete bool // there were more of them, or some cannot be read
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

// values are the slots that hold the requests.
func (f *FormerRequests) values() map[string][]byte {
	out := make(map[string][]byte)
	for part := range slices.Chunk(f.Requests, formerPerSlot) {
		value := record.FormerRequests{Key: f.Key, Requests: part, Unknown: f.Unknown}
		out[fmt.Sprintf("%s%02d", FormerPrefix, len(out))] = record.EncodeFormerRequests(&value)
	}
	return out
}

// AddTo makes a change hold them. Whatever else is in slots of theirs stays what it is.
func (f *FormerRequests) AddTo(c *store.Change) {
	values := f.values()
	if c.Slots == nil {
		c.Slots = values
		return
	}
	maps.Copy(c.Slots, values)
}

// hash tells a request id from others to who knows the key. It is one of 2^64.
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
		at = at.Add(time.Millisecond - 1) // rounded up: nothing is forgotten early
		f.Requests = append(f.Requests, record.FormerRequest{Hash: f.hash(kind, id), Time: at.UnixMilli()})
	}
}

// Has says whether a request is remembered.
func (f *FormerRequests) Has(kind requestKind, id string, now time.Time) bool {
	if id == "" || len(f.Requests) == 0 {
		return false
	}
	hash := f.hash(kind, id)
	return slices.ContainsFunc(f.Requests, func(r record.FormerRequest) bool {
		return r.Hash == hash && now.Before(forgottenAt(&r))
	})
}

// forgottenAt is when a request is not remembered any more.
func forgottenAt(r *record.FormerRequest) time.Time {
	return time.UnixMilli(r.Time).UTC().Add(txn.RequestMemory)
}

// forget drops what is past its time.
func (f *FormerRequests) forget(now time.Time) {
	f.Requests = slices.DeleteFunc(f.Requests, func(r record.FormerRequest) bool { return !now.Before(forgottenAt(&r)) })
}

// Until is when the last of them is forgotten; zero if there is none.
func (f *FormerRequests) Until() (last time.Time) {
	for i := range f.Requests {
		if at := forgottenAt(&f.Requests[i]); at.After(last) {
			last = at
		}
	}
	return last
}

// readFormer reads what an incarnation remembers. A store that has another one by now is in conflict with what is being decided.
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

// CheckFormer refuses the retry of a request from before the conversation began anew.
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

// RetryOfFormer is the error of a request that was used before the conversation began anew.
func RetryOfFormer() *conversation.Error {
	return conversation.Errorf(conversation.ConversationDeleted, "the request id was used before the conversation was deleted")
}

// BeginAnew prepares that a new incarnation follows on one that leaves no tombstone, and returns what it has to remember. One past its
// ttl is buried first.
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

// collectFormer is all that is remembered of the requests of a deleted incarnation: in slots, and the appends by their messages, which
// nobody removes before a new incarnation has replaced theirs.
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
			if end = m.Index; m.RequestID != last { // the messages of one append stand together
				f.add(AppendRequests, m.RequestID, m.CreateTime)
				last = m.RequestID
			}
		}
	}
	return f, nil
}

// SweepReusable leaves of a deleted conversation without a tombstone what remembers its requests: a new incarnation, so that all
// records of the old one can go. A day later that goes too.
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

// TidyFormer drops what is remembered of former requests once all of it is past its time.
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
