package conversation

import "fmt"

// SourceType says what kind of source a content came from.
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

// String returns the source type as citations name it.
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

// Citation says what a text in a view stands for. The excerpt and the hint on how to get more are given as byte positions in
// that text, so that nothing is stored twice.
type Citation struct {
	ContentID   string // the handle
	SourceType  SourceType
	SourceURL   string
	SourceTitle string // as the caller names it
	ContentType string
	TotalBytes  int64
	TotalChars  int64
	Location    string // of the excerpt
	ExcerptFrom int32
	ExcerptEnd  int32
	HowFrom     int32 // where the hint on how to get more begins; it ends with the text
}

// ResultSource is the source of a tool result, as its caller gives it. Empty fields are guessed.
type ResultSource struct {
	Type  SourceType
	URL   string
	Title string
}

// Recalled names what a tool result recalled.
type Recalled struct {
	ContentID string // handle of a content; empty for a message
	Index     int32
	Memories  bool // memories of other conversations, and neither a content nor a message of this one
}

// Recall returns the tool call that brings a message's result back in full. That is a call for the message or, if the result
// was itself recalled, for its source.
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

// ExpandCall returns the tool call that brings a message back.
func ExpandCall(index int32) string { return fmt.Sprintf("%s(%d)", ToolExpand, index) }

// RetrieveCall returns the tool call that brings a content back.
func RetrieveCall(contentID string) string { return fmt.Sprintf("%s(%q)", ToolRetrieve, contentID) }
