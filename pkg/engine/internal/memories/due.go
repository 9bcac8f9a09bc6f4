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
	// beforeEnd is how long before the end of its ttl a conversation sends what is left.
	beforeEnd = time.Hour
	// sweeperGrace is how long the sweeper leaves a message to the process that it came to. After that, the sweeper takes over what a process
	// left behind.
	sweeperGrace = time.Minute
)

// longestDelay is the longest time a message may wait before it is sent.
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

// beforeTTL is when what is left is sent because the conversation expires; zero for never.
func beforeTTL(end time.Time, ttl time.Duration) time.Time {
	if end.IsZero() || ttl <= 0 {
		return time.Time{}
	}
	return end.Add(-min(beforeEnd, ttl/2))
}

// isFull reports whether the messages make a full batch.
func isFull(p *conversation.MemoryPolicy, messages int32, tokens int64) bool {
	return messages >= conversation.ValueOr(p.BatchMessages, conversation.DefaultBatchMessages) ||
		tokens >= int64(conversation.ValueOr(p.BatchTokens, conversation.DefaultBatchTokens))
}

// dueAt is when the waiting run r is to be sent.
func (q *queue) dueAt(r *run) time.Time {
	p, first := &q.policy, r.messages[0].CreateTime
	at := first.Add(longestDelay(p))
	switch {
	case r.over:
		at = first
	case p.Sync == conversation.SyncEndOfSession:
		at = q.head.UpdateTime.Add(longestDelay(p))
	case p.Sync != conversation.SyncImmediate && isFull(p, int32(len(r.messages)), r.tokens):
		at = first
	}
	if end := beforeTTL(q.head.ExpireTime, q.ttl); !end.IsZero() {
		at = txn.Earliest(at, end)
	}
	if !q.slot.Sent.IsZero() {
		at = latest(at, q.slot.Sent.Add(q.limits.Interval))
	}
	return at
}

// idle reports whether nothing has happened for so long that the session is over.
func (q *queue) idle() bool {
	return !q.clock().Before(q.head.UpdateTime.Add(conversation.ValueOr(q.policy.SessionIdle, conversation.DefaultSessionIdle)))
}

// ended reports whether a caller ended the session after the last message.
func (q *queue) ended() bool { return slices.Contains(q.slot.Ends, q.head.Messages) }

// batchLimit is how many messages the next batch may have.
func (q *queue) batchLimit() int {
	n := q.limits.MaxMessages
	if s := q.policy.Sync; s != conversation.SyncImmediate && s != conversation.SyncEndOfSession {
		n = min(n, int(conversation.ValueOr(q.policy.BatchMessages, conversation.DefaultBatchMessages)))
	}
	if q.slot.Size > 0 {
		n = min(n, int(q.slot.Size))
	}
	return max(n, 1)
}

// waiting finds the next run to send, and when it is due; zero if there is nothing to send.
func (q *queue) waiting(ctx context.Context) (*run, time.Time, error) {
	end := closedEnd(&q.head)
	idle := q.idle()
	if idle || q.ended() {
		end = q.head.Messages
	}
	r, err := q.collect(ctx, conversation.Range{First: q.slot.Next, End: max(end, q.slot.Next)}, q.batchLimit())
	if err != nil {
		return nil, time.Time{}, err
	}
	if len(r.messages) > 0 {
		return r, q.dueAt(r), nil
	}
	if open := (conversation.Range{First: r.span.End, End: q.head.Messages}); open.Len() > 0 { // an open unit is sent when its session ends
		rest, err := q.collect(ctx, open, 1)
		if err != nil || len(rest.messages) == 0 {
			return r, time.Time{}, err
		}
		return r, q.head.UpdateTime.Add(conversation.ValueOr(q.policy.SessionIdle, conversation.DefaultSessionIdle)), nil
	}
	return r, time.Time{}, nil
}

// NoteAppend brings forward the time at which the sweeper looks at a conversation that an append changes. It reads from the store only
// once in a process.
func (s *Service) NoteAppend(ctx context.Context, h *store.Head, policy *conversation.Policy) {
	if s.Target == nil || !policy.Memory.Remembers() {
		return
	}
	_, _ = s.since.read(ctx) // a failure is ignored: the next append tries again, and none waits for it
	at := h.UpdateTime.Add(max(longestDelay(&policy.Memory), sweeperGrace))
	h.NextDue = txn.Earliest(h.NextDue, txn.Earliest(at, beforeTTL(h.ExpireTime, conversation.ValueOr(policy.TTL, 0))))
}

