package convert

import (
	"unicode/utf8"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// setCitation says what a part as a view shows it stands for: a text becomes a citation, a result has it beside its text.
func setCitation(out *pb.Part, p *conversation.Part) {
	switch {
	case p.Citation == nil:
	case p.Kind == conversation.PartText:
		out.Content = &pb.Part_Citation{Citation: toShownCitation(p.Citation, p.Text.Inline)}
	case p.Kind == conversation.PartToolResult:
		out.GetToolResult().Citation = toShownCitation(p.Citation, p.Result.Text.Inline)
	}
}

// toShownCitation cuts the texts of a citation out of the text that is shown for it.
func toShownCitation(c *conversation.Citation, text string) *pb.Citation {
	return ToCitation(engine.Cited{
		Citation: *c,
		Text:     text,
		Excerpt:  cut(text, int(c.ExcerptFrom), int(c.ExcerptEnd)),
		How:      cut(text, int(c.HowFrom), len(text)),
	})
}

// cut is empty where a damaged record names a place that the text does not have, or one inside a character.
func cut(text string, from, end int) string {
	if from < 0 || end < from || end > len(text) || !utf8.ValidString(text[from:end]) {
		return ""
	}
	return text[from:end]
}

// ToCitation says what a citation shows.
func ToCitation(c engine.Cited) *pb.Citation {
	return &pb.Citation{
		ContentId:     c.Citation.ContentID,
		Excerpt:       c.Excerpt,
		Location:      c.Citation.Location,
		TotalChars:    c.Citation.TotalChars,
		TotalBytes:    c.Citation.TotalBytes,
		SourceType:    pb.SourceType(c.Citation.SourceType),
		SourceUrl:     c.Citation.SourceURL,
		SourceTitle:   c.Citation.SourceTitle,
		ContentType:   c.Citation.ContentType,
		HowToRetrieve: c.How,
		Text:          c.Text,
	}
}

// ToSpan is a range in a content.
func ToSpan(s [2]int64) *pb.Span { return &pb.Span{StartIndex: s[0], EndIndex: &s[1]} }

// SpanEnd is where a span ends; without an end, past anything. No span ends at 0.
func SpanEnd(s *pb.Span) int64 {
	if s != nil && s.EndIndex == nil {
		return MaxPlace
	}
	return s.GetEndIndex()
}

// MaxPlace is the largest place in a content that a request can name.
const MaxPlace = 1 << 42
