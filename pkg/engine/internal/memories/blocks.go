package memories

import (
	"context"
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/recall"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// blocksPage is how many conversations are listed at a time.
const blocksPage = 256

// blocks are the memories that builds put before messages, in all conversations.
type blocks struct {
	store    store.Store // shows everything
	txn      *txn.Manager
	views    *view.Loader
	defaults conversation.Policy
}

// unshow removes memories that are gone from the blocks that builds put before messages: in the conversations of the scope's actor, or in
// all of the namespace's. The text that the blocks recorded about them is erased.
func (b *blocks) unshow(ctx context.Context, scope memory.Scope, gone func(memory.Memory) bool) error {
	namespace, actor := scope.Namespace, ""
	switch scope.Kind {
	case memory.ScopeUser:
		actor = scope.ID
	case memory.ScopeSession:
		name := scope.ID[:max(0, strings.LastIndexByte(scope.ID, '#'))]
		return b.unshowIn(ctx, store.Key{Namespace: namespace, Conversation: name}, gone)
	}
	for after := ""; ; {
		page, err := b.store.List(ctx, namespace, after, blocksPage)
		if err != nil {
			return txn.Failure(err)
		}
		for i := range page {
			after = page[i].ID
			h := &page[i].Head
			if h.State != store.Live || actor != "" && page[i].Info.ActorID != actor || h.EditSeq == 0 && !isUnseen(h) {
				continue
			}
			if err := b.unshowIn(ctx, store.Key{Namespace: namespace, Conversation: page[i].ID}, gone); err != nil {
				return err
			}
		}
		if len(page) < blocksPage {
			return nil
		}
	}
}

// unshowIn does what unshow does, for one conversation.
func (b *blocks) unshowIn(ctx context.Context, key store.Key, gone func(memory.Memory) bool) error {
	err := b.txn.Do(ctx, key, func() error { return b.forgetBlocks(ctx, key, gone) })
	if isGone(err) {
		return nil
	}
	return err
}

// isUnseen reports whether no build has shown the newest request yet. A build of it may be under way, with memories that it found before
// they were forgotten.
func isUnseen(h *store.Head) bool { return h.Request >= 0 && h.Request >= h.Seen }

// forgetBlocks tries once for one conversation. Its commit makes a build that is under way fail with a conflict and search the memory
// again.
func (b *blocks) forgetBlocks(ctx context.Context, key store.Key, gone func(memory.Memory) bool) error {
	snap, err := b.store.Read(ctx, key, store.Query{Info: true, Edits: &store.EditRange{}})
	if err != nil || snap.Head.State != store.Live {
		return err // a conversation that was deleted meanwhile shows nothing
	}
	now := b.txn.Now()
	c := &store.Change{Expect: snap.Head.Version, Head: snap.Head}
	c.Head.Version++
	folded := (&conversation.View{}).Fold(snap.Edits)
	for i := range snap.Edits {
		e := &snap.Edits[i]
		if e.Kind != conversation.EditRecall || len(e.Parts) == 0 || !mentions(e.Parts[0].Shown.Recalled, gone) {
			continue
		}
		index := e.Range.First
		if shown := folded.Recalled(index); shown != nil && shown == &e.Parts[0].Shown {
			counter, err := b.views.Counter(snap.Info.Counter)
			if err != nil {
				return err
			}
			count := func(text string) int { n, _ := counter.Count(text); return n }
			txn.AddEdit(c, withoutMemories(e, gone, count)).Time = now
		}
		blank := *e
		blank.Parts = nil
		c.ReplaceEdits = append(c.ReplaceEdits, blank)
	}
	policy := snap.Info.Policy.Or(b.defaults)
	switch {
	case len(c.ReplaceEdits) > 0:
		c.Head.Revision++
		c.Head.UpdateTime = now
	case !isUnseen(&snap.Head) || !policy.Memory.Recalls():
		return nil
	}
	return b.txn.Commit(ctx, key, &snap.Head, c)
}

func mentions(m *conversation.RecalledMemories, gone func(memory.Memory) bool) bool {
	return m != nil && slices.ContainsFunc(m.Memories, func(r conversation.RecalledMemory) bool { return gone(memory.FromRecalled(&r)) })
}

// withoutMemories returns the edit that shows what is left of a block.
func withoutMemories(e *conversation.Edit, gone func(memory.Memory) bool, count func(string) int) conversation.Edit {
	shown := &e.Parts[0].Shown
	out := conversation.Edit{
		Kind: conversation.EditRecall, Range: e.Range, Reason: conversation.ReasonMemoryForgotten, Before: int64(shown.Tokens), Erases: true,
	}
	var left []conversation.RecalledMemory
	for i := range shown.Recalled.Memories {
		if m := &shown.Recalled.Memories[i]; !gone(memory.FromRecalled(m)) {
			left = append(left, *m)
		}
	}
	if len(left) > 0 {
		part := recall.Block(left, count)
		out.Parts, out.After = []conversation.PartEdit{{Part: conversation.RecalledPart, Shown: part}}, int64(part.Tokens)
	}
	return out
}

// isGone reports whether the error means that the conversation is gone, so that nothing is left to forget in it.
func isGone(err error) bool {
	switch conversation.KindOf(err) {
	case conversation.ConversationNotFound, conversation.ConversationDeleted:
		return true
	default:
		return false
	}
}
