// Package openairesponses writes contexts for OpenAI's Responses API, as input items.
package openairesponses

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
)

// New returns the format: roles may stand in any order, and every block is an item.
func New() provider.Format {
	return provider.NewFormat(conversation.FormatOpenAIResponses, provider.Traits{
		Name: "openai-responses", Provider: "openai",
		TextPrefix: `{"type":"message","role":"user","content":[{"type":"input_text","text":`, TextSuffix: `}]}`,
		Request: provider.RequestShape{
			Instructions: "instructions", Messages: "input", CacheKey: "prompt_cache_key",
			Rest: `,"store":false,"include":["reasoning.encrypted_content"]`, // nothing is kept there, so reasoning must come along
		},
	}, writer{})
}

type writer struct{}

// Takes images and PDF.
func (writer) Takes(m *conversation.Media) bool {
	return (provider.IsImage(m.MIMEType) || m.MIMEType == "application/pdf") && (provider.HasData(m) || provider.IsWeb(m))
}

// Text writes a message item of the system's or the user's.
func (writer) Text(s *provider.UnitWriter, l *provider.Line, contents []provider.Content) {
	role := l.Role.String()
	s.Add(l, role, message(role, contents), provider.Weigh(contents))
}

func message(role string, contents []provider.Content) []byte {
	out := []byte(`{"type":"message","role":"` + role + `","content":`)
	return append(provider.AppendContents(out, contents, `{"type":"input_text","text":`, appendMedia), '}')
}

func appendMedia(dst []byte, m *conversation.Media) []byte {
	switch {
	case provider.IsImage(m.MIMEType):
		dst = append(dst, `{"type":"input_image","image_url":`...)
		dst = provider.AppendURL(dst, m)
		dst = append(dst, `,"detail":"`+detail(m)+`"`...)
	case provider.HasData(m):
		dst = append(dst, `{"type":"input_file","filename":"document.pdf","file_data":`...)
		dst = provider.AppendURL(dst, m)
	default:
		dst = append(dst, `{"type":"input_file","file_url":`...)
		dst = provider.AppendURL(dst, m)
	}
	return append(dst, '}')
}

// detail returns how closely the model looks at an image. The published type demands one; what it takes for absent is auto.
func detail(m *conversation.Media) string {
	if slices.Contains([]string{"low", "high"}, m.Detail) {
		return m.Detail
	}
	return "auto"
}

// Assistant writes texts, calls and reasoning as items of their own, in their order.
func (writer) Assistant(s *provider.UnitWriter, turn []provider.Line) {
	w := items{sheet: s}
	for i := range turn {
		w.take(&turn[i])
	}
	w.dropReasoning()
}

func (w *items) take(l *provider.Line) {
	w.line, w.written = l, false
	for i := range l.Parts {
		switch p := &l.Parts[i]; p.Kind {
		case conversation.PartText:
			if !w.sheet.Blank(p.Text.Inline) {
				w.text(p.Text.Inline, p.Tokens)
			}
		case conversation.PartMedia:
			line, n := w.sheet.MediaAsText(l.Index, p)
			w.text(line, n)
		case conversation.PartToolCall:
			w.call(p)
		default:
			w.native(p)
		}
	}
}

// items writes the items of a turn.
type items struct {
	sheet     *provider.UnitWriter
	line      *provider.Line     // the message that is being written
	written   bool               // an item of the message stands already
	reasoning []pendingReasoning // before the next item
}

type pendingReasoning struct {
	line *provider.Line
	part *conversation.Part
	json []byte
}

// text writes one text as a message of its own. The assistant's words are legal as a message that holds a string, or as an output
// message with the id that OpenAI gave it, which the record does not have. A string cannot keep several texts apart.
func (w *items) text(text string, weight int32) {
	if w.written || len(w.reasoning) > 0 {
		weight += tokens.PerMessage // the record has one message where the items are more
	}
	out := provider.AppendString([]byte(`{"type":"message","role":"assistant","content":`), text)
	w.item("assistant", append(out, '}'), weight)
}

// item writes an item behind the reasoning that precedes it.
func (w *items) item(role string, json []byte, tokens int32) {
	for _, r := range w.reasoning {
		w.sheet.Add(r.line, "reasoning", r.json, r.part.Tokens)
	}
	w.reasoning, w.written = nil, true
	w.sheet.Add(w.line, role, json, tokens)
}

func (w *items) call(p *conversation.Part) {
	name := provider.CleanName(p.Call.Name, "")
	more := w.sheet.Renamed(w.line.Index, p.Call.Name, name)
	arguments, wrapped := w.sheet.Arguments(w.line.Index, p.Call.Arguments.Inline, provider.IsJSON)
	out := []byte(`{"type":"function_call","call_id":`)
	out = provider.AppendCallID(out, p.Call.Ordinal)
	out = append(out, `,"name":`...)
	out = provider.AppendString(out, name)
	out = append(out, `,"arguments":`...)
	out = provider.AppendString(out, arguments)
	w.item("function_call", append(out, '}'), p.Tokens+more+wrapped)
}

// dropReasoning leaves out reasoning whose item is not there.
func (w *items) dropReasoning() {
	for _, r := range w.reasoning {
		w.sheet.Drop(r.line.Index, r.part)
	}
	w.reasoning = nil
}

// native takes what only OpenAI can read: reasoning waits for the item behind it, a compaction stands for itself and is no such item.
func (w *items) native(p *conversation.Part) {
	item, kind := readOpaque(p)
	if kind == "" || !w.sheet.Native(w.line, p) {
		w.sheet.Drop(w.line.Index, p)
		return
	}
	if kind == "reasoning" {
		w.reasoning = append(w.reasoning, pendingReasoning{line: w.line, part: p, json: item})
		return
	}
	w.dropReasoning()
	w.item(kind, item, p.Tokens)
}

// Result writes a call's output.
func (writer) Result(s *provider.UnitWriter, l *provider.Line, r *conversation.ToolResult) {
	s.AddResult(l, r, "function_call_output", `{"type":"function_call_output","call_id":`, `,"output":`)
}
