package engine

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

const (
	// eventMemory is how far back events can be read (behaviour §13).
	eventMemory = 7 * 24 * time.Hour
	// eventPage is how many records one read for events returns at most.
	eventPage = 256
	// eventPoll is how long a watcher waits before it looks again without being woken. A commit of another process wakes nobody here.
	eventPoll = 2 * time.Second
)

// EventAt is an event together with the place right behind it in the stream. Events are not stored. Messages and edits carry the number of
// the commit that made them, and the stream is these records in commit order.
type EventAt struct {
	Event conversation.Event
	Time  time.Time
	Token string // resumes the stream behind this event
}

// place is a position in the stream of events: behind the first Done events of one commit.
type place struct {
	incarnation conversation.ID
	version     uint64
	done        uint32
	epoch       uint64 // hash of the store's epoch; 0 for a store without epochs
}

const placeBytes, epochBytes = len(conversation.ID{}) + 12, 8

func (p place) token() string {
	b := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(p.incarnation[:], p.version), p.done)
	if p.epoch != 0 {
		b = binary.BigEndian.AppendUint64(b, p.epoch)
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

func parsePlace(token string) (p place, err error) {
	b, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || len(b) != placeBytes && len(b) != placeBytes+epochBytes {
		return p, badToken()
	}
	if len(b) > placeBytes {
		p.epoch = binary.BigEndian.Uint64(b[placeBytes:])
	}
	copy(p.incarnation[:], b)
	p.version, p.done = binary.BigEndian.Uint64(b[16:]), binary.BigEndian.Uint32(b[24:])
	return p, nil
}

// epochOf returns the hash of the store's epoch, as tokens hold it.
func epochOf(h *Head) uint64 {
	if h.Epoch == "" {
		return 0
	}
	sum := sha256.Sum256([]byte(h.Epoch))
	return binary.BigEndian.Uint64(sum[:])
}

// anotherEpoch is the error for a token of an earlier epoch. Acknowledged commits may have been lost since, so the versions behind the
// token may have been used again for other commits.
func anotherEpoch(oldest place) error {
	return conversation.Errorf(conversation.ResumeTokenExpired, "the store was restarted, failed over or moved since the token was given, and commits that it counts may be gone; the oldest token is %s", oldest.token())
}

func badToken() error {
	return conversation.Errorf(conversation.InvalidField, "the resume token cannot be read").At("resume_token", "is no token of this stream")
}

// Watch passes the events of a conversation to give, each once and in order, and then waits for new ones until the context is done or give
// fails. It starts behind the token or, without one, at the oldest event that is kept.
func (e *Engine) Watch(ctx context.Context, key Key, token string, give func(EventAt) error) error {
	at, err := e.resume(ctx, key, token)
	if err != nil {
		return err
	}
	for {
		next, version, err := e.events(ctx, key, at, give)
		if conversation.KindOf(err) == conversation.ConversationNotFound { // another incarnation has its name now, or none has
			return conversation.Errorf(conversation.ConversationDeleted, "the conversation was deleted").Because(err)
		}
		if err != nil {
			return txn.Failure(err)
		}
		if next == at {
			if err := e.awaitCommit(ctx, key, version); err != nil {
				return txn.Failure(err)
			}
		}
		at = next
	}
}

// awaitCommit waits until there may be a commit later than version.
func (e *Engine) awaitCommit(ctx context.Context, key Key, version uint64) error {
	poll, cancel := context.WithTimeout(ctx, eventPoll)
	defer cancel()
	err := e.store.Wait(poll, key, version)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return nil
	}
	return err
}

