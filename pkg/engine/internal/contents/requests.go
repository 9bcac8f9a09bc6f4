package contents

import (
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// Cited is a citation with its texts.
type Cited struct {
	Citation conversation.Citation
	Text     string // as a model is shown it
	Excerpt  string
	How      string // to get more
}

// Source is a source record: where a content came from, and who cited it. It outlives the content.
type Source struct {
	ContentID   string
	Type        conversation.SourceType
	URL         string
	Title       string
	ContentType string
	Bytes       int64
	Chars       int64 // Unicode code points; 0 if it is not text
	SHA256      *[32]byte
	Accessed    time.Time
	CitedBy     []int32
	Expired     bool
	RunID       string
	Metadata    string
	AtAppend    bool      // a message's own text, and not StoreContent's
	Expires     time.Time // zero: nothing ends it
}

// StoreContentRequest asks for a content to be kept. The digest of Request is that of the header alone.
type StoreContentRequest struct {
	Key         store.Key
	Request     txn.Request
	RunID       string
	Type        conversation.SourceType
	URL         string
	Title       string
	ContentType string
	Metadata    string
	SHA256      *[32]byte // that the bytes must have; nil: any
	Reuse       bool      // the first content with the bytes is answered, if there is one
	// Next returns the next bytes, and io.EOF after the last. What it returns is used until the next call.
	Next func() ([]byte, error)
}

// MaxContentBytes is the largest content.
const MaxContentBytes = 1 << 30

// StoreContentResult answers StoreContent.
type StoreContentResult struct {
	Cited     Cited
	Events    []conversation.Event
	Revision  int64
	Duplicate bool
	Shared    bool // the conversation held the bytes already
}

// ContentUnit says what a range of a content counts.
type ContentUnit int8

// The units of ranges of contents.
const (
	ContentWhole ContentUnit = iota
	ContentBytes
	ContentChars
	ContentLines
	ContentItems
)

// ExcerptQuery asks for passages.
type ExcerptQuery struct {
	Terms    []string
	Max      int // 0: the default
	MaxChars int // 0: the default
}

// RetrieveContentRequest asks for a content: passages if Excerpts is set, else the range of Unit.
type RetrieveContentRequest struct {
	Key       store.Key
	ContentID string
	Unit      ContentUnit
	From, End int64 // of Unit, half-open
	Excerpts  *ExcerptQuery
	MaxTokens int32  // 0: no limit
	Cursor    *int64 // the byte where the page begins: the Next of the page before
	MaxBytes  int    // of the answer; 0: no limit
}

// RetrieveContentResult is a content, or some of it.
type RetrieveContentResult struct {
	Source   Source
	Chunk    []byte
	Bytes    [2]int64 // which bytes Chunk is
	Excerpts []ContentExcerpt
	Next     *int64 // nil: this is all
}

// ContentExcerpt is a passage of a content.
type ContentExcerpt struct {
	ContentID string
	Text      string
	Location  string
	Bytes     [2]int64
	Chars     [2]int64
	Score     float64
	Matched   []string
	Relevance string
}

// SearchContentRequest asks for passages of all contents.
type SearchContentRequest struct {
	Key       store.Key
	Query     ExcerptQuery
	RunID     string // empty: of all
	MaxTokens int32  // 0: no limit
	MaxBytes  int    // 0: no limit
}

// SearchContentResult is the best passages of all contents.
type SearchContentResult struct {
	Excerpts []ContentExcerpt
	Searched int
	Skipped  int
}

// SourcesRequest asks for source records.
type SourcesRequest struct {
	Key    store.Key
	RunID  string // empty: of all
	Limit  int
	Cursor int64 // the Next of the page before; 0: the first
}

// SourcesResult is a page of source records, oldest first.
type SourcesResult struct {
	Sources []Source
	Next    int64 // 0: this is the last page
}

// EndRunRequest ends a run.
type EndRunRequest struct {
	Key     store.Key
	Request txn.Request
	RunID   string
	Grace   *time.Duration // nil: the default
}

// EndRunResult says what goes, and when.
type EndRunResult struct {
	Scheduled int32
	DeleteAt  time.Time // zero: nothing goes
	Revision  int64
	Duplicate bool
}
