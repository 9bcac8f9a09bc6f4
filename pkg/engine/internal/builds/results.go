package builds

import (
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// CompactResult says what a compaction did.
type CompactResult struct {
	Summaries    []SummaryInView // in order of their ranges
	Range        conversation.Range
	Saved        int64 // tokens, before the factor
	Events       []conversation.Event
	Degradations []conversation.Degradation
	Revision     int64
	Duplicate    bool
}

// ManifestResult is an earlier build.
type ManifestResult struct {
	Manifest     conversation.Manifest
	Messages     []provider.Message
	System       []byte
	MessagesJSON []byte
	SHA256       [32]byte // of these bytes; equal to the manifest's in its own format
	Blocks       int32
	Breakpoints  []int32
}

// SummaryInView is a summary with its text.
type SummaryInView struct {
	ID       int64
	Range    conversation.Range
	Level    int32
	Children []int64
	Text     string
	Tokens   int32
	Model    string // that wrote it; empty for an extract
	EditSeq  int64
	Erased   bool // something that it stands for was erased since
}
