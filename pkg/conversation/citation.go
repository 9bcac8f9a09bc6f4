package conversation

import "fmt"

// SourceType says what a content came from.
type SourceType int8

// The source types. The numbers are those of the API.
const (
	SourceTypeUnspecified SourceType = iota
	SourceTypeWeb
	SourceTypeDatabase
	SourceTypeStorage
	SourceTypeSearch
	SourceTypeTool
)

// String returns the source type as citations tell it.
func (t SourceType) String() string {
	switch t {
	case SourceTypeWeb:
		return "web"
	case SourceTypeDatabase:
		return "database"
	case SourceTypeStorage:
		return "storage"
	case SourceTypeSearch:
		return "search"
	default:
		return "tool"
	}
}

// Citation says what a text that a view shows stands for. The excerpt and how to get more are parts of that text, in bytes, so
// that nothing is kept twice.
type Citation struct {
	ContentID   string // the handle
	SourceType  SourceType
	SourceURL   string
	SourceTitle string // as its caller calls it
	ContentType string
	TotalBytes  int64
	TotalChars  int64
	Location    string // of the excerpt
	ExcerptFrom int32
	ExcerptEnd  int32
	HowFrom     int32 // where the text begins to say how to get more; to its end
}

// ResultSource is what a tool result came from, as its caller says. What is empty is guessed.
type ResultSource struct {
	Type  SourceType
	URL   string
	Title string
}

// Recalled names what a tool result brought back.
type Recalled struct {
	ContentID string // a content, by its handle; empty: a message
	Index     int32
	Memories  bool // of other conversations, and neither a content nor a message of this one
}

// Recall is the call of a tool that brings a message's result back in full: the message's own, or what it was recalled from.
func (r *ToolResult) Recall(index int32) string {
	switch {
	case r == nil || r.Recalled == nil || r.Recalled.Memories:
		return ExpandCall(index)
	case r.Recalled.ContentID == "":
		return ExpandCall(r.Recalled.Index)
	default:
		return RetrieveCall(r.Recalled.ContentID)
	}
}

// ExpandCall is the call of a tool that brings a message back.
func ExpandCall(index int32) string { return fmt.Sprintf("%s(%d)", ToolExpand, index) }

// RetrieveCall is the call of a tool that brings a content back.
func RetrieveCall(contentID string) string { return fmt.Sprintf("%s(%q)", ToolRetrieve, contentID) }
