package conversation

import "unicode/utf8"

// Content is a run of text or bytes that is held in memory, or lies in the store's content chunks and is named by Ref, or was
// erased. At most one of the three is set; none means empty.
type Content struct {
	Inline string
	Ref    *ContentRef
	Erased *ErasedContent
}

// ErasedContent is what is left of content that its owner had erased.
type ErasedContent struct {
	Bytes int64
	Chars int64    // Unicode code points; 0 for media
	Hash  [32]byte // keyed: it says nothing to who does not know the conversation's secret
}

// ContentRef names content that is stored as chunks.
type ContentRef struct {
	ID     ID
	Bytes  int64
	Chars  int64 // Unicode code points; 0 for media
	SHA256 [32]byte
}

// Bytes is the length in bytes, wherever the content is.
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

// Chars is the length in Unicode code points, wherever the content is.
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

// Contents returns pointers to every run of content in the parts, in order. It is how large content is moved out to chunks
// and back, and the one place that knows where content can be.
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

// PartsChars is the length of all contents of parts, in Unicode code points.
func PartsChars(parts []Part) int64 {
	n := int64(0)
	for _, c := range Contents(parts) {
		n += c.Chars()
	}
	return n
}

// Erased says whether anything of the parts was erased.
func Erased(parts []Part) bool {
	for _, c := range Contents(parts) {
		if c.Erased != nil {
			return true
		}
	}
	return false
}
