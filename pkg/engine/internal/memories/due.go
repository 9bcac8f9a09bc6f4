package memories

import (
	"context"
	"slices"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

const (
	// beforeEnd is how long before its ttl ends a conversation gives what is left.
	beforeEnd = time.Hour
	// fallback is how long the sweeper leaves to the process that a message came to: it looks after what a process left behind.
	fallback = time.Minute
)

// longestDelay is how long a message may wait, where nothing else says that its time has come.
func longestDelay(p *conversation.MemoryPolicy) time.Duration {
	switch p.Sync {
	case conversation.SyncImmediate:
		return conversation.ValueOr(p.SyncDelay, conversation.DefaultSyncDelay)
	case conversation.SyncEndOfSession:
		return conversation.ValueOr(p.SessionIdle, conversation.DefaultSessionIdle)
	default:
		return conversation.ValueOr(p.BatchMaxAge, conversation.DefaultBatchMaxAge)
	}
}

// beforeTTL is when what is left is to be sent because the conversation ends; zero for never.
func beforeTTL(end time.Time, ttl time.Duration) time.Time {
	if end.IsZero() || ttl <= 0 {
		return time.Time{}
	}
	return end.Add(-min(beforeEnd, ttl/2))
}

// isFull says whether so much makes a batch.
func isFull(p *conversation.MemoryPolicy, messages int32, tokens int64) bool {
	return messages >= conversation.ValueOr(p.BatchMessages, conversation.DefaultBatchMessages) ||
		tokens >= int64(conversation.ValueOr(p.BatchTokens, conversation.DefaultBatchTokens))
}

// dueAt is when what waits is to be sent.
func (v *visit) dueAt(r *run) time.Time {
	p, first := &v.policy, r.messages[0].CreateTime
	at := first.Add(longestDelay(p))
	switch {
	case r.over:
		at = first
	case p.Sync == conversation.SyncEndOfSession:
		at = v.head.UpdateTime.Add(longestDelay(p))
	case p.Sync != conversation.SyncImmediate && isFull(p, int32(len(r.messages)), r.tokens):
		at = first
	}
	if end := beforeTTL(v.head.ExpireTime, v.ttl); !end.IsZero() {
		at = txn.Earliest(at, end)
	}
	if !v.slot.Sent.IsZero() {
		at = latest(at, v.slot.Sent.Add(v.limits.Interval))
	}
	return at
}

// idle says whether nothing has happened for so long that the session is over.
func (v *visit) idle() bool {
	return !v.Txn.Now().Before(v.head.UpdateTime.Add(conversation.ValueOr(v.policy.SessionIdle, conversation.DefaultSessionIdle)))
}

// ended says whether a caller ended the session behind the last message.
func (v *visit) ended() bool { return slices.Contains(v.slot.Ends, v.head.Messages) }

// most is how many messages the next batch may have.
func (v *visit) most() int {
	n := v.limits.MaxMessages
	if s := v.policy.Sync; s != conversation.SyncImmediate && s != conversation.SyncEndOfSession {
		n = min(n, int(conversation.ValueOr(v.policy.BatchMessages, conversation.DefaultBatchMessages)))
	}
	if v.slot.Size > 0 {
		n = min(n, int(v.slot.Size))
	}
	return max(n, 1)
}

// waiting finds what waits, and when it is due; zero if nothing does.
func (v *visit) waiting(ctx context.Context) (*run, time.Time, error) {
	end := closedEnd(&v.head)
	idle := v.idle()
	if idle || v.ended() {
		end = v.head.Messages
	}
	r, err := v.collect(ctx, conversation.Range{First: v.slot.Next, End: max(end, v.slot.Next)}, v.most())
	if err != nil {
		return nil, time.Time{}, err
	}
	if len(r.messages) > 0 {
		return r, v.dueAt(r), nil
	}
	if open := (conversation.Range{First: r.span.End, End: v.head.Messages}); open.Len() > 0 { // a unit that nothing closes is over with its session
		rest, err := v.collect(ctx, open, 1)
		if err != nil || len(rest.messages) == 0 {
			return r, time.Time{}, err
		}
		return r, v.head.UpdateTime.Add(conversation.ValueOr(v.policy.SessionIdle, conversation.DefaultSessionIdle)), nil
	}
	return r, time.Time{}, nil
}

// NoteAppend moves the time at which the sweeper looks at a conversation that an append changes: it reads nothing but the first time in a
// process.
func (s *Service) NoteAppend(ctx context.Context, h *store.Head, policy *conversation.Policy) {
	if s.Target == nil || !policy.Memory.Remembers() {
		return
	}
	_, _ = s.readSince(ctx) // what fails here is tried again, and no append waits for it
	at := h.UpdateTime.Add(max(longestDelay(&policy.Memory), fallback))
	h.NextDue = txn.Earliest(h.NextDue, txn.Earliest(at, beforeTTL(h.ExpireTime, conversation.ValueOr(policy.TTL, 0))))
}

// Appended says that messages are on record.
func (s *Service) Appended(key store.Key, h *store.Head, policy *conversation.Policy, messages []conversation.Message) {
	p := &policy.Memory
	if s.Target == nil || !p.Remembers() {
		return
	}
	n, tokens := int32(0), int64(0)
	for i := range messages {
		if m := &messages[i]; p.SyncsRole(m.Role) {
			n, tokens = n+1, tokens+int64(m.Tokens)
		}
	}
	if n == 0 {
		return
	}
	now, end := s.Txn.Now(), beforeTTL(h.ExpireTime, conversation.ValueOr(policy.TTL, 0))
	s.worker.note(key, n, tokens, func(messages int32, tokens int64) time.Time {
		if p.Sync != conversation.SyncImmediate && p.Sync != conversation.SyncEndOfSession && isFull(p, messages, tokens) {
			return now
		}
		return txn.Earliest(now.Add(longestDelay(p)), end)
	})
}

// concerns says whether an edit changes what a memory holds.
func concerns(e *conversation.Edit) bool {
	switch e.Kind {
	case conversation.EditHide, conversation.EditUnhide, conversation.EditCorrect:
		return true
	case conversation.EditRecall: // what a block lost was said elsewhere
		return false
	default:
		return e.Erases
	}
}

// NoteEdits moves the time at which the sweeper looks at a conversation whose edits change what a memory holds.
func (s *Service) NoteEdits(h *store.Head, edits []conversation.Edit) {
	if s.Target != nil && slices.ContainsFunc(edits, func(e conversation.Edit) bool { return concerns(&e) }) {
		h.NextDue = txn.Earliest(h.NextDue, h.UpdateTime)
	}
}

// Edited says that edits are on record.
func (s *Service) Edited(key store.Key, edits []conversation.Edit) {
	if s.Target != nil && slices.ContainsFunc(edits, func(e conversation.Edit) bool { return concerns(&e) }) {
		s.worker.at(key, s.Txn.Now())
	}
}

// NoteUpdate adds to a change of attributes what follows for the memory: what was said while nothing was to be remembered never is.
func (s *Service) NoteUpdate(c *store.Change, before *store.Snapshot) error {
	if s.Target == nil {
		return nil
	}
	was, is := before.Info.Policy.Or(s.Defaults).Memory, c.Info.Policy.Or(s.Defaults).Memory
	if !is.Remembers() {
		return nil
	}
	c.Head.NextDue = txn.Earliest(c.Head.NextDue, c.Head.UpdateTime.Add(fallback))
	if was.Remembers() || s.Backfill {
		return nil
	}
	slot := before.Slots[s.SyncSlot()]
	v := &visit{Service: s, stored: slot}
	if err := v.parse(); err != nil {
		return err
	}
	v.slot.Next, v.slot.SessionStart, v.slot.Passed = max(v.slot.Next, c.Head.Messages), c.Head.Messages, time.Time{}
	v.slot.Again = nil
	c.Slots = map[string][]byte{s.SyncSlot(): record.EncodeMemorySync(&v.slot)}
	c.ExpectSlots = map[string][]byte{s.SyncSlot(): slot}
	return nil
}

// LookAgain is when the sweeper is to look at a live conversation again; zero for never. What is due is handed to the worker: the sweeper
// waits for no target.
func (s *Service) LookAgain(ctx context.Context, key store.Key, snap *store.Snapshot) (time.Time, error) {
	if s.Target == nil || snap.Info == nil {
		return time.Time{}, nil
	}
	v, err := s.visitOf(key, snap)
	if err != nil {
		return time.Time{}, err
	}
	if at, busy := s.worker.busy(key); busy {
		return at.Add(fallback), nil
	}
	due, err := v.due(ctx)
	if err != nil || due.IsZero() {
		return due, err
	}
	due = latest(due, s.Txn.Now())
	s.worker.at(key, due)
	return due.Add(fallback), nil
}

// due is when something is to be done; zero for never.
func (v *visit) due(ctx context.Context) (time.Time, error) {
	now := v.Txn.Now()
	_, _, sends := v.scope()
	at := time.Time{}
	switch {
	case v.stored != nil && (v.slot.Flight != nil || v.slot.Edits < v.head.EditSeq), sends && len(v.slot.Again) > 0:
		at = now
	case sends && v.slot.Next < v.head.Messages:
		var err error
		if v.since, err = v.readSince(ctx); err != nil {
			return at, err
		}
		if err := v.readMark(ctx); err != nil {
			return at, err
		}
		if _, at, err = v.waiting(ctx); err != nil || at.IsZero() {
			return at, err
		}
	default:
		return at, nil
	}
	return latest(at, v.slot.NextTry), nil
}
