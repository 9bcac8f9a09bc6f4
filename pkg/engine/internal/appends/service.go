// Package appends puts messages on record: it decides how long they live, cites what is long, recognizes what was recalled, and writes
// messages and head in one commit.
package appends

import (
	"context"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/catalogue"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/contents"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/conversations"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/histories"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/memories"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// Service puts messages on record.
type Service struct {
	Options

	histories *histories.Finder
}

// Rewind returns the change that takes back the messages of a conversation from an index on.
type Rewind func(ctx context.Context, w *view.Loaded, from int32) (*store.Change, error)

// Move extends first, which may be nil, so that the messages takeOut leave the view and the messages putBack return to it.
type Move func(ctx context.Context, w *view.Loaded, first *store.Change, takeOut, putBack []conversation.Range) (*store.Change, error)

// Options is what a service is made of.
type Options struct {
	Store         store.Store
	Recent        *txn.Recent
	Txn           *txn.Manager
	Views         *view.Loader
	Blobs         *contents.Blobs
	Contents      *contents.Service
	Catalogues    *catalogue.Reader
	Conversations *conversations.Service
	Memories      *memories.Service
	Rewind        Rewind
	Move          Move
	IDs           func() conversation.ID
	Defaults      conversation.Policy                  // the server's default policy
	Tools         map[string]conversation.ActionPolicy // the server's settings for single tools, by name
}

// New returns a service.
func New(o *Options) *Service {
	return &Service{Options: *o, histories: histories.New(o.Store, o.Views)}
}
