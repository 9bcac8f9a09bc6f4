package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// errOverdue says that contents of the conversation are due that the sweeper has not let go yet.
var errOverdue = errors.New("contents are overdue")

// overdue says whether runs are over whose contents are still there. What is gone is gone for every call at once, however late the sweeper
// comes (behaviour §9): calls that could show them let them go first.
func (e *Engine) overdue(ctx context.Context, key Key, h *Head) (bool, error) {
	now := e.txn.Now()
	if h.NextDue.IsZero() || now.Before(h.NextDue) {
		return false, nil
	}
	snap, err := e.store.Read(ctx, key, store.Query{Incarnation: h.Incarnation, SlotsOf: runSlots})
	if err != nil {
		return false, txn.Failure(err)
	}
	for _, value := range snap.Slots {
		r, err := parseRun(value)
		if err != nil {
			return false, err
		}
		if r != nil && !r.Gone && r.over(now) {
			return true, nil
		}
	}
	return false, nil
}

// settled gives a window back if contents of its conversation are overdue: what it holds may be about to go.
func (e *Engine) settled(ctx context.Context, w *view.Loaded) error {
	due, err := e.overdue(ctx, w.Key, &w.Head)
	if err == nil && due {
		err = errOverdue
	}
	if err != nil {
		e.views.Release(w)
	}
	return err
}

// letOverdueGo does for one conversation what the sweeper would, until nothing is overdue. Nobody may hold the conversation's lock.
func (e *Engine) letOverdueGo(ctx context.Context, key Key) error {
	for {
		snap, err := e.txn.Read(ctx, key, store.Query{})
		if err != nil {
			return err
		}
		if due, err := e.overdue(ctx, key, &snap.Head); err != nil || !due {
			return err
		}
		if err := e.sweep(ctx, store.Task{Key: key, Incarnation: snap.Head.Incarnation}); err != nil {
			return err
		}
	}
}

// readSettled reads a conversation of which nothing is overdue.
func (e *Engine) readSettled(ctx context.Context, key Key, q store.Query) (*store.Snapshot, error) {
	snap, err := e.txn.Read(ctx, key, q)
	if err != nil {
		return nil, err
	}
	if due, err := e.overdue(ctx, key, &snap.Head); err != nil || !due {
		return snap, err
	}
	if err := e.letOverdueGo(ctx, key); err != nil {
		return nil, err
	}
	return e.txn.Read(ctx, key, q)
}

// gone says whether a message had contents that went with their run.
func (l *listing) gone(index int32) bool {
	return slices.ContainsFunc(l.window.Edits, func(e conversation.Edit) bool {
		return e.Kind == conversation.EditExpireContent && e.Reason == conversation.ReasonRunEnded && e.Range.Contains(index)
	})
}

// lost is the error of a message whose original is not there any more.
func (l *listing) lost(index int32) error {
	if l.gone(index) {
		return contentGone()
	}
	return erasedError(index)
}

// withCitations puts in the place of contents that went with their run what cites them, marked as erased: their source records stay.
func (l *listing) withCitations(index int32, parts []conversation.Part) []conversation.Part {
	if !l.gone(index) {
		return parts
	}
	parts = conversation.CloneParts(parts)
	for i := range l.window.Edits {
		e := &l.window.Edits[i]
		if e.Kind != conversation.EditParts || e.Reason != conversation.ReasonOverCitationThreshold || !e.Range.Contains(index) {
			continue
		}
		for _, p := range e.Parts {
			if int(p.Part) < len(parts) && conversation.Erased(parts[p.Part:p.Part+1]) {
				parts[p.Part] = marked(p.Shown, &parts[p.Part])
			}
		}
	}
	return parts
}

// marked is what cites a part, marked with what was erased of it.
func marked(shown conversation.Part, of *conversation.Part) conversation.Part {
	erased := &conversation.ErasedContent{}
	for _, c := range conversation.Contents([]conversation.Part{*of}) {
		if c.Erased != nil {
			erased.Bytes, erased.Chars = erased.Bytes+c.Erased.Bytes, erased.Chars+c.Erased.Chars
		}
	}
	out := conversation.CloneParts([]conversation.Part{shown})
	for _, c := range conversation.Contents(out) {
		c.Erased = erased
		break
	}
	return out[0]
}
