package engine

import (
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/catalogue"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// The words of the store and the formats that callers of the engine need: who calls the engine need not know either.
type (
	// Key names a conversation.
	Key = store.Key
	// Info holds the attributes of a conversation.
	Info = store.Info
	// Head is what changes with every commit.
	Head = store.Head
	// Durability says what an acknowledged write survives.
	Durability = store.Durability
	// Request makes a call safe to retry.
	Request = txn.Request
	// Usage is what a provider reported for one call.
	Usage = view.Usage
	// FixedInput is what the caller sends beside the context.
	FixedInput = view.FixedInput
	// Message is a message of a neutral context.
	Message = provider.Message
)

// CheckTemplate says what is wrong with a prompt's template; empty if nothing is.
func CheckTemplate(template string) string { return catalogue.CheckTemplate(template) }
