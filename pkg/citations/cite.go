package citations

import (
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/content"
)

// Source describes a content for its citation.
type Source struct {
	Handle      string
	Type        string // web, database, storage, search, tool
	URL         string
	Title       string // as its caller names it; if empty, a page's own title is used
	ContentType string
	TotalBytes  int64
	TotalChars  int64 // Unicode code points
	// Expand is the call that retrieves all of a content which is a message's own, such as "expand_message(12)"; empty for others.
	Expand string
}

// Citation replaces a content in a view.
type Citation struct {
	// Text is shown to the model.
	Text string
	// ExcerptFrom and ExcerptEnd are byte positions in Text. Between them is the beginning of the content.
	ExcerptFrom, ExcerptEnd int
	Location                string // of the excerpt: "beginning"
	HowToRetrieve           string // the last line of Text
}

// MaxCited is the size, in bytes, up to which a citation considers all of a content; of a larger one it only considers the start.
const MaxCited = 16 << 20

// The maximum weight of a citation, in tokens.
const (
	maxTokens     = 300
	maxListTokens = 400
)

// excerptChars is the length of the excerpt in a citation, in characters.
const excerptChars = 500

// Make cites a content (behaviour §9): handle, the first 500 characters (of its text, for HTML), location, length, source, media type, and
// how to retrieve more; also the small members of a JSON object, and for lists their count, keys and first item, or the first results of a
// search. It weighs at most 300 tokens by count, 400 with a list: the excerpt shrinks first, then lists, then small members, then the URL.
// The text is valid UTF-8 without control characters except tabs and line ends, and the same for the same input. head is the content, or at
// least its first 64 KiB if it is larger than MaxCited; whole tells which.
func Make(s Source, kind content.Kind, head string, whole bool, count func(string) int) Citation {
	c := &composer{source: s, head: head, text: head, whole: whole, count: count, limit: maxTokens, chars: excerptChars, units: "chars, lines"}
	if s.ContentType == "" {
		c.source.ContentType = kind.MediaType()
	}
	switch kind {
	case content.KindHTML:
		c.readPage()
	case content.KindJSON:
		c.readJSON()
	}
	if s.Title != "" {
		c.title = content.CutChars(strings.Join(strings.Fields(replaceControls(s.Title)), " "), smallChars)
	}
	return c.compose()
}
