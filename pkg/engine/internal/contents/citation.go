package contents

import (
	"github.com/palimpsest-context/palimpsest/pkg/citations"
	"github.com/palimpsest-context/palimpsest/pkg/content"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
)

// CountWith returns a function that counts the tokens of a citation.
func CountWith(counter tokens.Counter) func(string) int {
	return func(text string) int {
		n, _ := counter.Count(text)
		return n
	}
}

// MakeCitation writes a citation. head is the content or its beginning; whole says which.
func MakeCitation(r *Record, head string, whole bool, expand string, count func(string) int) (string, *conversation.Citation) {
	source := r.CitationSource()
	source.Expand = expand
	made := citations.Make(source, content.Kind(r.Kind), head, whole, count)
	return made.Text, &conversation.Citation{
		ContentID: r.Handle, SourceType: r.Type, SourceURL: r.URL, SourceTitle: r.Title, ContentType: r.ContentType, TotalBytes: r.Bytes, TotalChars: r.Chars,
		Location: made.Location, ExcerptFrom: int32(made.ExcerptFrom), ExcerptEnd: int32(made.ExcerptEnd),
		HowFrom: int32(len(made.Text) - len(made.HowToRetrieve)),
	}
}

// CitedFrom returns a citation that a view shows, with its texts.
func CitedFrom(shown *conversation.Part) Cited {
	text := shown.Text.Inline
	if shown.Result != nil {
		text = shown.Result.Words()
	}
	return citedFrom(text, shown.Citation)
}

func citedFrom(text string, c *conversation.Citation) Cited {
	out := Cited{Citation: *c, Text: text}
	if end := int(c.ExcerptEnd); c.ExcerptFrom >= 0 && c.ExcerptFrom <= c.ExcerptEnd && end <= len(text) {
		out.Excerpt = text[c.ExcerptFrom:end]
	}
	if from := int(c.HowFrom); from >= 0 && from <= len(text) {
		out.How = text[from:]
	}
	return out
}