// events passes one page of events to give. It returns the place behind them and the version up to which it has read.
func (e *Engine) events(ctx context.Context, key Key, at place, give func(EventAt) error) (behind place, version uint64, err error) {
	since := at.version
	if at.done > 0 {
		since-- // some events of this commit were already passed on
	}
	snap, err := e.txn.Read(ctx, key, store.Query{Incarnation: at.incarnation, Since: &store.Since{Version: since, Limit: eventPage}})
	if err != nil {
		return at, 0, err
	}
	if epochOf(&snap.Head) != at.epoch {
		first, err := e.oldestPlace(ctx, key, &snap.Head)
		return at, 0, cmp.Or(err, anotherEpoch(first))
	}
	oldest := e.txn.Now().Add(-eventMemory)
	skip := at.done
	for _, ev := range eventsOf(snap) {
		if ev.commit != at.version {
			at.version, at.done, skip = ev.commit, 0, 0
		}
		if skip > 0 {
			skip--
			continue
		}
		at.done++
		if ev.Time.Before(oldest) {
			continue
		}
		ev.Token = at.token()
		if err := give(ev.EventAt); err != nil {
			return at, 0, err
		}
	}
	return at, snap.Head.Version, nil
}

// committedEvent is an event with the number of the commit that made it.
type committedEvent struct {
	EventAt
	commit uint64
}

// eventsOf makes events from records, ordered by commit; within a commit, messages come before edits.
func eventsOf(snap *store.Snapshot) []committedEvent {
	out := make([]committedEvent, 0, len(snap.Messages)+len(snap.Edits))
	edits := snap.Edits
	for i := range snap.Messages {
		m := &snap.Messages[i]
		for len(edits) > 0 && edits[0].Commit < m.Commit {
			out, edits = appendEdit(out, &edits[0]), edits[1:]
		}
		ev := conversation.Event{Type: conversation.EventAdded, Turn: m.TurnAdded, Index: m.Index, Last: m.Index, Reason: conversation.ReasonAppended}
		out = append(out, committedEvent{EventAt{Event: ev, Time: m.CreateTime}, m.Commit})
	}
	for i := range edits {
		out = appendEdit(out, &edits[i])
	}
	return out
}

func appendEdit(out []committedEvent, ed *conversation.Edit) []committedEvent {
	for _, ev := range conversation.EventsOf([]conversation.Edit{*ed}) {
		out = append(out, committedEvent{EventAt{Event: ev, Time: ed.Time}, ed.Commit})
	}
	return out
}

// resume turns a token into a place. It refuses a token that lies before the oldest event kept.
func (e *Engine) resume(ctx context.Context, key Key, token string) (place, error) {
	snap, err := e.txn.Read(ctx, key, store.Query{})
	if err != nil {
		return place{}, err
	}
	oldest, err := e.oldestPlace(ctx, key, &snap.Head)
	if err != nil || token == "" {
		return oldest, err
	}
	at, err := parsePlace(token)
	if err != nil {
		return at, err
	}
	if at.epoch != oldest.epoch && at.incarnation == oldest.incarnation {
		return at, anotherEpoch(oldest)
	}
	if at.version > snap.Head.Version && at.incarnation == oldest.incarnation {
		return at, badToken()
	}
	if at.incarnation != oldest.incarnation || at.version < oldest.version {
		return at, conversation.Errorf(conversation.ResumeTokenExpired, "the events behind the token are no longer kept; the oldest token is %s", oldest.token())
	}
	return at, nil
}

// oldestPlace returns the place before the oldest event kept. Messages are in order of time, so a binary search finds it.
func (e *Engine) oldestPlace(ctx context.Context, key Key, head *Head) (place, error) {
	from := e.txn.Now().Add(-eventMemory)
	at := place{incarnation: head.Incarnation, epoch: epochOf(head)}
	low, high := int32(0), head.Messages // the first message within the event memory lies in [low, high]
	for low < high {
		middle := low + (high-low)/2
		snap, err := e.store.Read(ctx, key, store.Query{Incarnation: head.Incarnation, Ranges: []store.MessageRange{
			{Range: conversation.Range{First: middle, End: middle + 1}},
		}})
		if err != nil {
			return at, txn.Failure(err)
		}
		if m := &snap.Messages[0]; m.CreateTime.Before(from) {
			low, at.version = middle+1, m.Commit
		} else {
			high = middle
		}
	}
	return at, nil
}
