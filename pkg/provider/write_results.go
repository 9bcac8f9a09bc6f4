package provider

import (
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// AddResult writes a result as an object: a prefix before the call's id, and the key of the text after it.
func (s *UnitWriter) AddResult(l *Line, r *conversation.ToolResult, role, prefix, key string, kept Fields) {
	text, extra := s.ResultText(r, l.Index)
	out := make([]byte, 0, len(text)+len(text)/16+64)
	out = append(out, prefix...)
	out = s.AppendCallID(out, l.Call)
	out = append(out, key...)
	out = AppendString(out, text)
	s.Add(l, role, kept.besideResult(append(out, '}')), l.Parts[0].Tokens+extra)
}

// ResultText returns a result as one text, its parts joined by newlines and its media as lines. extra is the weight beyond the result's
// stored count.
func (s *UnitWriter) ResultText(r *conversation.ToolResult, index int32) (out string, extra int32) {
	if r.Output != conversation.OutputParts {
		return r.Text.Inline, 0
	}
	var b strings.Builder
	for i := range r.Parts {
		text := r.Parts[i].Text.Inline
		if m := r.Parts[i].Media; m != nil {
			var n int32
			text, n = s.ResultMediaAsText(r, m, index)
			if extra += n; text == "" {
				continue
			}
		}
		if i > 0 {
			b.WriteByte('\n')
			extra++
		}
		b.WriteString(text)
	}
	return b.String(), extra
}

// ResultMediaAsText returns the line that replaces media of a result, and its weight. The line is empty if the result's words already have
// one in the media's place, as for base64 bytes; the result then weighs less by the media.
func (s *UnitWriter) ResultMediaAsText(r *conversation.ToolResult, m *conversation.Media, index int32) (line string, tokens int32) {
	line = m.Line()
	named := strings.TrimSuffix(line, "]") + ", sha256 "
	if slices.ContainsFunc(r.Parts, func(p conversation.ResultPart) bool { return p.Media == nil && strings.Contains(p.Text.Inline, named) }) {
		line, tokens = "", -s.mediaWeight(r)
	} else {
		tokens = s.Context.count(line)
	}
	s.Repair(index, conversation.ReasonMediaAsText, int64(tokens))
	return line, tokens
}

// mediaWeight is the counted weight of one medium of a result: the result's weight without its words, divided by the number of media.
func (s *UnitWriter) mediaWeight(r *conversation.ToolResult) int32 {
	at := slices.IndexFunc(s.lines, func(l Line) bool { return len(l.Parts) > 0 && l.Parts[0].Result == r })
	if at < 0 {
		return 0
	}
	left, media := s.lines[at].Parts[0].Tokens, int32(0)
	for i := range r.Parts {
		if r.Parts[i].Media != nil {
			media++
		} else {
			left -= s.Context.count(r.Parts[i].Text.Inline)
		}
	}
	return max(left, 0) / max(media, 1)
}

// ResultList says how a format lists the pieces of a result.
type ResultList struct {
	Role       string
	Prefix     string // before the call's id
	Key        string // of the list, which comes after the call's id
	TextPrefix string
	// Takes reports whether the provider takes media here, and Media writes it; other media become lines of text. Both are nil if it takes
	// none.
	Takes func(*conversation.Media) bool
	Media func([]byte, *Content) []byte
	Kept  []Fields // what was kept for each piece, in order; nil for nothing
}

// AddPieces writes a result of several pieces as a list. It is false, and nothing is written, if there is nothing to list.
func (s *UnitWriter) AddPieces(l *Line, r *conversation.ToolResult, p ResultList, kept Fields) bool {
	var contents []Content
	more := int32(0)
	for i := range r.Parts {
		c := Content{Text: r.Parts[i].Text.Inline, Media: r.Parts[i].Media}
		if len(p.Kept) == len(r.Parts) {
			c.Kept = p.Kept[i]
		}
		if c.Media != nil && (p.Takes == nil || !p.Takes(c.Media)) {
			var n int32
			c.Text, n = s.ResultMediaAsText(r, c.Media, l.Index)
			c.Media, more = nil, more+n
		}
		if c.Media != nil || c.Text != "" {
			contents = append(contents, c)
		}
	}
	if len(contents) == 0 {
		return false
	}
	out := s.AppendCallID([]byte(p.Prefix), l.Call)
	out = append(AppendContents(append(out, p.Key...), contents, p.TextPrefix, p.Media), '}')
	s.Add(l, p.Role, kept.besideResult(out), l.Parts[0].Tokens+more)
	return true
}

// besideResult adds to a result the members that were kept for it.
func (f Fields) besideResult(result []byte) []byte {
	result = f.AppendUnread(f.Append(result, '"', "id", "status"), "members")
	return f.AppendUnread(result, "message", ChatMembers()...)
}
