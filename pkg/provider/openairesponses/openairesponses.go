// Package openairesponses writes contexts for OpenAI's Responses API, as input items.
package openairesponses

import (
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
)

// New returns the format: roles may stand in any order, and every block is an item.
func New() provider.Format {
	return provider.NewFormat(conversation.FormatOpenAIResponses, provider.Traits{
		Name: "openai-responses", Provider: "openai",
		TextPrefix: `{"type":"message","role":"user","content":[{"type":"input_text","text":`, TextSuffix: `}]}`,
		Residue: residueKeys(), Precedes: true,
		IDs: func(string) provider.IDForm { return provider.WordID },
		Request: provider.RequestShape{
			Instructions: "instructions", Messages: "input", CacheKey: "prompt_cache_key",
			Rest: `,"store":false,"include":["reasoning.encrypted_content"]`, // nothing is stored at OpenAI, so answers must include the reasoning
		},
	}, writer{})
}

type writer struct{}

// Takes reports true for images and PDF.
func (writer) Takes(m *conversation.Media) bool { return provider.IsImageOrPDF(m) }

// Text writes a message item of the system or the user.
func (writer) Text(s *provider.UnitWriter, l *provider.Line, contents []provider.Content) {
	role := provider.OpenAIRole(l, contents)
	s.Add(l, role, message(role, contents), provider.Weigh(contents))
}

func message(role string, contents []provider.Content) []byte {
	out := []byte(`{"type":"message","role":"` + role + `","content":`)
	return append(provider.AppendContents(out, contents, `{"type":"input_text","text":`, appendMedia), '}')
}

func appendMedia(dst []byte, c *provider.Content) []byte {
	m := c.Media
	switch {
	case c.Kept.Text("file_id") != "" && strings.HasPrefix(m.MIMEType, "image/"):
		return append(dst, c.Kept.Append([]byte(`{"type":"input_image","detail":"`+detail(c)+`"}`), '"', "file_id")...)
	case c.Kept.Text("file_id") != "":
		return append(dst, c.Kept.Append([]byte(`{"type":"input_file"}`), '"', "file_id", "filename")...)
	case c.Kept.Text("filename") != "":
		key := "file_url"
		if provider.HasData(m) {
			key = "file_data"
		}
		out := append(provider.AppendURL([]byte(`{"type":"input_file","`+key+`":`), m), '}')
		return append(dst, c.Kept.Append(out, '"', "filename")...)
	case provider.IsImage(m.MIMEType):
		dst = append(dst, `{"type":"input_image","image_url":`...)
		dst = provider.AppendURL(dst, m)
		dst = append(dst, `,"detail":"`+detail(c)+`"`...)
	case provider.HasData(m):
		dst = append(dst, `{"type":"input_file","filename":"document.pdf","file_data":`...)
		dst = provider.AppendURL(dst, m)
	default:
		dst = append(dst, `{"type":"input_file","file_url":`...)
		dst = provider.AppendURL(dst, m)
	}
	return append(dst, '}')
}

// detail returns how closely the model looks at an image. The published type requires a value; auto is the API's default.
func detail(c *provider.Content) string {
	switch {
	case c.Kept.Text("detail") == "original":
		return "original"
	case slices.Contains([]string{"low", "high"}, c.Media.Detail):
		return c.Media.Detail
	default:
		return "auto"
	}
}

// Assistant writes texts, calls and reasoning as separate items, in order.
func (writer) Assistant(s *provider.UnitWriter, turn []provider.Line) {
	w := items{unit: s, severed: s.Context.Severed}
	for i := range turn {
		w.take(&turn[i])
	}
	w.endTurn()
}

// endTurn drops reasoning that nothing follows, unless the model's next item is in the next unit, as it is if items are appended one by
// one.
func (w *items) endTurn() {
	w.unit.Ties().Thinks = len(w.reasoning) > 0
	if !w.unit.Context.Neighbors.GoesOn {
		w.dropReasoning()
		return
	}
	for _, r := range w.reasoning {
		w.unit.Add(r.line, "reasoning", r.json, r.part.Tokens)
	}
	w.reasoning = nil
}

func (w *items) take(l *provider.Line) {
	w.line, w.written, w.orphaned = l, false, w.severed
	for i := range l.Parts {
		p := &l.Parts[i]
		if kept := w.unit.Kept(p); p.Kind != conversation.PartText || kept["continues"] == nil {
			w.endMessage()
		}
		switch p.Kind {
		case conversation.PartText:
			if !w.unit.Blank(p.Text.Inline) {
				w.message = append(w.message, p)
			}
		case conversation.PartMedia:
			line, n := w.unit.MediaAsText(l.Index, p)
			w.text(line, n, nil)
		case conversation.PartToolCall:
			w.call(p)
		default:
			w.native(p)
		}
	}
	w.endMessage()
}

