package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

const (
	// runGrace is how long the contents of a run can be had once it has ended (behaviour §9).
	runGrace = time.Hour
	// runIdle is after how long without use a run is ended that nobody ends.
	runIdle = 24 * time.Hour
	// runMemory is how long it is known of a run that its contents are gone.
	runMemory = 24 * time.Hour
	// useStep is how exactly it is known when a run was last used: reading writes no more often.
	useStep = time.Hour
)

// runRecord is a run as it is stored.
type runRecord record.Run

func (r *runRecord) encode() []byte { return record.EncodeRun((*record.Run)(r)) }

func runSlot(id string) string {
	sum := sha256.Sum256([]byte(id))
	return runSlots + hex.EncodeToString(sum[:])
}

func parseRun(value []byte) (*runRecord, error) {
	if value == nil {
		return nil, nil
	}
	r, err := record.DecodeRun(value)
	if err != nil {
		return nil, damaged("what is known of a run").Because(err)
	}
	return (*runRecord)(&r), nil
}

// due is when the contents of the run go.
func (r *runRecord) due() time.Time {
	if r.End > 0 {
		return time.UnixMilli(r.End).UTC()
	}
	return time.UnixMilli(r.Used).Add(runIdle + runGrace).UTC()
}

// wakes is when something is to be done about the run.
func (r *runRecord) wakes() time.Time {
	if r.Gone {
		return r.due().Add(runMemory)
	}
	return r.due()
}

// over says whether what the run held is gone, however late the sweeper comes. What is gone stays gone.
func (r *runRecord) over(now time.Time) bool { return r.Gone || !now.Before(r.due()) }

// ended says whether the run takes nothing more.
func (r *runRecord) ended(now time.Time) bool { return r.End > 0 || r.over(now) }

func (r *runRecord) add(number int64) {
	if n := len(r.Sources); n > 0 && r.Sources[n-1][1] == number-1 {
		r.Sources[n-1][1] = number
		return
	}
	r.Sources = append(r.Sources, [2]int64{number, number})
}

// join makes a content part of a run, and says when the run is due: never of one that is over, which takes nothing more.
func (s *slotChanges) join(run string, number int64, now time.Time) (time.Time, error) {
	r, err := parseRun(s.get(runSlot(run)))
	if err != nil {
		return time.Time{}, err
	}
	if r == nil {
		r = &runRecord{ID: run}
	} else if r.over(now) {
		return time.Time{}, nil
	}
	r.Used = now.UnixMilli()
	r.add(number)
	return r.due(), s.set(runSlot(run), r.encode())
}

// EndRun ends a run: its contents go after the grace time (behaviour §9).
func (e *Engine) EndRun(ctx context.Context, r EndRunRequest) (*EndRunResult, error) {
	var out *EndRunResult
	err := e.txn.Do(ctx, r.Key, func() (err error) {
		out, err = e.endRun(ctx, &r)
		return err
	})
	return out, err
}

func (e *Engine) endRun(ctx context.Context, r *EndRunRequest) (*EndRunResult, error) {
	snap, err := e.txn.Read(ctx, r.Key, store.Query{Request: r.Request.Key(), Slots: []string{runSlot(r.RunID)}})
	if err != nil {
		return nil, err
	}
	first, err := e.txn.Recall(snap, r.Request)
	if err != nil {
		return nil, err
	}
	run, err := parseRun(snap.Slots[runSlot(r.RunID)])
	if err != nil {
		return nil, err
	}
	if first != nil {
		out := &EndRunResult{Scheduled: first.Count, Revision: first.Revision, Duplicate: true}
		if run != nil && first.Count > 0 {
			out.DeleteAt = run.due()
		}
		return out, nil
	}
	if run == nil {
		run = &runRecord{ID: r.RunID, Used: e.txn.Now().UnixMilli()}
	}
	return e.commitEnd(ctx, r, snap, run)
}

