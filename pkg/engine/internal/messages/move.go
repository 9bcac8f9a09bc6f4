package messages

import (
	"context"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/drafts"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// MoveChange decides how messages leave the view that a caller's list lacks, and others come back that it holds again, in one change with a rewind
// that was decided before; nil for none. Windows are found anew: what they left out may have room now.
func (ms *Service) MoveChange(ctx context.Context, w *view.Loaded, c *store.Change, takeOut, putBack []conversation.Range) (*store.Change, error) {
	if c == nil {
		c = &store.Change{Expect: w.Head.Version, Head: txn.NextHead(w.Head, ms.Txn.Now()), Slots: map[string][]byte{}}
		c.Head.Revision++
	}
	for _, r := range takeOut {
		txn.AddEdit(c, conversation.Edit{Kind: conversation.EditTakeOut, Range: r, Reason: conversation.ReasonRemovedByCaller, Before: weightOf(w, r)})
	}
	for _, e := range w.View.Lacked() { // each apart, so that what is left of it weighs what it does
		for _, r := range conversation.IntersectRanges([]conversation.Range{e.Range}, putBack) {
			txn.AddEdit(c, conversation.Edit{Kind: conversation.EditPutBack, Range: r, Reason: conversation.ReasonRemovedByCaller, After: weightOf(w, r)})
		}
	}
	if err := drafts.Drop(w, c); err != nil {
		return nil, err
	}
	return c, w.ForgetWindows(c, func(*conversation.Window) bool { return true })
}

// weightOf is what messages weigh as they were appended.
func weightOf(w *view.Loaded, r conversation.Range) int64 {
	n := int64(0)
	for i := range w.Messages {
		if m := &w.Messages[i]; r.Contains(m.Index) {
			n += int64(w.Original(m).Tokens)
		}
	}
	return n
}
