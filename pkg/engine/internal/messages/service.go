// Package messages reads the record and, at a caller's request, changes what a view shows of it: it lists, searches, expands, corrects
// and takes back messages.
package messages

import (
	"context"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/builds"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/contents"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/memories"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// Service reads the record and changes what a view shows of it: it lists, searches, expands, corrects and takes back messages.
type Service struct {
	Store    store.Store
	Txn      *txn.Manager
	Views    *view.Loader
	Blobs    *contents.Blobs
	Contents *contents.Service
	Builds   *builds.Service
	Memories *memories.Service
	Defaults conversation.Policy // the server's default policy
}

// forgetHistories drops the remembered lists if an edit of the change gave messages other words or moved them, so that the next list is
// compared with the record again.
func forgetHistories(c *store.Change) {
	moved := slices.ContainsFunc(c.Edits, func(e conversation.Edit) bool {
		return e.Kind == conversation.EditHide || e.Kind == conversation.EditUnhide || e.Kind == conversation.EditCorrect
	})
	if moved && c.Slots != nil {
		c.Slots[view.HistorySlot] = nil
	}
}

// commit commits edits, and tells the memory about them.
func (ms *Service) commit(ctx context.Context, key store.Key, before *store.Head, c *store.Change) error {
	ms.Memories.NoteEdits(&c.Head, c.Edits)
	forgetHistories(c)
	err := ms.Txn.Commit(ctx, key, before, c)
	if txn.MayStand(err) {
		ms.Memories.Edited(key, c.Edits)
	}
	return err
}
