package appends

import (
	"cmp"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/citations"
	"github.com/palimpsest-context/palimpsest/pkg/content"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/contents"
)

// describe makes the source record of a cited part.
func (c *citationPlan) describe(message int32, run string, x *citedPart) *contents.Record {
	kind := content.KindOf("", x.text)
	r := &contents.Record{
		Handle: contents.NewHandle(x.number, c.idOf(x.blockAt)), Type: sourceType(citations.SourceType(x.tool, kind, x.text)),
		URL: citations.SourceURL(kind, x.text, x.args), ContentType: kind.MediaType(), Kind: int8(kind),
		Bytes: int64(len(x.text)), Chars: int64(utf8.RuneCountInString(x.text)), SHA256: x.sum[:],
		CitedBy: []int32{message}, Run: run, AtAppend: true, Message: message, Part: int32(x.part),
	}
	applySource(r, x.source)
	return r
}

// idOf returns the random id that a part's handle is made with. It is the same in every try.
func (c *citationPlan) idOf(at blockAt) conversation.ID {
	id, ok := c.ids[at]
	if !ok {
		id = c.service.IDs()
		c.ids[at] = id
	}
	return id
}

// applySource copies the caller's description of the source.
func applySource(r *contents.Record, s *conversation.ResultSource) {
	if s == nil {
		return
	}
	if s.Type != conversation.SourceTypeUnspecified {
		r.Type = s.Type
	}
	r.URL, r.Title = cmp.Or(s.URL, r.URL), s.Title
}

func sourceType(name string) conversation.SourceType {
	for t := conversation.SourceTypeWeb; t <= conversation.SourceTypeTool; t++ {
		if t.String() == name {
			return t
		}
	}
	return conversation.SourceTypeTool
}
