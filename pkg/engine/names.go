package engine

import "github.com/palimpsest-context/palimpsest/pkg/store"

// The store's words that callers of the engine need: who calls the engine need not know the store.
type (
	// Key names a conversation.
	Key = store.Key
	// Info holds the attributes of a conversation.
	Info = store.Info
	// Head is what changes with every commit.
	Head = store.Head
	// Durability says what an acknowledged write survives.
	Durability = store.Durability
)
