package contents

import (
	"context"
	"errors"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// ErrOverdue says that the conversation has contents that are due and that the sweeper has not deleted yet.
var ErrOverdue = errors.New("contents are overdue")

// Overdue reports whether contents of ended runs are still there. For every call such contents are gone at once, even if the sweeper has
// not come yet (behaviour §9): a call that could show them deletes them first.
func (cs *Service) Overdue(ctx context.Context, key store.Key, h *store.Head) (bool, error) {
	now := cs.Txn.Now()
	if h.NextDue.IsZero() || now.Before(h.NextDue) {
		return false, nil
	}
	snap, err := cs.Store.Read(ctx, key, store.Query{Incarnation: h.Incarnation, SlotsOf: RunSlots})
	if err != nil {
		return false, txn.Failure(err)
	}
	for _, value := range snap.Slots {
		r, err := ParseRun(value)
		if err != nil {
			return false, err
		}
		if r != nil && !r.Gone && r.Over(now) {
			return true, nil
		}
	}
	return false, nil
}

// ExpireOverdue does the sweeper's work for one conversation until nothing is overdue. The caller must not hold the conversation's turn.
func (cs *Service) ExpireOverdue(ctx context.Context, key store.Key) error {
	for {
		snap, err := cs.Txn.Read(ctx, key, store.Query{})
		if err != nil {
			return err
		}
		if due, err := cs.Overdue(ctx, key, &snap.Head); err != nil || !due {
			return err
		}
		if err := cs.Sweep(ctx, store.Task{Key: key, Incarnation: snap.Head.Incarnation}); err != nil {
			return err
		}
	}
}

// ReadSettled reads a conversation after deleting what is overdue in it.
func (cs *Service) ReadSettled(ctx context.Context, key store.Key, q store.Query) (*store.Snapshot, error) {
	snap, err := cs.Txn.Read(ctx, key, q)
	if err != nil {
		return nil, err
	}
	if due, err := cs.Overdue(ctx, key, &snap.Head); err != nil || !due {
		return snap, err
	}
	if err := cs.ExpireOverdue(ctx, key); err != nil {
		return nil, err
	}
	return cs.Txn.Read(ctx, key, q)
}
