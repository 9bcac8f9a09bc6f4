package citations

// Kind says how a content is read.
type Kind int8

// The kinds of content.
const (
	KindText Kind = iota
	KindMarkdown
	KindHTML
	KindJSON
	KindLines // logs, JSON lines, tables: each line stands for itself
	KindCode
)

// KindOf is how a content is read, by its media type if that says something ("text/html", "application/json; charset=utf-8"), and by
// looking at it otherwise.
func KindOf(contentType, content string) Kind { return KindText }

// MediaType is the media type of contents of the kind, for those that came without one.
func (k Kind) MediaType() string { return "text/plain" }
