package conversation

import (
	"slices"
	"unicode/utf8"
)

// Content is a piece of text or bytes. It is held in memory (Inline), stored as chunks and named by Ref, or erased. At most
// one of the three is set; none means empty.
type Content struct {
	Inline string
	Ref    *ContentRef
	Erased *ErasedContent
}

// ErasedContent is what is left of a content that was erased.
type ErasedContent struct {
	Bytes int64
	Chars int64    // Unicode code points; 0 for media
	Hash  [32]byte // keyed: it reveals nothing to anybody who does not know the conversation's secret
}

// ContentRef names content that is stored as chunks.
type ContentRef struct {
	ID     ID
	Bytes  int64
	Chars  int64 // Unicode code points; 0 for media
	SHA256 [32]byte
}

// Bytes is the length in bytes, also of stored and erased content.
func (c Content) Bytes() int64 {
	switch {
	case c.Ref != nil:
		return c.Ref.Bytes
	case c.Erased != nil:
		return c.Erased.Bytes
	default:
		return int64(len(c.Inline))
	}
}

// Chars is the length in Unicode code points, also of stored and erased content.
func (c Content) Chars() int64 {
	switch {
	case c.Ref != nil:
		return c.Ref.Chars
	case c.Erased != nil:
		return c.Erased.Chars
	default:
		return int64(utf8.RuneCountInString(c.Inline))
	}
}

// Contents returns pointers to all contents of the parts, in order. Large contents are moved to chunks and back through it.
// It is the only place that knows where contents can be.
func Contents(parts []Part) []*Content {
	var out []*Content
	for i := range parts {
		out = appendContents(out, &parts[i])
	}
	return out
}

func appendContents(out []*Content, p *Part) []*Content {
	switch p.Kind {
	case PartText:
		out = append(out, &p.Text)
	case PartMedia:
		out = append(out, &p.Media.Data)
	case PartToolCall:
		out = append(out, &p.Call.Arguments)
	case PartReasoning:
		out = append(out, &p.Reasoning.Text, &p.Reasoning.Signature)
	case PartOpaque:
		out = append(out, &p.Opaque.JSON)
	case PartToolResult:
		out = append(out, &p.Result.Text)
		for i := range p.Result.Parts {
			out = append(out, &p.Result.Parts[i].Text)
			if m := p.Result.Parts[i].Media; m != nil {
				out = append(out, &m.Data)
			}
		}
	}
	return out
}

// PartsChars is the length of all contents of the parts, in Unicode code points.
func PartsChars(parts []Part) int64 {
	n := int64(0)
	for _, c := range Contents(parts) {
		n += c.Chars()
	}
	return n
}

// Erased reports whether any content of the parts was erased.
func Erased(parts []Part) bool {
	return slices.ContainsFunc(Contents(parts), func(c *Content) bool { return c.Erased != nil })
}
