package engine

import (
	"context"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/memories"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
)

// What calls about memories take and give.
type (
	// MemoriesOf names whose memories a call is about.
	MemoriesOf = memories.Of
	// SearchMemoriesRequest asks for the memories that answer a query.
	SearchMemoriesRequest = memories.SearchRequest
	// SearchMemoriesResult is what was found.
	SearchMemoriesResult = memories.SearchResult
	// ListMemoriesRequest asks for a page of memories.
	ListMemoriesRequest = memories.ListRequest
	// AddMemoryRequest asks for a text to be remembered.
	AddMemoryRequest = memories.AddRequest
	// MemorySync says how far a conversation is remembered.
	MemorySync = memories.Sync
	// Forgetting says how far forgetting an actor is.
	Forgetting = memories.Forgetting
	// MemoryObserver is told what a memory is given.
	MemoryObserver = memories.Observer
	// MemoryOutcome says what became of a batch.
	MemoryOutcome = memories.Outcome
)

// SearchMemories finds the memories that answer a query, best first.
func (e *Engine) SearchMemories(ctx context.Context, r SearchMemoriesRequest) (*SearchMemoriesResult, error) {
	return e.memories.Search(ctx, r)
}

// ListMemories lists memories, superseded ones too.
func (e *Engine) ListMemories(ctx context.Context, r ListMemoriesRequest) (memory.Listing, error) {
	return e.memories.List(ctx, r)
}

// AddMemory remembers a text as it is and returns the memory's id.
func (e *Engine) AddMemory(ctx context.Context, r AddMemoryRequest) (id string, err error) {
	return e.memories.Add(ctx, r)
}

// DeleteMemory forgets a memory, and says whether it was there.
func (e *Engine) DeleteMemory(ctx context.Context, of MemoriesOf, id string) (deleted bool, err error) {
	return e.memories.Delete(ctx, of, id)
}

// EndSession says that a conversation pauses: what is not remembered yet is sent now.
func (e *Engine) EndSession(ctx context.Context, key Key) (session int32, sync []MemorySync, err error) {
	return e.memories.EndSession(ctx, key)
}

// MemorySync says how far a conversation is remembered.
func (e *Engine) MemorySync(ctx context.Context, key Key) ([]MemorySync, error) {
	return e.memories.Sync(ctx, key)
}

// ForgetActor begins to forget everything that is remembered of an actor, and deletes their conversations if asked to.
func (e *Engine) ForgetActor(ctx context.Context, namespace, actor string, deleteConversations bool) (*Forgetting, error) {
	return e.memories.ForgetActor(ctx, namespace, actor, deleteConversations)
}

// Forget says how far a ForgetActor is.
func (e *Engine) Forget(ctx context.Context, namespace, id string) (*Forgetting, error) {
	return e.memories.Forget(ctx, namespace, id)
}

// MemoryWaiting is how many conversations of this process wait to be remembered.
func (e *Engine) MemoryWaiting() int { return e.memories.Waiting() }

// deleteForgotten deletes a conversation of an actor that is forgotten.
func (e *Engine) deleteForgotten(ctx context.Context, key Key) error {
	_, err := e.conversations.Delete(ctx, key, Request{})
	return err
}
