package memories

import (
	"context"
	"slices"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// Sync reports how much of a conversation each target remembers.
func (s *Service) Sync(ctx context.Context, key store.Key) ([]Sync, error) {
	if err := requireTarget(s.Target); err != nil {
		return nil, err
	}
	v, err := s.openForCaller(ctx, key)
	if err != nil {
		return nil, err
	}
	if !v.policy.Remembers() {
		return nil, nil
	}
	state, err := v.queue.backlog(ctx)
	if err != nil {
		return nil, txn.Failure(err)
	}
	out := Sync{
		Target: s.Target.Name(), SyncedTo: v.slot.Next, Lag: state.messages, State: InSync, Skipped: v.slot.Skipped, Session: state.session, Reason: v.slot.Reason,
		Residue: v.slot.Residue,
	}
	if state.messages == 0 {
		out.SyncedTo = state.end
	}
	_, _, sends := v.scope()
	switch {
	case !sends:
		out.State, out.Reason = Waiting, "the conversation has no actor_id"
	case v.slot.State == slotStopped:
		out.State, out.NextTry = Stopped, v.slot.NextTry
	case v.slot.State == slotRetrying:
		out.State, out.NextTry = Retrying, v.slot.NextTry
	case v.slot.Flight != nil:
		out.State = Sending
	case state.messages > 0:
		out.State, out.NextTry = Waiting, latest(state.due, v.slot.NextTry)
	}
	return []Sync{out}, nil
}

// openForCaller reads the sync state of a conversation for a caller.
func (s *Service) openForCaller(ctx context.Context, key store.Key) (*syncState, error) {
	snap, err := s.Txn.Read(ctx, key, store.Query{Info: true, Slots: []string{s.SyncSlot()}})
	if err != nil {
		return nil, err
	}
	v, err := syncStateOf(s, key, snap)
	if err != nil {
		return nil, err
	}
	if v.queue.since, err = s.since.read(ctx); err != nil {
		return nil, err
	}
	return v, v.readMark(ctx)
}

// backlog is what still has to be sent, as callers see it.
type backlog struct {
	messages int32
	session  int32 // the session of the last message
	end      int32 // end of the units that can no longer grow
	due      time.Time
}

// backlogRuns is how many runs are looked through for a caller. Messages after that count as if all of them were to be
// sent.
const backlogRuns = 64

// backlog counts the messages that still have to be sent.
func (q *queue) backlog(ctx context.Context) (*backlog, error) {
	end := q.head.Messages
	out := &backlog{session: max(q.slot.Session, 1), end: max(closedEnd(&q.head), q.slot.Next)}
	for _, r := range q.slot.Again {
		out.messages += r.Len()
	}
	rest, slot := *q, *q.slot
	rest.slot = &slot
	for range backlogRuns {
		if rest.slot.Next >= end {
			return out, nil
		}
		r, err := rest.collect(ctx, conversation.Range{First: rest.slot.Next, End: end}, backlogRun)
		if err != nil {
			return nil, err
		}
		if out.due.IsZero() && len(r.messages) > 0 {
			out.due = q.dueAt(r)
		}
		out.messages, out.session = out.messages+int32(len(r.messages)), r.session
		slot.Ends = slices.Clone(slot.Ends)
		r.moveOn(&slot)
	}
	out.messages += end - rest.slot.Next
	return out, nil
}

// backlogRun is how many messages a run of the backlog has at most.
const backlogRun = 256
