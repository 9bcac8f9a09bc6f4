// Package transfer exports conversations and imports them. An import is staged under an incarnation that nothing leads to until its last
// commit; what an append derives is derived again, not believed.
package transfer

import (
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/contents"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// Service exports conversations, and imports them.
type Service struct {
	store    store.Store
	txn      *txn.Manager
	views    *view.Loader
	blobs    *contents.Blobs
	contents *contents.Service
	ids      func() conversation.ID
	defaults conversation.Policy
}

// New returns a service. defaults are the server's policy.
func New(s store.Store, t *txn.Manager, views *view.Loader, blobs *contents.Blobs, c *contents.Service, ids func() conversation.ID, defaults conversation.Policy) *Service {
	return &Service{store: s, txn: t, views: views, blobs: blobs, contents: c, ids: ids, defaults: defaults}
}
