// Package anthropic writes contexts for Anthropic's Messages API.
package anthropic

import (
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// New returns the format: the user opens and ends, roles alternate, and every block is a content block.
func New() provider.Format {
	return provider.NewFormat(conversation.FormatAnthropic, provider.Traits{
		Name: "anthropic", Provider: "anthropic",
		SystemApart: true, SystemPrefix: "[", SystemSuffix: "]",
		Merge: true, ContentKey: "content", UserFirst: true, UserLast: true,
		TextPrefix: `{"type":"text","text":`, TextSuffix: `}`, NoBlank: true,
		Residue: []string{
			"type", "citations", "title", "context", "file_id", "source", "content", "caller", "toolset_name", "members", "source_members", "message",
		},
		IDs:    func(string) provider.IDForm { return provider.WordID },
		Pauses: true, Reads: reads, SystemInside: takesSystem, SystemAfter: endsServerTool,
		Request: provider.RequestShape{
			System: "system", Messages: "messages", CacheMark: `"cache_control":{"type":"ephemeral"}`, CacheLookback: cacheLookback,
		},
	}, writer{})
}

// cacheLookback is the number of positions before each mark, including the marked block, in which the provider looks for a cached
// prefix: 20, from https://platform.claude.com/docs/en/build-with-claude/prompt-caching, read on 2026-11-26. Anthropic's own platform
// counts a run of calls, or of results, as one position; other platforms do not.
const cacheLookback = 20

type writer struct{}

// Takes reports true for images and PDF.
func (writer) Takes(m *conversation.Media) bool { return provider.IsImageOrPDF(m) }

// Text writes blocks of the user.
func (writer) Text(s *provider.UnitWriter, l *provider.Line, contents []provider.Content) {
	for i := range contents {
		s.Add(l, "user", appendContent(nil, s, &contents[i]), contents[i].Tokens)
	}
}

func appendContent(dst []byte, s *provider.UnitWriter, p *provider.Content) []byte {
	if p.Media == nil {
		return appendText(dst, s, p)
	}
	if p.Kept.Text("type") == containerUpload {
		return append(dst, besideBlock(p.Kept.Append([]byte(`{"type":"container_upload"}`), '"', "file_id"), p.Kept)...)
	}
	kind := "image"
	if !strings.HasPrefix(p.Media.MIMEType, "image/") {
		kind = "document"
	}
	source := []byte(`{"type":"`)
	switch {
	case p.Kept.Text("file_id") != "":
		source = append(append(source, `file","file_id":`...), p.Kept["file_id"]...)
	case provider.HasData(p.Media):
		source = append(source, `base64","media_type":"`+p.Media.MIMEType+`","data":`...)
		source = provider.AppendBase64(source, p.Media.Data.Inline)
	default:
		source = provider.AppendField(source, `url","url":`, p.Media.URI)
	}
	out := appendSource([]byte(`{"type":"`+kind+`","source":`), append(source, '}'), p.Kept)
	if kind == "document" {
		out = withTitle(out, p.Kept)
	}
	return append(dst, besideBlock(out, p.Kept)...)
}

// appendSource ends a block with its source, and adds the members that were kept for the source.
func appendSource(block, source []byte, kept provider.Fields) []byte {
	return append(append(block, kept.AppendUnread(source, "source_members", known()...)...), '}')
}

// besideBlock adds the members that were kept for a block.
func besideBlock(block []byte, kept provider.Fields) []byte {
	return kept.AppendUnread(block, "members", known()...)
}

// known lists the members of blocks and sources that are written from the record's fields, or never.
func known() []string {
	return []string{
		"type", "text", "citations", "source", "title", "context", "id", "name", "input", "caller", "toolset_name", "tool_use_id", "content", "is_error",
		"thinking", "signature", "media_type", "data", "url", "file_id", "cache_control",
	}
}

// withTitle adds a document's title and context, and whether it may be cited.
func withTitle(document []byte, kept provider.Fields) []byte {
	return kept.Append(kept.Append(document, '"', "title", "context"), '{', "citations")
}

// appendText writes a text: of a message, of a document that is text, or of a search.
func appendText(dst []byte, s *provider.UnitWriter, p *provider.Content) []byte {
	switch p.Kept.Text("type") {
	case "document":
		out := []byte(`{"type":"document"}`)
		if source := p.Kept.Object("source"); source.Text("type") == "content" && source["content"] != nil {
			out = p.Kept.Append(out, '{', "source")
		} else {
			text := provider.AppendField(nil, `{"type":"text","media_type":"text/plain","data":`, p.Text)
			out = appendSource([]byte(`{"type":"document","source":`), append(text, '}'), p.Kept)
		}
		return append(dst, besideBlock(withTitle(out, p.Kept), p.Kept)...)
	case "search_result":
		if p.Kept.Text("source") == "" || p.Kept.Text("title") == "" {
			break
		}
		out := p.Kept.Append([]byte(`{"type":"search_result"}`), '"', "source", "title")
		if p.Kept.Blocks("content") {
			out = p.Kept.Append(out, '[', "content")
		} else {
			out = s.Traits.AppendText(append(out[:len(out)-1], `,"content":[`...), p.Text)
			out = append(out, "]}"...)
		}
		return append(dst, besideBlock(p.Kept.Append(out, '{', "citations"), p.Kept)...)
	}
	return append(dst, textWithCitations(s, p.Text, p.Kept)...)
}

// textWithCitations writes a text with its citations.
func textWithCitations(s *provider.UnitWriter, text string, kept provider.Fields) []byte {
	out := s.Traits.AppendText(nil, text)
	if kept.Blocks("citations") {
		out = kept.Append(out, '[', "citations")
	}
	return besideBlock(out, kept)
}

func call(s *provider.UnitWriter, l *provider.Line, p *conversation.Part, own *ownBlocks) {
	name, arguments, tokens := s.Call(l.Index, p, provider.CleanName, provider.IsObject)
	out := []byte(`{"type":"tool_use","id":`)
	out = s.AppendCallID(out, p.Call)
	out = provider.AppendField(out, `,"name":`, name)
	out = append(out, `,"input":`...)
	out = append(append(out, arguments...), '}')
	kept := s.Kept(p)
	if own.mayCall(kept) {
		out = kept.Append(out, '{', "caller")
	}
	s.Add(l, "assistant", besideBlock(kept.Append(out, '"', "toolset_name"), kept), tokens)
}

// Result writes a result. It leaves out blank texts, and the whole content if nothing else is in it.
func (writer) Result(s *provider.UnitWriter, l *provider.Line, r *conversation.ToolResult) {
	out := make([]byte, 0, len(r.Text.Inline)+len(r.Text.Inline)/16+96)
	out = append(out, `{"type":"tool_result","tool_use_id":`...)
	out = s.AppendCallID(out, l.Call)
	before, more := len(out), int32(0)
	kept := s.Kept(&l.Parts[0])
	switch {
	case kept.Blocks("content"):
		out = append(append(out, `,"content":`...), kept["content"]...)
	case r.Output == conversation.OutputParts:
		out, more = appendParts(out, s, l, r)
	case strings.TrimSpace(r.Text.Inline) != "":
		out = provider.AppendField(out, `,"content":`, r.Text.Inline)
	}
	if r.State == conversation.ResultError {
		if len(out) == before {
			out = append(out, `,"content":"`+provider.SilentError+`"`...)
			more += s.Count(provider.SilentError)
		}
		out = append(out, `,"is_error":true`...)
	}
	s.Add(l, "user", besideBlock(kept.Append(append(out, '}'), '"', "toolset_name"), kept), l.Parts[0].Tokens+more)
}

func appendParts(dst []byte, s *provider.UnitWriter, l *provider.Line, r *conversation.ToolResult) ([]byte, int32) {
	n, more := 0, int32(0)
	for i := range r.Parts {
		p := provider.Content{Text: r.Parts[i].Text.Inline, Media: r.Parts[i].Media}
		switch {
		case p.Media == nil && s.Blank(p.Text):
			continue
		case p.Media != nil && !provider.IsImageOrPDF(p.Media):
			// The stored count only covers the whole result, so the line's weight is added.
			line, tokens := s.MediaAsText(l.Index, &conversation.Part{Media: p.Media})
			p, more = provider.Content{Text: line}, more+tokens
		}
		if n++; n == 1 {
			dst = append(dst, `,"content":[`...)
		} else {
			dst = append(dst, ',')
		}
		dst = appendContent(dst, s, &p)
	}
	if n > 0 {
		dst = append(dst, ']')
	}
	return dst, more
}