// items writes the items of a turn.
type items struct {
	unit      *provider.UnitWriter
	line      *provider.Line       // message that is being written
	written   bool                 // the message has an item already
	orphaned  bool                 // reasoning of the message was dropped: items after it have no id
	severed   bool                 // reasoning before the turn may have been dropped
	message   []*conversation.Part // texts of the message item that is being written
	reasoning []pendingReasoning   // waits for the next item
}

type pendingReasoning struct {
	line *provider.Line
	part *conversation.Part
	json []byte
}

// endMessage writes the texts of a message. They become the output message that they were, with the id that OpenAI gave it; without an id,
// which that form requires, each text becomes a message of its own.
func (w *items) endMessage() {
	texts := w.message
	if w.message = nil; len(texts) == 0 {
		return
	}
	first := w.unit.Kept(texts[0])
	if first.Object("item").Text("id") != "" && !w.orphaned {
		w.output(texts, first)
		return
	}
	for _, p := range texts {
		w.text(p.Text.Inline, p.Tokens, first)
	}
}

func (w *items) output(texts []*conversation.Part, first provider.Fields) {
	out, weight := []byte(`{"type":"message","role":"assistant","content":`), w.overhead()
	for i, p := range texts {
		kept, kind := w.unit.Kept(p), `{"type":"output_text","text":`
		if kept.Text("type") == "refusal" {
			kind = `{"type":"refusal","refusal":`
		}
		piece := provider.AppendField(nil, kind, p.Text.Inline)
		if kept.Text("type") != "refusal" && kept.Object("members")["annotations"] == nil {
			piece = append(piece, `,"annotations":[]`...)
		}
		piece = append(piece, '}')
		out = append(out, "[,"[min(i, 1)])
		out, weight = append(out, kept.AppendUnread(piece, "members")...), weight+p.Tokens
	}
	if out = append(out, "]}"...); first.Object("item").Text("status") != "" {
		out = first.AppendUnread(out, "item")
	} else {
		out = first.AppendUnread(out, "item", "status")
		out = append(out[:len(out)-1], `,"status":"completed"}`...)
	}
	w.item("assistant", out, weight)
}

// text writes a text as a message of its own, with a string as its content.
func (w *items) text(text string, weight int32, item provider.Fields) {
	out := provider.AppendField(nil, `{"type":"message","role":"assistant","content":`, text)
	out = append(out, '}')
	if kept := item.Object("item"); kept["id"] != nil { // it was a message of the model, whose other members go with its id
		out = kept.Append(out, '"', "phase")
	} else {
		out = item.AppendUnread(out, "item", "id", "status")
	}
	w.item("assistant", out, weight+w.overhead())
}

// overhead is the weight of a message besides its parts. If the message becomes several items, only the first carries it.
func (w *items) overhead() int32 {
	if w.written || len(w.reasoning) > 0 {
		return tokens.PerMessage
	}
	return 0
}

// item writes an item, after the reasoning that waits for it.
func (w *items) item(role string, json []byte, tokens int32) {
	for _, r := range w.reasoning {
		w.unit.Add(r.line, "reasoning", r.json, r.part.Tokens)
	}
	w.reasoning, w.written = nil, true
	w.unit.Add(w.line, role, json, tokens)
}

// dropReasoning drops reasoning whose item is missing.
func (w *items) dropReasoning() {
	for _, r := range w.reasoning {
		w.unit.Drop(r.line.Index, r.part)
		w.orphaned = true
	}
	w.reasoning = nil
}

// native writes what only OpenAI can read. Reasoning waits for the item behind it. A compaction needs no item behind it, and is no such
// item itself.
func (w *items) native(p *conversation.Part) {
	item, kind := readOpaque(p)
	if kind == "" || !w.unit.Native(w.line, p) {
		w.unit.Drop(w.line.Index, p)
		w.orphaned = w.orphaned || p.Kind == conversation.PartOpaque
		return
	}
	if kind == "reasoning" {
		w.orphaned, w.severed = false, false
		w.reasoning = append(w.reasoning, pendingReasoning{line: w.line, part: p, json: item})
		return
	}
	if kind == "compaction" {
		w.dropReasoning()
	}
	w.item(kind, item, p.Tokens)
}
