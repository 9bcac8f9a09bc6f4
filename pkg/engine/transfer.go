package engine

import (
	"context"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/transfer"
)

// The records of an export.
type (
	// Record is one line of an export: exactly one field is set. Contents are inline.
	Record = transfer.Record
	// State is what a conversation holds besides its head and its records.
	State = transfer.State
	// SourceRecord is a source record as an export holds it.
	SourceRecord = transfer.SourceRecord
	// SourceChunk is a piece of a content that StoreContent stored.
	SourceChunk = transfer.SourceChunk
	// Run is what is known of a run that contents belong to.
	Run = transfer.Run
)

// SourceChunkBytes is the size of the chunks of an exported content; the last one may be shorter.
const SourceChunkBytes = transfer.SourceChunkBytes

// Export passes a conversation's records to give, in the order in which Import takes them.
func (e *Engine) Export(ctx context.Context, key Key, give func(Record) error) error {
	return e.transfer.Export(ctx, key, give)
}

// Import creates a conversation from an export, all or nothing, under an id that must not exist.
func (e *Engine) Import(ctx context.Context, key Key, next func() (*Record, error)) (*Conversation, error) {
	return e.transfer.Import(ctx, key, next)
}
