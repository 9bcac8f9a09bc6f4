package contents

import (
	"context"
	"errors"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// ErrOverdue says that contents of the conversation are due that the sweeper has not let go yet.
var ErrOverdue = errors.New("contents are overdue")

// Overdue says whether runs are over whose contents are still there. What is gone is gone for every call at once, however late the sweeper
// comes (behaviour §9): calls that could show them let them go first.
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

// ExpireOverdue does for one conversation what the sweeper would, until nothing is overdue. Nobody may hold the conversation's lock.
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

// ReadSettled reads a conversation of which nothing is overdue.
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
