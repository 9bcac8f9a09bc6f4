package transfer

import (
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/contents"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
)

// Record is one line of an export: exactly one field is set. Contents are inline.
type Record struct {
	Conversation *txn.Conversation // first
	State        *State            // second
	Message      *conversation.Message
	Edit         *conversation.Edit
	Manifest     *conversation.Manifest
	Source       *SourceRecord // after all of these
	Chunk        *SourceChunk  // after its source, in order of offset
}

// SourceRecord is a source record as an export holds it. Accessed and Expires are exact to the millisecond.
type SourceRecord struct {
	Source  contents.Source
	Message int32 // whose text it is, if Source.AtAppend
	Part    int32 // of that message
}

// SourceChunk is a piece of a content that StoreContent stored.
type SourceChunk struct {
	ContentID string
	Offset    int64
	Data      []byte
}

// Run is what is known of a run that contents belong to.
type Run struct {
	ID   string
	Used time.Time // when something of it was last stored or read
	End  time.Time // when its contents go; zero until it is ended
	Gone bool      // they are gone
}

// State is what a conversation holds beside its head and its records, so that an import builds as the original would.
type State struct {
	Slots map[string][]byte
	// Rewinds are the ranges that were taken back, in the order in which they were: what came after them was paired without them.
	Rewinds []conversation.Range
	// Runs are those that contents belong to.
	Runs []Run
}
