// Package transfer exports and imports conversations. An import is staged under an incarnation that is not reachable before its last
// commit. What an append derives is derived again instead of trusted.
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
	Store    store.Store
	Txn      *txn.Manager
	Views    *view.Loader
	Blobs    *contents.Blobs
	Contents *contents.Service
	IDs      func() conversation.ID
	Defaults conversation.Policy // the server's default policy
}