func (e *Engine) commitEnd(ctx context.Context, r *EndRunRequest, snap *store.Snapshot, run *runRecord) (*EndRunResult, error) {
	now, left := e.txn.Now(), int32(0)
	over := run.over(now)
	if !over {
		var err error
		if left, err = e.leftOf(ctx, r.Key, &snap.Head, run); err != nil {
			return nil, err
		}
	}
	c := &store.Change{Expect: snap.Head.Version, Head: txn.NextHead(snap.Head, now)}
	c.Head.Revision++
	if !over {
		run.Used, run.End = now.UnixMilli(), now.Add(or(r.Grace, runGrace)).UnixMilli()
	}
	slots := newSlotChanges(nil)
	if err := slots.set(runSlot(r.RunID), run.encode()); err != nil {
		return nil, err
	}
	slots.apply(c)
	c.Head.NextDue = txn.Earliest(c.Head.NextDue, run.wakes())
	txn.Remember(c, r.Request, store.Outcome{Count: left, Revision: c.Head.Revision})
	if err := e.store.Commit(ctx, r.Key, c); err != nil {
		return nil, err
	}
	out := &EndRunResult{Scheduled: left, Revision: c.Head.Revision}
	if left > 0 {
		out.DeleteAt = run.due()
	}
	return out, nil
}

// leftOf is how many contents of a run can still be had.
func (e *Engine) leftOf(ctx context.Context, key Key, head *Head, run *runRecord) (int32, error) {
	left := int32(0)
	for _, r := range run.Sources {
		err := e.eachSource(ctx, key, head.Incarnation, r[0], r[1], func(_ int64, s *sourceRecord) error {
			if !s.Expired {
				left++
			}
			return nil
		})
		if err != nil {
			return 0, err
		}
	}
	return left, nil
}

// sourcePage is how many source records are read at a time.
const sourcePage = 128

// eachSource gives the source records of numbers, from and to inclusive, in order.
func (e *Engine) eachSource(ctx context.Context, key Key, incarnation conversation.ID, from, to int64, give func(number int64, r *sourceRecord) error) error {
	for ; from <= to; from += sourcePage {
		names := make([]string, 0, sourcePage)
		for n := from; n < from+sourcePage && n <= to; n++ {
			names = append(names, sourceSlot(n))
		}
		snap, err := e.store.Read(ctx, key, store.Query{Incarnation: incarnation, Slots: names})
		if err != nil {
			return txn.Failure(err)
		}
		for i, name := range names {
			value := snap.Slots[name]
			if value == nil {
				continue
			}
			r, err := parseSource(value)
			if err != nil {
				return err
			}
			if err := give(from+int64(i), r); err != nil {
				return err
			}
		}
	}
	return nil
}

// used says whether a content of a run can still be had, and notes that it was read, if that is worth a write. Noting competes with
// nobody, and is a favour: who loses, loses less than a step.
func (e *Engine) used(ctx context.Context, key Key, incarnation conversation.ID, s *sourceRecord) error {
	if !s.OfRun || s.Expired {
		return nil
	}
	name := runSlot(s.Run)
	snap, err := e.store.Read(ctx, key, store.Query{Incarnation: incarnation, Slots: []string{name}})
	if err != nil {
		return txn.Failure(err)
	}
	run, err := parseRun(snap.Slots[name])
	if err != nil || run == nil {
		return err
	}
	now := e.txn.Now()
	if run.Gone || !now.Before(run.due()) {
		return contentGone()
	}
	if run.End > 0 || now.Sub(time.UnixMilli(run.Used)) < useStep {
		return nil
	}
	run.Used = now.UnixMilli()
	slots := newSlotChanges(nil)
	if err := slots.set(name, run.encode()); err != nil {
		return err
	}
	c := &store.Change{Aside: true, Head: Head{Incarnation: incarnation}, ExpectSlots: map[string][]byte{name: snap.Slots[name]}}
	slots.apply(c)
	err = e.store.Commit(ctx, key, c)
	if errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return txn.Failure(err)
}
