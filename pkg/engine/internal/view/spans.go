package view

import (
	"context"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// Hides returns the edits of what is taken back in a conversation.
func (l *Loader) Hides(ctx context.Context, w *Loaded) ([]conversation.Edit, error) {
	all, err := l.Spans(ctx, w)
	if err != nil {
		return nil, err
	}
	return (&conversation.View{}).Fold(all).Hides(), nil
}

// Spans returns all edits about ranges that were ever made, in order of sequence.
func (l *Loader) Spans(ctx context.Context, w *Loaded) ([]conversation.Edit, error) {
	// A range without messages asks only for the edits about ranges.
	none := []conversation.Range{{First: w.Head.Messages, End: w.Head.Messages + 1}}
	snap, err := l.store.Read(ctx, w.Key, store.Query{Incarnation: w.Head.Incarnation, Edits: &store.EditRange{Of: none}})
	if err != nil {
		return nil, txn.Failure(err)
	}
	return snap.Edits, nil
}
