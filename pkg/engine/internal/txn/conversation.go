package txn

import "github.com/palimpsest-context/palimpsest/pkg/store"

// Conversation is a conversation without its messages.
type Conversation struct {
	ID   string
	Info store.Info
	Head store.Head
}
