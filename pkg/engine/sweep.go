package engine

import (
	"context"
	"errors"
	"runtime/debug"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/conversations"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/memories"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

const (
	sweepEvery = 20 * time.Second
	sweepTasks = 256 // tasks read at a time

	// worthReturning is how many bytes of windows and contents must have been dropped for the memory to be returned to the system at once.
	worthReturning = 8 << 20
)

// Run sweeps until the context is done. The sweeper removes deleted conversations, those past their ttl, uploads that nothing refers to,
// and whatever is remembered for a limited time.
func (e *Engine) Run(ctx context.Context) error {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		if err := txn.Guard(func() error { return e.Sweep(ctx) }); err != nil && ctx.Err() == nil {
			e.onError(err)
		}
		_ = txn.Guard(func() error { e.quotas.Refresh(ctx); return nil })
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// Sweep does what is due now. The failure of one task does not stop the others.
func (e *Engine) Sweep(ctx context.Context) error {
	if e.views.Cache.DropIdle()+e.contents.Cache.DropIdle() > worthReturning {
		debug.FreeOSMemory() // an idle process runs no collection by itself, and its neighbors in the pod may need the memory
	}
	e.sweeps.runs.Add(1)
	var failures []error
	for {
		tasks, err := e.store.Due(ctx, e.txn.Now(), sweepTasks)
		e.sweeps.tasks.Add(int64(len(tasks)))
		if err != nil {
			e.sweeps.failures.Add(1)
			return txn.Failure(err)
		}
		failed := 0
		for _, t := range tasks {
			if err := e.sweep(ctx, t); err != nil {
				failed++
				e.sweeps.failures.Add(1)
				failures = append(failures, err)
			}
		}
		if len(tasks) < sweepTasks || failed > 0 || ctx.Err() != nil {
			return errors.Join(failures...)
		}
	}
}

func (e *Engine) sweep(ctx context.Context, t store.Task) error {
	if t.Staged || !t.Upload.IsZero() {
		return e.txn.Delete(ctx, t.Key, store.Deletion{Incarnation: t.Incarnation, Upload: t.Upload})
	}
	if memories.IsPartition(t.Key) {
		return e.memories.Dispatch(ctx, t.Key)
	}
	return e.txn.Do(ctx, t.Key, func() error { return e.sweepConversation(ctx, t) })
}

func (e *Engine) sweepConversation(ctx context.Context, t store.Task) error {
	snap, err := e.store.Read(ctx, t.Key, store.Query{
		Info: e.memories.Enabled(), Manifest: &store.ManifestRange{Limit: 2 * plan.ManifestsKept}, SlotsOf: conversations.FormerPrefix, Slots: e.memories.Slots(),
	})
	switch {
	case errors.Is(err, store.ErrNotFound) || err == nil && snap.Head.Incarnation != t.Incarnation:
		return e.txn.Delete(ctx, t.Key, store.Deletion{Incarnation: t.Incarnation})
	case err != nil:
		return err
	case snap.Head.State == store.Deleted && snap.Head.Reusable:
		return e.conversations.SweepReusable(ctx, t.Key, snap.Head)
	case snap.Head.State == store.Deleted:
		return e.sweepTombstone(ctx, t.Key, snap.Head)
	case e.txn.Live(&snap.Head) != nil:
		_, err := e.conversations.MarkDeleted(ctx, t.Key, snap.Head, conversations.Deletion{Reusable: snap.Head.Reusable})
		return err
	default:
		return e.tidy(ctx, t.Key, snap)
	}
}

// sweepTombstone removes the records of a deleted conversation and, at the end, the tombstone.
func (e *Engine) sweepTombstone(ctx context.Context, key Key, head Head) error {
	if !e.txn.Now().Before(head.DeleteTime) {
		return e.txn.Delete(ctx, key, store.Deletion{Incarnation: head.Incarnation})
	}
	if err := e.txn.Delete(ctx, key, store.Deletion{Incarnation: head.Incarnation, KeepHead: true}); err != nil {
		return err
	}
	now := e.txn.Now()
	c := &store.Change{Expect: head.Version, Head: head, DropOutcomes: forgetBefore(now)}
	c.Head.Version++
	c.Head.NextDue = head.DeleteTime
	if next := now.Add(txn.RequestMemory); head.UpdateTime.Add(txn.RequestMemory).After(now) && next.Before(head.DeleteTime) {
		c.Head.NextDue = next // a retry of the deletion is answered until then; after that, the remembered outcome goes too
	}
	return e.store.Commit(ctx, key, c)
}

// forgetBefore is the time before which outcomes are removed: all that Recall ignores by now, including one that expires right now.
func forgetBefore(now time.Time) time.Time { return now.Add(time.Nanosecond - txn.RequestMemory) }

// tidy removes request ids and manifests that are past their time, and contents of ended runs, and sets when to look again. It is
// bookkeeping: the public revision and the time of the last change stay.
func (e *Engine) tidy(ctx context.Context, key Key, snap *store.Snapshot) error {
	now, h := e.txn.Now(), snap.Head
	c := &store.Change{Expect: h.Version, Head: h, DropOutcomes: forgetBefore(now)}
	c.Head.Version++
	c.Head.NextDue = h.ExpireTime
	if h.UpdateTime.Add(txn.RequestMemory).After(now) {
		c.Head.NextDue = txn.Earliest(c.Head.NextDue, now.Add(txn.RequestMemory))
	}
	gone, err := e.contents.ExpireRuns(ctx, key, c, now)
	if err != nil {
		return err
	}
	due, err := e.memories.LookAgain(ctx, key, snap)
	if err != nil {
		return err
	}
	c.Head.NextDue = txn.Earliest(c.Head.NextDue, due)
	e.memories.NoteEdits(&c.Head, c.Edits)
	if err := conversations.TidyFormer(c, snap.Slots, now); err != nil {
		return err
	}
	for i := len(snap.Manifests) - 1; i >= 0; i-- { // oldest first
		m := &snap.Manifests[i]
		if end := m.Time.Add(plan.ManifestMemory); end.After(now) {
			c.Head.NextDue = txn.Earliest(c.Head.NextDue, end)
			break
		}
		c.DropManifests = m.Seq + 1
	}
	if err := e.txn.Commit(ctx, key, &h, c); err != nil {
		return err
	}
	e.memories.Edited(key, c.Edits)
	gone.ForgetAll()
	return nil
}
