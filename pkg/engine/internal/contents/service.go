// Package contents keeps contents: what StoreContent stored, and what was cited when it was appended. A source record, in a slot, says where
// a content came from; its bytes lie in chunks, which several contents may share. A run ends the contents that belong to it.
package contents

import (
	"context"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

// Service keeps contents: what StoreContent stored, and what was cited when it was appended.
type Service struct {
	Options

	Cache *Cache
}

// Options is what a service is made of.
type Options struct {
	Store      store.Store
	Txn        *txn.Manager
	Views      *view.Loader
	Blobs      *Blobs
	CacheBytes int64 // what is kept ready to be searched; 0 for nothing
	Clock      func() time.Time
	IDs        func() conversation.ID
	Defaults   conversation.Policy
	Forget     forgetter
	// Sweep does for one conversation what the sweeper would.
	Sweep func(context.Context, store.Task) error
}

// New returns a service.
func New(o *Options) *Service {
	return &Service{Options: *o, Cache: newCache(o.CacheBytes, o.Clock)}
}

// forgetter forgets what was erased.
type forgetter interface {
	Forget(scope summarize.Scope, content [32]byte)
	ForgetSpans(scope summarize.Scope)
}
