package citations

// Source is what is known of a content, for its citation.
type Source struct {
	Handle      string
	Type        string // web, database, storage, search, tool
	URL         string
	ContentType string
	TotalBytes  int64
	TotalChars  int64 // Unicode code points
	// Expand is how the whole is had back where it is a message's own, such as "expand_message(12)"; empty otherwise.
	Expand string
}

// Citation is what stands for a content in a view.
type Citation struct {
	// Text is what the model is shown.
	Text string
	// Excerpt is the part of Text, in bytes, that is of the content's beginning.
	ExcerptFrom, ExcerptEnd int
	Location                string // of the excerpt: "beginning"
	HowToRetrieve           string // as Text says it
}

// Make cites a content: handle, first 500 characters (of its text, for HTML), location, length, source, media type, how to get more; small
// members of a JSON object beside it, and for lists their count, keys and first item. It weighs at most 300 tokens by count, 400 with
// a list: the excerpt gives way. head is the content, or at least its first 64 KiB if it is larger than MaxCited; whole says which.
func Make(s Source, kind Kind, head string, whole bool, count func(string) int) Citation {
	return Citation{}
}

// MaxCited is up to which size, in bytes, a content is cited by all of it; of a larger one, by its beginning.
const MaxCited = 16 << 20

// SourceType guesses what a tool result came from: by the tool's name, and by what the result looks like.
func SourceType(tool string, kind Kind, content string) string { return "tool" }

// SourceURL is where a content came from, as it says itself (a canonical link, a url member) or the arguments of the call say, if those
// are JSON; empty if neither does.
func SourceURL(kind Kind, content, arguments string) string { return "" }
