package messages

import (
	"context"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/drafts"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// MoveChange extends the change c, which may hold a rewind or be nil: messages that a caller's list lacks leave the view, and those that it
// holds again return. All windows are dropped, because what they left out may have room now.
func (ms *Service) MoveChange(ctx context.Context, w *view.Loaded, c *store.Change, takeOut, putBack []conversation.Range) (*store.Change, error) {
	if c == nil {
		c = &store.Change{Expect: w.Head.Version, Head: txn.NextHead(w.Head, ms.Txn.Now()), Slots: map[string][]byte{}}
		c.Head.Revision++
	}
	for _, r := range takeOut {
		txn.AddEdit(c, conversation.Edit{Kind: conversation.EditTakeOut, Range: r, Reason: conversation.ReasonRemovedByCaller, Before: weightOf(w, r)})
	}
	for _, e := range w.View.Lacked() { // one edit for each earlier edit, so that what is left of that keeps its own weight
		for _, r := range conversation.IntersectRanges([]conversation.Range{e.Range}, putBack) {
			txn.AddEdit(c, conversation.Edit{Kind: conversation.EditPutBack, Range: r, Reason: conversation.ReasonRemovedByCaller, After: weightOf(w, r)})
		}
	}
	if err := drafts.Drop(w, c); err != nil {
		return nil, err
	}
	return c, w.Slots.ForgetWindows(c, func(*conversation.Window) bool { return true })
}

// weightOf is the weight of messages as they were appended, in tokens.
func weightOf(w *view.Loaded, r conversation.Range) int64 {
	n := int64(0)
	for i := range w.Messages {
		if m := &w.Messages[i]; r.Contains(m.Index) {
			n += int64(w.Original(m).Tokens)
		}
	}
	return n
}
