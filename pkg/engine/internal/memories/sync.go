package memories

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// errand does what is due for a key, which names a conversation or a namespace's partition of what is to be forgotten.
func (s *Service) errand(ctx context.Context, key store.Key) (next time.Time, seen verdict) {
	err := txn.Guard(func() (err error) {
		if IsPartition(key) {
			next, seen, err = s.forgetDue(ctx, key)
		} else {
			next, seen, err = s.syncDue(ctx, key)
		}
		return err
	})
	if err == nil || ctx.Err() != nil {
		return next, seen
	}
	s.OnError(err)
	return s.Txn.Now().Add(jitter(time.Second, storeFailures)), seen
}

// storeFailures is the number of failures that a store failure counts as, so that it is tried again within half a minute.
const storeFailures = 5

// syncDue sends to the memory what is due of a conversation: first what is under way, then deletions, then new messages.
func (s *Service) syncDue(ctx context.Context, key store.Key) (next time.Time, seen verdict, err error) {
	for range stepsAtOnce {
		v, err := s.open(ctx, key)
		if v == nil || err != nil {
			return next, seen, err
		}
		next, more, err := v.step(ctx, &seen)
		switch {
		case errors.Is(err, errGone):
			return time.Time{}, seen, s.partitions.deletedMeanwhile(ctx, v)
		case errors.Is(err, errLost):
			return s.Txn.Now().Add(time.Second), seen, nil
		case err != nil || !more:
			return next, seen, err
		}
	}
	return s.Txn.Now(), seen, ctx.Err()
}

// stepsAtOnce is how many steps are done for one conversation before others get their turn.
const stepsAtOnce = 16

// step does one thing, and reports whether there may be more to do. If not, next is when to look again; zero for never.
func (v *syncState) step(ctx context.Context, seen *verdict) (next time.Time, more bool, err error) {
	now := v.service.Txn.Now()
	switch {
	case v.slot.leased():
		return v.slot.Until, false, nil
	case v.slot.NextTry.After(now):
		return v.slot.NextTry, false, nil
	}
	if v.queue.since, err = v.service.since.read(ctx); err != nil {
		return next, false, err
	}
	if err := v.readMark(ctx); err != nil {
		return next, false, err
	}
	if v.slot.Flight != nil {
		return v.resume(ctx, seen)
	}
	if v.slot.stored != nil && v.slot.Edits < v.head.EditSeq {
		if more, next, err := v.lookAtEdits(ctx, seen); more || err != nil || !next.IsZero() {
			return next, more, err
		}
	}
	scope, bit, sends := v.scope()
	if !sends {
		return next, false, v.markEditsSeen(ctx)
	}
	if len(v.slot.Again) > 0 {
		return v.sendAgain(ctx, scope, bit, seen)
	}
	r, due, err := v.queue.waiting(ctx)
	switch {
	case err != nil:
		return next, false, err
	case len(r.messages) == 0 && r.span.Len() >= collectPage:
		return next, true, v.skip(ctx, r)
	case due.IsZero() || due.After(now):
		return due, false, v.markEditsSeen(ctx)
	}
	return v.send(ctx, scope, bit, r, false, seen)
}

// markEditsSeen records that edits which change nothing were looked at, so that they are not looked at again.
func (v *syncState) markEditsSeen(ctx context.Context) error {
	if v.slot.stored == nil || v.slot.Edits >= v.head.EditSeq {
		return nil
	}
	return v.slot.update(ctx, nil, func(slot *record.MemorySync) error {
		slot.Edits = max(slot.Edits, v.head.EditSeq)
		return nil
	})
}

// skip skips messages of which nothing is to be remembered.
func (v *syncState) skip(ctx context.Context, r *run) error {
	return v.slot.update(ctx, nil, func(slot *record.MemorySync) error {
		if slot.Next == r.span.First && slot.Flight == nil {
			r.moveOn(slot)
		}
		return nil
	})
}

// moveOn moves the slot behind a run.
func (r *run) moveOn(slot *record.MemorySync) {
	slot.Next = max(slot.Next, r.span.End)
	slot.Session, slot.SessionStart, slot.Passed = r.session, r.start, r.last
	slot.Ends = slices.DeleteFunc(slot.Ends, func(end int32) bool { return end < slot.Next })
}

// sendAgain sends the first of the ranges that are to be sent again.
func (v *syncState) sendAgain(ctx context.Context, scope memory.Scope, bit int32, seen *verdict) (next time.Time, more bool, err error) {
	if next = v.slot.Sent.Add(v.service.limits.Interval); !v.slot.Sent.IsZero() && next.After(v.service.Txn.Now()) {
		return next, false, nil
	}
	first := v.slot.Again[0]
	r, err := v.queue.collect(ctx, first, v.queue.batchLimit())
	if err != nil {
		return next, false, err
	}
	if len(r.messages) == 0 {
		return next, true, v.slot.update(ctx, nil, func(slot *record.MemorySync) error {
			slot.Again = conversation.SubtractRanges(slot.Again, []conversation.Range{r.span, {First: first.First, End: first.First + 1}})
			return nil
		})
	}
	return v.send(ctx, scope, bit, r, true, seen)
}

// send sends a run. The run is recorded as under way before it is sent.
func (v *syncState) send(ctx context.Context, scope memory.Scope, bit int32, r *run, again bool, seen *verdict) (next time.Time, more bool, err error) {
	b, err := v.queue.batch(ctx, r, scope)
	if err != nil {
		return next, false, err
	}
	f := &record.MemoryFlight{
		First: r.span.First, End: r.span.End, SHA256: digest(b), Key: v.service.IDs().String(), Session: r.session, Sent: v.service.Txn.Now(), Again: again,
	}
	b.Key = f.Key
	err = v.slot.update(ctx, nil, func(slot *record.MemorySync) error {
		if v.slot.leased() || slot.Flight != nil || !again && slot.Next != r.span.First {
			return errLost
		}
		slot.Owner, slot.Until, slot.Flight, slot.Scopes = v.service.owner, v.service.Txn.Now().Add(leaseTime), f, slot.Scopes|bit
		if slot.Edits == 0 || v.slot.stored == nil {
			slot.Edits = max(slot.Edits, v.head.EditSeq)
		}
		return nil
	})
	if err != nil {
		return next, false, err
	}
	return v.deliver(ctx, b, r, false, seen)
}

// resume continues with a batch that was under way: it sends the same messages again under the same key. What has changed since is
// taken back.
func (v *syncState) resume(ctx context.Context, seen *verdict) (next time.Time, more bool, err error) {
	f := *v.slot.Flight
	scope, _, sends := v.scope()
	if !sends || f.Void {
		return v.takeBack(ctx, f, seen)
	}
	r, err := v.queue.collect(ctx, conversation.Range{First: f.First, End: f.End}, int(f.End-f.First))
	if err != nil {
		return next, false, err
	}
	b, err := v.queue.batch(ctx, r, scope)
	if err != nil {
		return next, false, err
	}
	if len(b.Messages) == 0 || digest(b) != f.SHA256 || r.span.End != f.End {
		return v.takeBack(ctx, f, seen)
	}
	b.Key, b.Session = f.Key, sessionName(v.head.Incarnation, f.Session)
	if err := v.slot.lease(ctx, func(*record.MemorySync) {}); err != nil {
		return next, false, err
	}
	return v.deliver(ctx, b, r, f.Pending || !v.service.limits.Idempotent, seen)
}
