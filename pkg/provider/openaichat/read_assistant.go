package openaichat

import (
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// readAssistant reads reasoning, content, and calls.
func readAssistant(r *provider.Reading, o *provider.Object) []conversation.Part {
	m := assistant{reading: r, message: o, read: []string{
		"refusal", "audio", "tool_calls", "function_call", provider.ThinkingChunk,
	}}
	m.think()
	m.say()
	if old := o.Get("function_call"); !old.Missing() { // the form of calls before tool_calls existed
		m.call(r.Object(old), "", nil)
	}
	for _, n := range r.List(o.Get("tool_calls")) {
		m.toolCall(r.Object(n))
	}
	return withMessage(r, m.parts, m.beside())
}

// assistant is an assistant message that is being read.
type assistant struct {
	reading *provider.Reading
	message *provider.Object
	parts   []conversation.Part
	calls   int
	read    []string // the members that have code of their own
}

// think reads reasoning that is a text. It also keeps which members held it, because routers send it in two.
func (m *assistant) think() {
	var text string
	var as []string
	for _, key := range append(provider.ReasoningMembers(), provider.ThinkingChunk) {
		n := m.message.Get(key)
		if said := n.Is('"') && n.JSON != `""`; !said || as != nil && m.reading.Text(n) != text {
			continue
		}
		text, m.read = m.reading.Text(n), append(m.read, key)
		if key == provider.ThinkingChunk { // Ollama's own name
			key = provider.ReasoningPlain
		}
		if !slices.Contains(as, key) {
			as = append(as, key)
		}
	}
	if p, ok := m.reading.Reasoning("openai", text, ""); ok {
		m.parts = append(m.parts, m.reading.WithResidue(p, "openai", provider.Members{list("as", as)}))
	}
}

// list returns a member whose value is a list of texts.
func list(key string, texts []string) provider.Member {
	var out []byte
	for i, text := range texts {
		out = provider.AppendString(append(out, "[,"[min(i, 1)]), text)
	}
	return provider.Member{Key: key, JSON: string(append(out, ']'))}
}

// say reads the content, as text or audio.
func (m *assistant) say() {
	r, o := m.reading, m.message
	before := len(m.parts)
	if content := o.Get("content"); !content.Missing() {
		m.parts = append(m.parts, r.Content(content, readSaid)...)
	}
	if refusal := o.Get("refusal"); !refusal.Missing() {
		m.parts = append(m.parts, readRefusal(r, refusal))
	}
	if audio := o.Get("audio"); !audio.Missing() {
		m.parts = append(m.parts, readSpeech(r, r.Object(audio)))
	}
	isText := func(p conversation.Part) bool { return p.Kind == conversation.PartText && p.Text.Inline != "" }
	at := slices.IndexFunc(m.parts[before:], isText)
	signature, alone := signatureOf(r, o.Get(provider.ExtraContent))
	if p, ok := readSignature(r, signature); ok && at >= 0 {
		m.parts = slices.Insert(m.parts, before+at, p)
		if alone {
			m.read = append(m.read, provider.ExtraContent)
		}
	}
}

// readSaid reads a piece of the assistant's content. With Mistral's models, reasoning and references are pieces too.
func readSaid(r *provider.Reading, o *provider.Object) (p conversation.Part, ok bool) {
	kind := o.Get("type")
	text := r.Text(kind)
	if !isChunk(text) {
		return readPiece(r, o)
	}
	if text == provider.ThinkingChunk && r.Request.Aborted && !o.Has("signature") {
		return p, false
	}
	return provider.Opaque("openai", r.Block(rewriting(), o.Node)), true
}

// isChunk reports whether a piece of content is one that only Mistral has.
func isChunk(kind string) bool {
	return slices.Contains([]string{provider.ThinkingChunk, "reference", "tool_reference"}, kind)
}

// readSpeech reads audio of the model: its transcript, and the id by which OpenAI takes the audio back.
func readSpeech(r *provider.Reading, o *provider.Object) conversation.Part {
	var id provider.Members
	r.Required(o.Get("id"), 512)
	id.Add(o.Get("id"))
	return r.WithResidue(provider.Text(r.Text(o.Get("transcript"))), "openai", provider.Members{{Key: "audio", JSON: id.JSON()}})
}

func (m *assistant) toolCall(o *provider.Object) {
	r, kind := m.reading, o.Get("type")
	id := ""
	if n := o.Get("id"); r.Text(n) != "" {
		id = r.CallID(n)
	}
	switch text := r.Text(kind); text {
	case "", "function":
		m.call(r.Object(o.Get("function")), id, o)
	case "custom":
		custom := r.Object(o.Get("custom"))
		var kept provider.Members
		kept.AddString("type", "custom")
		kept.Unread(rewriting(), "part", o, "id", "index", "type", text)
		kept.Unread(rewriting(), "inner", custom, "name", "input")
		m.calls++
		p, ok := r.CallOfText(m.id(id), r.ToolName(custom.Get("name")), r.Text(custom.Get("input")))
		m.add(r.WithResidue(p, "openai", kept), ok)
	default:
		r.Fail(&kind, "must be function or custom")
	}
}

// id returns the id of a call, or one made from its position: some servers give none.
func (m *assistant) id(id string) string {
	if id == "" {
		return provider.GeneratedID(m.calls - 1)
	}
	return id
}

// call reads the call of a function. It drops index, the position in a stream, which only answers have.
func (m *assistant) call(f *provider.Object, id string, around *provider.Object) {
	r := m.reading
	var kept provider.Members
	signature := ""
	if around != nil {
		read := []string{"id", "index", "type", "function"}
		var alone bool
		if signature, alone = signatureOf(r, around.Get(provider.ExtraContent)); alone {
			read = append(read, provider.ExtraContent)
		}
		kept.Unread(rewriting(), "part", around, read...)
	}
	kept.Unread(rewriting(), "inner", f, "name", "arguments")
	m.calls++
	p, ok := r.Call(m.id(id), r.ToolName(f.Get("name")), r.Arguments(f.Get("arguments")))
	sign, signed := readSignature(r, signature)
	m.add(sign, signed && ok)
	m.add(r.WithResidue(p, "openai", kept), ok)
}

func (m *assistant) add(p conversation.Part, ok bool) {
	if ok {
		m.parts = append(m.parts, p)
	}
}

// readSignature makes a part from a Gemini signature. As in Gemini's own API, it comes before what it signs.
func readSignature(r *provider.Reading, signature string) (conversation.Part, bool) {
	p, ok := r.Reasoning("gemini", "", signature)
	return r.WithResidue(p, "openai", provider.Members{list("as", []string{provider.ExtraContent})}), ok
}

// signatureOf returns the Gemini signature in extra_content, and whether that is all it holds.
func signatureOf(r *provider.Reading, n provider.Node) (signature string, alone bool) {
	if !n.Is('{') {
		return "", false
	}
	extra := r.Object(n)
	if n = extra.Get("google"); !n.Is('{') {
		return "", false
	}
	google := r.Object(n)
	if n = google.Get("thought_signature"); !n.Is('"') || n.JSON == `""` {
		return "", false
	}
	return r.Text(n), extra.Len() == 1 && google.Len() == 1
}

// beside keeps other members of a message, and the names of members that came as empty texts: a model answers so if it did not think.
func (m *assistant) beside() (kept provider.Members) {
	var empty []string
	for _, key := range append(provider.ReasoningMembers()[:2], "content") {
		if n := m.message.Get(key); strings.Trim(n.JSON, "\"") == "" && !n.Missing() {
			m.read, empty = append(m.read, key), append(empty, key)
		}
	}
	if empty != nil {
		kept = append(kept, list("empty", empty))
	}
	return append(kept, unread(m.message, append(m.read, unsaid(m.message)...)...)...)
}

// unsaid lists members that only answers have. Among them are citations, whose published type no request has. The exception is files that a
// router has parsed and wants back (openrouter.ai/docs/guides/overview/multimodal/pdfs, read 2026-11-26).
func unsaid(o *provider.Object) []string {
	if n := o.Get("annotations"); strings.Contains(n.JSON, `"file"`) {
		return nil
	}
	return []string{"annotations"}
}
