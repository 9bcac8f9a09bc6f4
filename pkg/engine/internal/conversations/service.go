// Package conversations creates conversations, changes their attributes, and deletes them: with a tombstone, or so that the next append
// begins anew while retries from before are still recognized.
package conversations

import (
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/catalogue"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/memories"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

// Service creates conversations, changes their attributes, and deletes them. It remembers the requests of a conversation that began anew.
type Service struct {
	Store      store.Store
	Txn        *txn.Manager
	Views      *view.Loader
	Catalogues *catalogue.Reader
	Summaries  *summarize.Service
	Memories   *memories.Service
	Clock      func() time.Time
	IDs        func() conversation.ID
	Defaults   conversation.Policy // the server's default policy
}
