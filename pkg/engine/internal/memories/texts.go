package memories

import (
	"context"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// Record reads what was said, for a memory that keeps no texts itself. Its store shows everything: which memories a caller may see is
// decided by their scope.
type Record struct {
	Store store.Store
	Txn   *txn.Manager
}

// Texts returns the words of recorded messages. It leaves out what is hidden, erased or gone.
func (r Record) Texts(ctx context.Context, namespace, name string, incarnation conversation.ID, indices []int32) ([]memory.Message, error) {
	key := store.Key{Namespace: namespace, Conversation: name}
	snap, err := r.Store.Read(ctx, key, store.Query{Incarnation: incarnation, Info: true})
	if err != nil {
		return nil, unlessGone(txn.Failure(err))
	}
	if gone := r.Txn.Live(&snap.Head); gone != nil || snap.Info == nil {
		return nil, unlessGone(gone)
	}
	w := view.New(key, snap)
	if err := w.Load(ctx, r.Store, rangesOf(indices, snap.Head.Messages)...); err != nil {
		return nil, unlessGone(err)
	}
	var out []memory.Message
	for _, i := range indices {
		m, ok := w.Message(i)
		if !ok || w.View.Hidden(conversation.Range{First: i, End: i + 1}) {
			continue
		}
		text, err := said(ctx, r.Store, key, incarnation, m, maxChars)
		if err != nil {
			return nil, unlessGone(err)
		}
		if text != "" {
			out = append(out, memory.Message{Index: i, Role: m.Role, Name: m.Name, Text: text, Time: m.CreateTime})
		}
	}
	return out, nil
}

// unlessGone drops the error of a read if it says that the conversation is deleted.
func unlessGone(err error) error {
	switch conversation.KindOf(err) {
	case conversation.ConversationNotFound, conversation.ConversationDeleted:
		return nil
	default:
		return err
	}
}

// rangesOf turns message indices into ranges, and drops those at end or behind it.
func rangesOf(indices []int32, end int32) (out []conversation.Range) {
	for _, i := range indices {
		if i >= 0 && i < end {
			out = append(out, conversation.Range{First: i, End: i + 1})
		}
	}
	return conversation.MergeRanges(out)
}
