package engine

import (
	"context"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/actors"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/contents"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/memories"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

// The requests and results of the calls about memories.
type (
	// MemoriesOf says whose memories a call is about.
	MemoriesOf = memories.Of
	// SearchMemoriesRequest asks for the memories that answer a query.
	SearchMemoriesRequest = memories.SearchRequest
	// SearchMemoriesResult holds the memories found.
	SearchMemoriesResult = memories.SearchResult
	// ListMemoriesRequest asks for a page of memories.
	ListMemoriesRequest = memories.ListRequest
	// AddMemoryRequest asks for a text to be remembered.
	AddMemoryRequest = memories.AddRequest
	// MemorySync says how much of a conversation is remembered.
	MemorySync = memories.Sync
	// Forgetting says how far the forgetting of an actor got.
	Forgetting = memories.Forgetting
	// Memory is one thing that is remembered.
	Memory = memory.Memory
	// MemorySource is where a memory comes from in a conversation.
	MemorySource = memory.Source
	// MemoryListing is a page of memories.
	MemoryListing = memory.Listing
	// MemoryKind says where a memory comes from.
	MemoryKind = memory.Kind
	// MemoryScopeKind says whose memories a scope holds.
	MemoryScopeKind = memory.ScopeKind
	// MemoryObserver is told which batches a memory is given.
	MemoryObserver = memories.Observer
	// MemoryOutcome says what happened to a batch.
	MemoryOutcome = memories.Outcome
)

// MemoryTaken is the outcome of a batch that the memory accepted. Other outcomes say why it did not.
const MemoryTaken = memories.OutcomeTaken

// MemorySources is what the engine lends to a memory over its record.
type MemorySources struct {
	Store store.Store
	// Texts returns the words of recorded messages. It leaves out what is hidden, erased or gone.
	Texts func(ctx context.Context, namespace, conversation string, incarnation conversation.ID, indices []int32) ([]memory.Message, error)
	// Facts asks a model for facts in what users said, and returns its JSON unchecked. It fails if no model is configured or the
	// model fails.
	Facts func(ctx context.Context, namespace, conversation string, said []memory.Message) ([]byte, error)
	IDs   func() conversation.ID
	Clock func() time.Time
	// Cache keeps indexes in memory, within the bound of the content cache.
	Cache *contents.Indexes
}

// factsBy returns a function that asks the models of summaries for facts.
func factsBy(s *summarize.Service) func(ctx context.Context, namespace, conversation string, said []memory.Message) ([]byte, error) {
	return func(ctx context.Context, namespace, conversation string, said []memory.Message) ([]byte, error) {
		messages := make([]summarize.FactsMessage, len(said))
		for i := range said {
			messages[i] = summarize.FactsMessage{Index: said[i].Index, Name: said[i].Name, Text: said[i].Text}
		}
		answer, err := s.Facts(ctx, summarize.Scope{Namespace: namespace, Conversation: conversation}, messages)
		return []byte(answer), err
	}
}

// MemoryOf wraps a memory that needs nothing of the engine.
func MemoryOf(t memory.Target) func(MemorySources) memory.Target {
	return func(MemorySources) memory.Target { return t }
}

// SearchMemories finds the memories that answer a query, best first.
func (e *Engine) SearchMemories(ctx context.Context, r SearchMemoriesRequest) (*SearchMemoriesResult, error) {
	return e.memories.Search(ctx, r)
}

// ListMemories lists memories, including superseded ones.
func (e *Engine) ListMemories(ctx context.Context, r ListMemoriesRequest) (MemoryListing, error) {
	if err := checkActor(ctx, r.Of.ActorID); err != nil {
		return MemoryListing{}, err
	}
	return e.memories.List(ctx, r)
}

// AddMemory remembers a text as it is and returns the memory's id.
func (e *Engine) AddMemory(ctx context.Context, r AddMemoryRequest) (id string, err error) {
	if err := checkActor(ctx, r.Of.ActorID); err != nil {
		return "", err
	}
	if err := checkExpiry(r.ExpireTime, e.txn.Now()); err != nil {
		return "", err
	}
	return e.memories.Add(ctx, r)
}

// DeleteMemory forgets a memory, and reports whether it existed.
func (e *Engine) DeleteMemory(ctx context.Context, of MemoriesOf, id string) (deleted bool, err error) {
	if err := checkActor(ctx, of.ActorID); err != nil {
		return false, err
	}
	return e.memories.Delete(ctx, of, id)
}

// EndSession ends the current session of a conversation: what is not remembered yet is sent now.
func (e *Engine) EndSession(ctx context.Context, key Key) (session int32, sync []MemorySync, err error) {
	return e.memories.EndSession(ctx, key)
}

// MemorySync reports how much of a conversation each target remembers.
func (e *Engine) MemorySync(ctx context.Context, key Key) ([]MemorySync, error) {
	return e.memories.Sync(ctx, key)
}

// ForgetActor starts to forget everything that is remembered of an actor, and to delete the actor's conversations if asked to.
func (e *Engine) ForgetActor(ctx context.Context, namespace, actor string, deleteConversations bool) (*Forgetting, error) {
	if err := checkActor(ctx, actor); err != nil {
		return nil, err
	}
	return e.memories.ForgetActor(ctx, namespace, actor, deleteConversations)
}

// Forget reports how far a ForgetActor got.
func (e *Engine) Forget(ctx context.Context, namespace, id string) (*Forgetting, error) {
	return e.memories.Forget(ctx, namespace, id)
}

// checkActor refuses a call about an actor for whom it does not speak.
func checkActor(ctx context.Context, actor string) error {
	if actor == "" {
		return nil
	}
	return actors.Check(ctx, actor)
}

// maxMemoryAge is the longest life of a memory that expires: stores and services cannot hold times that lie too far ahead.
const maxMemoryAge = 10 * 366 * 24 * time.Hour

func checkExpiry(expire, now time.Time) error {
	if expire.IsZero() || expire.After(now) && expire.Before(now.Add(maxMemoryAge)) {
		return nil
	}
	return conversation.Errorf(conversation.InvalidField, "the memory's expire_time is not ahead, or too far").
		At("expire_time", "must lie within the next 10 years")
}

// MemoryWaiting is how many conversations wait in this process to be remembered.
func (e *Engine) MemoryWaiting() int { return e.memories.Waiting() }

// deleteForgotten deletes a conversation of an actor who is being forgotten.
func (e *Engine) deleteForgotten(ctx context.Context, key Key) error {
	_, err := e.conversations.Delete(ctx, key, Request{})
	return err
}
