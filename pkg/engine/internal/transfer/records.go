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
	Source       *SourceRecord // after all of the above
	Chunk        *SourceChunk  // after its source, by offset
}

// SourceRecord is a source record as an export holds it. Accessed and Expires are exact to the millisecond.
type SourceRecord struct {
	Source  contents.Source
	Message int32 // index of the message whose text it is, if Source.AtAppend
	Part    int32 // of that message
}

// SourceChunk is a piece of a content that StoreContent stored.
type SourceChunk struct {
	ContentID string
	Offset    int64
	Data      []byte
}

// Run is the state of a run that contents belong to.
type Run struct {
	ID   string
	Used time.Time // when one of its contents was last stored or read
	End  time.Time // when its contents are deleted; zero until it is ended
	Gone bool      // its contents are deleted
}

// State is what a conversation holds besides its head and its records. With it, an imported conversation builds as the original
// would.
type State struct {
	Slots map[string][]byte
	// Rewinds are the ranges that were taken back, in order of time: later messages were paired without them.
	Rewinds []conversation.Range
	// Runs are those that contents belong to.
	Runs []Run
}
