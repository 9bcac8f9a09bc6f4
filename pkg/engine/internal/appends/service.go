// Package appends puts messages on record: it resolves how long they live, cites what is long, recognizes what was recalled, and writes
// message and head in one commit.
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

// Rewind decides how the messages of a conversation from an index on are taken back.
type Rewind func(ctx context.Context, w *view.Loaded, from int32) (*store.Change, error)

// Move decides how messages leave the view that a list lacks, and others come back, behind a rewind; nil for none.
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
	Defaults      conversation.Policy                  // the server's
	Tools         map[string]conversation.ActionPolicy // what the server says of single tools, by name
}

// New returns a service.
func New(o *Options) *Service {
	return &Service{Options: *o, histories: histories.New(o.Store, o.Views)}
}
