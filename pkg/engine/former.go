package engine

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

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// formerPrefix is the prefix of the slots that remember requests beyond their incarnation: what a conversation without a tombstone
// was asked before it began anew, and what it was created by.
const formerPrefix = "former/"

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
	requestAppend requestKind = "append"
	requestCreate requestKind = "create"
	requestDelete requestKind = "delete"
)

// former are requests that are remembered beyond their incarnation.
type former struct {
	record.FormerRequests
	incomplete bool // there were more of them, or some cannot be read
}

func parseFormer(incarnation conversation.ID, slots map[string][]byte) (*former, error) {
	f := &former{}
	f.Key = incarnation
	for _, name := range slices.Sorted(maps.Keys(slots)) {
		if !strings.HasPrefix(name, formerPrefix) {
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
func (f *former) values() map[string][]byte {
	out := make(map[string][]byte)
	for part := range slices.Chunk(f.Requests, formerPerSlot) {
		value := record.FormerRequests{Key: f.Key, Requests: part, Unknown: f.Unknown}
		out[fmt.Sprintf("%s%02d", formerPrefix, len(out))] = record.EncodeFormerRequests(&value)
	}
	return out
}

// addTo makes a change hold them. Whatever else is in slots of theirs stays what it is.
func (f *former) addTo(c *store.Change) {
	values := f.values()
	if c.Slots == nil {
		c.Slots = values
		return
	}
	maps.Copy(c.Slots, values)
}

// hash tells a request id from others to who knows the key. It is one of 2^64.
func (f *former) hash(kind requestKind, id string) uint64 {
	sum := txn.KeyedHash(f.Key, sha256.Sum256([]byte(string(kind)+"\x00"+id)))
	return binary.BigEndian.Uint64(sum[:])
}

func (f *former) add(kind requestKind, id string, at time.Time) {
	switch {
	case id == "":
	case len(f.Requests) == formerSlots*formerPerSlot:
		f.incomplete = true
	default:
		at = at.Add(time.Millisecond - 1) // rounded up: nothing is forgotten early
		f.Requests = append(f.Requests, record.FormerRequest{Hash: f.hash(kind, id), Time: at.UnixMilli()})
	}
}

func (f *former) has(kind requestKind, id string, now time.Time) bool {
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
func (f *former) forget(now time.Time) {
	f.Requests = slices.DeleteFunc(f.Requests, func(r record.FormerRequest) bool { return !now.Before(forgottenAt(&r)) })
}

// until is when the last of them is forgotten; zero if there is none.
func (f *former) until() (last time.Time) {
	for i := range f.Requests {
		if at := forgottenAt(&f.Requests[i]); at.After(last) {
			last = at
		}
	}
	return last
}

// readFormer reads what an incarnation remembers. A store that has another one by now is in conflict with what is being decided.
func (e *Engine) readFormer(ctx context.Context, key Key, head *Head) (*former, error) {
	snap, err := e.store.Read(ctx, key, store.Query{Incarnation: head.Incarnation, SlotsOf: formerPrefix})
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

// checkFormer refuses the retry of a request from before the conversation began anew.
func (e *Engine) checkFormer(ctx context.Context, key Key, head *Head, kind requestKind, id string) error {
	if id == "" || !e.clock().Before(head.Former) {
		return nil
	}
	f, err := e.readFormer(ctx, key, head)
	if err == nil && f.has(kind, id, e.txn.Now()) {
		err = retryOfFormer()
	}
	return err
}

func retryOfFormer() *conversation.Error {
	return conversation.Errorf(conversation.ConversationDeleted, "the request id was used before the conversation was deleted")
}

// reuse prepares that a new incarnation follows on one that leaves no tombstone, and returns what it has to remember. One past its
// ttl is buried first.
func (e *Engine) reuse(ctx context.Context, key Key, head *Head) (*former, error) {
	if head.State == store.Live {
		buried, err := e.bury(ctx, key, *head, burial{reusable: true})
		if err != nil {
			return nil, err
		}
		*head = buried
	}
	return e.collectFormer(ctx, key, head)
}

// collectFormer is all that is remembered of the requests of a deleted incarnation: in slots, and the appends by their messages, which
// nobody removes before a new incarnation has replaced theirs.
func (e *Engine) collectFormer(ctx context.Context, key Key, head *Head) (*former, error) {
	f, err := e.readFormer(ctx, key, head)
	if err != nil {
		return nil, err
	}
	now := e.txn.Now()
	f.forget(now)
	for end, last := head.Messages, ""; end > 0 && !f.incomplete; {
		if f.incomplete = head.Messages-end > formerMessages; f.incomplete {
			break
		}
		snap, err := e.store.Read(ctx, key, store.Query{Incarnation: head.Incarnation, Ranges: []store.MessageRange{{
			Range: conversation.Range{End: end}, Reverse: true, Limit: formerPage, MaxTokens: formerPageTokens,
		}}})
		if errors.Is(err, store.ErrCorrupt) || err == nil && len(snap.Messages) == 0 {
			f.incomplete = true
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
				f.add(requestAppend, m.RequestID, m.CreateTime)
				last = m.RequestID
			}
		}
	}
	return f, nil
}

// sweepReusable leaves of a deleted conversation without a tombstone what remembers its requests: a new incarnation, so that all
// records of the old one can go. A day later that goes too.
func (e *Engine) sweepReusable(ctx context.Context, key Key, head Head) error {
	if !e.txn.Now().Before(head.DeleteTime) {
		return e.txn.Delete(ctx, key, store.Deletion{Incarnation: head.Incarnation})
	}
	f, err := e.collectFormer(ctx, key, &head)
	if err != nil {
		return err
	}
	c := &store.Change{Expect: head.Version, Head: txn.NextHead(head, e.txn.Now())}
	if f.incomplete {
		c.Head.Reusable, c.Head.NextDue = false, c.Head.UpdateTime
		return e.store.Commit(ctx, key, c)
	}
	c.Head = txn.NewHead(e.ids(), head.CreateTime)
	c.Head.Version, c.Head.UpdateTime = head.Version+1, e.txn.Now()
	c.Head.State, c.Head.Reusable = store.Deleted, true
	c.Head.DeleteTime, c.Head.NextDue = head.DeleteTime, head.DeleteTime
	f.addTo(c)
	return e.store.Commit(ctx, key, c)
}

// tidyFormer drops what is remembered of former requests once all of it is past its time.
func tidyFormer(c *store.Change, slots map[string][]byte, now time.Time) error {
	f, err := parseFormer(c.Head.Incarnation, slots)
	if err != nil {
		return err
	}
	if until := f.until(); until.After(now) {
		c.Head.NextDue = txn.Earliest(c.Head.NextDue, until)
		return nil
	}
	for name := range slots {
		if c.Slots == nil {
			c.Slots = make(map[string][]byte)
		}
		c.Slots[name] = nil
	}
	c.Head.Former = time.Time{}
	return nil
}
