package contents

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

const (
	// runGrace is for how long after its end the contents of a run can still be read (behaviour §9).
	runGrace = time.Hour
	// runIdle is how long a run may be unused before it ends by itself.
	runIdle = 24 * time.Hour
	// runMemory is for how long the conversation remembers that the contents of a run are gone.
	runMemory = 24 * time.Hour
	// touchInterval is the precision of a run's last use: reads write the time no more often than this.
	touchInterval = time.Hour
)

// RunRecord is a run as it is stored.
type RunRecord record.Run

// Encode returns the run as its slot holds it.
func (r *RunRecord) Encode() []byte { return record.EncodeRun((*record.Run)(r)) }

// RunSlot returns the name of a run's slot.
func RunSlot(id string) string {
	sum := sha256.Sum256([]byte(id))
	return RunSlots + hex.EncodeToString(sum[:])
}

// ParseRun reads a run from its slot; nil if the slot is empty.
func ParseRun(value []byte) (*RunRecord, error) {
	if value == nil {
		return nil, nil
	}
	r, err := record.DecodeRun(value)
	if err != nil {
		return nil, Damaged("what is known of a run").Because(err)
	}
	return (*RunRecord)(&r), nil
}

// Due is the time at which the contents of the run are deleted.
func (r *RunRecord) Due() time.Time {
	if r.End > 0 {
		return time.UnixMilli(r.End).UTC()
	}
	return time.UnixMilli(r.Used).Add(runIdle + runGrace).UTC()
}

// NextAction is the time at which the sweeper has something to do for the run.
func (r *RunRecord) NextAction() time.Time {
	if r.Gone {
		return r.Due().Add(runMemory)
	}
	return r.Due()
}

// Over reports whether the contents of the run are gone, even if the sweeper has not deleted them yet. A run that is gone stays gone.
func (r *RunRecord) Over(now time.Time) bool { return r.Gone || !now.Before(r.Due()) }

// ended reports whether the run accepts no more contents.
func (r *RunRecord) ended(now time.Time) bool { return r.End > 0 || r.Over(now) }

// Add adds a content to the run, by its number.
func (r *RunRecord) Add(number int64) {
	if n := len(r.Sources); n > 0 && r.Sources[n-1][1] == number-1 {
		r.Sources[n-1][1] = number
		return
	}
	r.Sources = append(r.Sources, [2]int64{number, number})
}

// Join adds a content to a run and returns when the run is due. If the run has ended, it accepts nothing and the time is zero.
func (s *SlotChanges) Join(run string, number int64, now time.Time) (time.Time, error) {
	r, err := ParseRun(s.Get(RunSlot(run)))
	if err != nil {
		return time.Time{}, err
	}
	if r == nil {
		r = &RunRecord{ID: run}
	} else if r.Over(now) {
		return time.Time{}, nil
	}
	r.Used = now.UnixMilli()
	r.Add(number)
	return r.Due(), s.Set(RunSlot(run), r.Encode())
}

// EndRun ends a run: its contents are deleted after the grace time (behaviour §9).
func (cs *Service) EndRun(ctx context.Context, r EndRunRequest) (*EndRunResult, error) {
	return txn.Decide(ctx, cs.Txn, r.Key, func() (*EndRunResult, error) { return cs.endRun(ctx, &r) })
}

func (cs *Service) endRun(ctx context.Context, r *EndRunRequest) (*EndRunResult, error) {
	snap, first, err := cs.Txn.ReadFor(ctx, r.Key, r.Request, store.Query{Slots: []string{RunSlot(r.RunID)}})
	if err != nil {
		return nil, err
	}
	run, err := ParseRun(snap.Slots[RunSlot(r.RunID)])
	if err != nil {
		return nil, err
	}
	if first != nil {
		out := &EndRunResult{Scheduled: first.Count, Revision: first.Revision, Duplicate: true}
		if run != nil && first.Count > 0 {
			out.DeleteAt = run.Due()
		}
		return out, nil
	}
	if run == nil {
		run = &RunRecord{ID: r.RunID, Used: cs.Txn.Now().UnixMilli()}
	}
	return cs.commitEnd(ctx, r, snap, run)
}

