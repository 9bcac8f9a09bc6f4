// Package contents keeps contents: those that StoreContent stored, and texts that were cited when they were appended. A source record, in a
// slot, says where a content came from. Its bytes lie in chunks, which several contents may share. A content may belong to a run, whose end
// deletes it.
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

// Service keeps contents: those that StoreContent stored, and texts that were cited when they were appended.
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
	CacheBytes int64 // bound of the cache of contents prepared for searching; 0 keeps none
	Clock      func() time.Time
	IDs        func() conversation.ID
	Defaults   conversation.Policy
	Forget     forgetter
	// Sweep does the sweeper's work for one conversation.
	Sweep func(context.Context, store.Task) error
}

// New returns a service.
func New(o *Options) *Service {
	return &Service{Options: *o, Cache: newCache(o.CacheBytes, o.Clock)}
}

// forgetter drops what it keeps of an erased content.
type forgetter interface {
	Forget(scope summarize.Scope, content [32]byte)
	ForgetSpans(scope summarize.Scope)
}
