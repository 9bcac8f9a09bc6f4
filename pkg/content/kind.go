package content

import "strings"

// Kind is how a content is read.
type Kind int8

// The kinds of content.
const (
	KindText Kind = iota
	KindMarkdown
	KindHTML
	KindJSON
	KindLines // logs, JSON lines, tables: each line is independent
	KindCode
)

// KindOf returns the kind of a content, by its media type if that is conclusive ("text/html", "application/json; charset=utf-8"), or else
// by its form.
func KindOf(contentType, content string) Kind {
	if kind, ok := kindOfMedia(contentType); ok {
		return kind
	}
	return sniff(content)
}

// kindOfMedia returns the kind for a media type. Plain text and unknown types are not conclusive.
func kindOfMedia(contentType string) (Kind, bool) {
	media, _, _ := strings.Cut(Head(contentType, 200), ";")
	media = strings.ToLower(strings.TrimSpace(media))
	switch media {
	case "text/html", "application/xhtml+xml", "html":
		return KindHTML, true
	case "text/markdown", "text/x-markdown", "markdown":
		return KindMarkdown, true
	case "application/json", "text/json", "json":
		return KindJSON, true
	case "text/csv", "text/tab-separated-values", "application/x-ndjson", "application/jsonl", "application/x-jsonlines", "text/x-log":
		return KindLines, true
	case "text/javascript", "application/javascript", "text/css", "application/x-sh", "application/sql", "application/typescript":
		return KindCode, true
	}
	if strings.HasSuffix(media, "+json") {
		return KindJSON, true
	}
	return KindCode, strings.HasPrefix(media, "text/x-")
}

// MediaType returns the media type for contents of the kind that came without one.
func (k Kind) MediaType() string {
	switch k {
	case KindMarkdown:
		return "text/markdown"
	case KindHTML:
		return "text/html"
	case KindJSON:
		return "application/json"
	default:
		return "text/plain"
	}
}
