package engine

import (
	"context"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/conversations"
)

// The requests and results of the calls about conversations.
type (
	// CreateRequest asks for a conversation.
	CreateRequest = conversations.CreateRequest
	// UpdateRequest asks for a change of attributes.
	UpdateRequest = conversations.UpdateRequest
	// ListRequest asks for the conversations whose ids come after an id.
	ListRequest = conversations.ListRequest
	// ListResult is a page of conversations.
	ListResult = conversations.ListResult
)

// Create creates a conversation.
func (e *Engine) Create(ctx context.Context, r CreateRequest) (*Conversation, error) {
	return e.conversations.Create(ctx, r)
}

// Get returns a conversation without its messages.
func (e *Engine) Get(ctx context.Context, key Key) (*Conversation, error) {
	return e.conversations.Get(ctx, key)
}

// List lists the conversations of a namespace, by id.
func (e *Engine) List(ctx context.Context, r ListRequest) (*ListResult, error) {
	return e.conversations.List(ctx, r)
}

// Update changes attributes of a conversation.
func (e *Engine) Update(ctx context.Context, r UpdateRequest) (*Conversation, error) {
	return e.conversations.Update(ctx, r)
}

// Delete deletes a conversation and returns until when its tombstone stays.
func (e *Engine) Delete(ctx context.Context, key Key, r Request) (until time.Time, err error) {
	return e.conversations.Delete(ctx, key, r)
}

// Clear deletes a conversation without a tombstone: the next append begins it anew, unless that is a retry of a request
// from before.
func (e *Engine) Clear(ctx context.Context, key Key, r Request) error {
	return e.conversations.Clear(ctx, key, r)
}

// Durability says which failures an acknowledged write survives.
func (e *Engine) Durability() Durability { return e.store.Durability() }
