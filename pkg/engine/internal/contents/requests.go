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
	Text     string // as the model sees it
	Excerpt  string
	How      string // tells the model how to get more
}

// Source is a source record: where a content came from, and which messages cite it. It outlives the content.
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
	AtAppend    bool      // the content is a message's own text; false for one from StoreContent
	Expires     time.Time // when its run takes it along; zero if it does not expire
}

// StoreContentRequest asks for a content to be kept. The digest in Request covers the header only.
type StoreContentRequest struct {
	Key         store.Key
	Request     txn.Request
	RunID       string
	Type        conversation.SourceType
	URL         string
	Title       string
	ContentType string
	Metadata    string
	SHA256      *[32]byte // the hash that the bytes must have; nil for any
	Reuse       bool      // if a content with the same bytes exists, it is returned and nothing new is kept
	// Next returns the next bytes, and io.EOF after the last. The returned slice is used until the next call.
	Next func() ([]byte, error)
}

// MaxContentBytes is the size of the largest content, in bytes.
const MaxContentBytes = 1 << 30

// StoreContentResult is the answer to StoreContent.
type StoreContentResult struct {
	Cited     Cited
	Events    []conversation.Event
	Revision  int64
	Duplicate bool
	Shared    bool // the conversation already held the bytes
}

// ContentUnit is the unit in which a range of a content is given.
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
	From, End int64 // in Unit; End is exclusive
	Excerpts  *ExcerptQuery
	MaxTokens int32  // 0: no limit
	Cursor    *int64 // first byte of the page: Next of the previous page
	MaxBytes  int    // limit of the answer; 0: no limit
}

// RetrieveContentResult is a content, or some of it.
type RetrieveContentResult struct {
	Source   Source
	Chunk    []byte
	Bytes    [2]int64 // where Chunk lies in the content: [from, end)
	Excerpts []ContentExcerpt
	Next     *int64 // nil: nothing follows
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
	RunID     string // empty: contents of all runs
	MaxTokens int32  // 0: no limit
	MaxBytes  int    // 0: no limit
}

// SearchContentResult holds the best passages of all contents.
type SearchContentResult struct {
	Excerpts []ContentExcerpt
	Searched int
	Skipped  int
}

// SourcesRequest asks for source records.
type SourcesRequest struct {
	Key    store.Key
	RunID  string // empty: contents of all runs
	Limit  int
	Cursor int64 // Next of the previous page; 0: the first page
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

// EndRunResult says which contents will be deleted, and when.
type EndRunResult struct {
	Scheduled int32
	DeleteAt  time.Time // zero: nothing is deleted
	Revision  int64
	Duplicate bool
}