// Appended tells the worker about messages on record.
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

// changesMemory reports whether an edit changes what a memory should hold.
func changesMemory(e *conversation.Edit) bool {
	switch e.Kind {
	case conversation.EditHide, conversation.EditUnhide, conversation.EditCorrect:
		return true
	case conversation.EditRecall: // what a block of memories lost was said in other conversations
		return false
	default:
		return e.Erases
	}
}

// NoteEdits brings forward the time at which the sweeper looks at a conversation if the edits change what a memory should hold.
func (s *Service) NoteEdits(h *store.Head, edits []conversation.Edit) {
	if s.Target != nil && slices.ContainsFunc(edits, func(e conversation.Edit) bool { return changesMemory(&e) }) {
		h.NextDue = txn.Earliest(h.NextDue, h.UpdateTime)
	}
}

// Edited tells the worker about edits on record.
func (s *Service) Edited(key store.Key, edits []conversation.Edit) {
	if s.Target != nil && slices.ContainsFunc(edits, func(e conversation.Edit) bool { return changesMemory(&e) }) {
		s.worker.at(key, s.Txn.Now())
	}
}

// NoteUpdate adds to a change of attributes what it means for the memory: messages from a time when nothing was to be remembered are
// never sent later.
func (s *Service) NoteUpdate(c *store.Change, before *store.Snapshot) error {
	if s.Target == nil {
		return nil
	}
	was, is := before.Info.Policy.Or(s.Defaults).Memory, c.Info.Policy.Or(s.Defaults).Memory
	if !is.Remembers() {
		return nil
	}
	c.Head.NextDue = txn.Earliest(c.Head.NextDue, c.Head.UpdateTime.Add(sweeperGrace))
	if was.Remembers() || s.Backfill {
		return nil
	}
	stored := before.Slots[s.SyncSlot()]
	slot, err := parseSync(stored)
	if err != nil {
		return err
	}
	slot.Next, slot.SessionStart, slot.Passed = max(slot.Next, c.Head.Messages), c.Head.Messages, time.Time{}
	slot.Again = nil
	c.Slots = map[string][]byte{s.SyncSlot(): record.EncodeMemorySync(&slot)}
	c.ExpectSlots = map[string][]byte{s.SyncSlot(): stored}
	return nil
}

// LookAgain returns when the sweeper is to look at a live conversation again; zero for never. It hands what is due to the worker, so that
// the sweeper waits for no target.
func (s *Service) LookAgain(ctx context.Context, key store.Key, snap *store.Snapshot) (time.Time, error) {
	if s.Target == nil || snap.Info == nil {
		return time.Time{}, nil
	}
	v, err := syncStateOf(s, key, snap)
	if err != nil {
		return time.Time{}, err
	}
	if at, busy := s.worker.busy(key); busy {
		return at.Add(sweeperGrace), nil
	}
	due, err := v.due(ctx)
	if err != nil || due.IsZero() {
		return due, err
	}
	due = latest(due, s.Txn.Now())
	s.worker.at(key, due)
	return due.Add(sweeperGrace), nil
}

// due is when there is something to do; zero for never.
func (v *syncState) due(ctx context.Context) (time.Time, error) {
	now := v.service.Txn.Now()
	_, _, sends := v.scope()
	at := time.Time{}
	switch {
	case v.slot.stored != nil && (v.slot.Flight != nil || v.slot.Edits < v.head.EditSeq), sends && len(v.slot.Again) > 0:
		at = now
	case sends && v.slot.Next < v.head.Messages:
		var err error
		if v.queue.since, err = v.service.since.read(ctx); err != nil {
			return at, err
		}
		if err := v.readMark(ctx); err != nil {
			return at, err
		}
		if _, at, err = v.queue.waiting(ctx); err != nil || at.IsZero() {
			return at, err
		}
	default:
		return at, nil
	}
	return latest(at, v.slot.NextTry), nil
}