func (cs *Service) commitEnd(ctx context.Context, r *EndRunRequest, snap *store.Snapshot, run *RunRecord) (*EndRunResult, error) {
	now, left := cs.Txn.Now(), int32(0)
	over := run.Over(now)
	if !over {
		var err error
		if left, err = cs.leftOf(ctx, r.Key, &snap.Head, run); err != nil {
			return nil, err
		}
	}
	c := &store.Change{Expect: snap.Head.Version, Head: txn.NextHead(snap.Head, now)}
	c.Head.Revision++
	if !over {
		run.Used, run.End = now.UnixMilli(), now.Add(conversation.ValueOr(r.Grace, runGrace)).UnixMilli()
	}
	slots := NewSlotChanges(nil)
	if err := slots.Set(RunSlot(r.RunID), run.Encode()); err != nil {
		return nil, err
	}
	slots.Apply(c)
	c.Head.NextDue = txn.Earliest(c.Head.NextDue, run.NextAction())
	txn.Remember(c, r.Request, store.Outcome{Count: left, Revision: c.Head.Revision})
	if err := cs.Store.Commit(ctx, r.Key, c); err != nil {
		return nil, err
	}
	out := &EndRunResult{Scheduled: left, Revision: c.Head.Revision}
	if left > 0 {
		out.DeleteAt = run.Due()
	}
	return out, nil
}

// leftOf counts the contents of a run that can still be read.
func (cs *Service) leftOf(ctx context.Context, key store.Key, head *store.Head, run *RunRecord) (int32, error) {
	left := int32(0)
	for _, r := range run.Sources {
		err := cs.EachSource(ctx, key, head.Incarnation, r[0], r[1], func(_ int64, s *Record) error {
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

// EachSource passes the source records with the numbers from..to, inclusive, to give in order.
func (cs *Service) EachSource(ctx context.Context, key store.Key, incarnation conversation.ID, from, to int64, give func(number int64, r *Record) error) error {
	for ; from <= to; from += sourcePage {
		names := make([]string, 0, sourcePage)
		for n := from; n < from+sourcePage && n <= to; n++ {
			names = append(names, SourceSlot(n))
		}
		snap, err := cs.Store.Read(ctx, key, store.Query{Incarnation: incarnation, Slots: names})
		if err != nil {
			return txn.Failure(err)
		}
		for i, name := range names {
			value := snap.Slots[name]
			if value == nil {
				continue
			}
			r, err := ParseRecord(value)
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

// requireRunAlive refuses a content whose run is over. It also notes that the run was used, if that is worth a write. The write takes part
// in no conflict, and it may fail: then at most one interval of use is not counted.
func (cs *Service) requireRunAlive(ctx context.Context, key store.Key, incarnation conversation.ID, s *Record) error {
	if !s.OfRun || s.Expired {
		return nil
	}
	name := RunSlot(s.Run)
	snap, err := cs.Store.Read(ctx, key, store.Query{Incarnation: incarnation, Slots: []string{name}})
	if err != nil {
		return txn.Failure(err)
	}
	run, err := ParseRun(snap.Slots[name])
	if err != nil || run == nil {
		return err
	}
	now := cs.Txn.Now()
	if run.Over(now) {
		return GoneError()
	}
	if run.End > 0 || now.Sub(time.UnixMilli(run.Used)) < touchInterval {
		return nil
	}
	run.Used = now.UnixMilli()
	slots := NewSlotChanges(nil)
	if err := slots.Set(name, run.Encode()); err != nil {
		return err
	}
	c := &store.Change{Aside: true, Head: store.Head{Incarnation: incarnation}, ExpectSlots: map[string][]byte{name: snap.Slots[name]}}
	slots.Apply(c)
	err = cs.Store.Commit(ctx, key, c)
	if errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return txn.Failure(err)
}
