package openaichat

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// Assistant writes texts, calls and reasoning as one message.
func (writer) Assistant(s *provider.UnitWriter, turn []provider.Line) {
	m := assistantTurn{unit: s, dialect: provider.ChatDialectOf(s.Context.Model)}
	for i := range turn {
		m.take(&turn[i])
	}
	if m.standAlone() == 0 {
		m.drop(append(m.thoughts, m.signature)...)
		return
	}
	m.drop(m.signature)
	out := m.message(appendRole(s, turn[0].Index, "assistant", m.name))
	s.Add(&turn[0], "assistant", out, m.tokens)
}

// assistantTurn collects the assistant's text and calls of a turn.
type assistantTurn struct {
	unit      *provider.UnitWriter
	dialect   provider.ChatDialect
	name      string // name of the speaker; empty if there are several
	pieces    []piece
	chunks    int    // number of pieces that are reasoning
	audio     []byte // id of what was said aloud
	calls     []byte
	reasoning provider.Members // members that hold reasoning as texts
	thoughts  []thought        // thoughts that are lost if the message has nothing else
	signature thought          // Gemini's signature for the next part
	signed    string           // signature of the text
	kept      []provider.Fields
	tokens    int32
}

// piece is one piece of the content.
type piece struct {
	text    string
	refusal bool
	json    []byte // as it is written in a list
	bare    bool   // a text without other members
}

// thought is a part that cannot stand alone.
type thought struct {
	line *provider.Line
	part *conversation.Part
}

// standAlone is the number of pieces, without reasoning, plus the sizes of calls and audio; 0 if there is nothing that can stand
// alone.
func (m *assistantTurn) standAlone() int {
	return len(m.pieces) - m.chunks + len(m.calls) + len(m.audio)
}

func (m *assistantTurn) drop(thoughts ...thought) {
	for _, t := range thoughts {
		if t.part != nil {
			m.unit.Drop(t.line.Index, t.part)
		}
	}
}

func (m *assistantTurn) take(l *provider.Line) {
	before, thoughts := m.standAlone(), len(m.thoughts)
	tokens := int32(0)
	for i := range l.Parts {
		p := &l.Parts[i]
		if kept := m.unit.Kept(p); kept["message"] != nil || kept["empty"] != nil {
			m.kept = append(m.kept, m.withoutRefused(l, kept))
		}
		tokens += m.part(l, p)
	}
	if m.standAlone() > before {
		if before == 0 {
			m.name = l.Name
		} else if m.name != l.Name {
			m.name = ""
		}
	}
	if m.standAlone() > before || len(m.thoughts) > thoughts {
		m.tokens += m.unit.Charge(l, tokens)
	}
}

// withoutRefused returns a message's kept members without those that the API refuses.
func (m *assistantTurn) withoutRefused(l *provider.Line, kept provider.Fields) provider.Fields {
	message := kept.Object("message")
	for key := range message {
		if m.dialect.Refuses(key) {
			m.unit.Repair(l.Index, conversation.ReasonResidueDropped, 0)
			return provider.Fields{"message": message.Without(m.dialect.Refuses), "empty": kept["empty"]}
		}
	}
	return kept
}

// part adds a part, and returns its weight.
func (m *assistantTurn) part(l *provider.Line, p *conversation.Part) (tokens int32) {
	switch p.Kind {
	case conversation.PartText:
		return m.say(p)
	case conversation.PartMedia:
		line, n := m.unit.MediaAsText(l.Index, p)
		m.words(line, nil)
		return n
	case conversation.PartToolCall:
		return m.call(l.Index, p)
	case conversation.PartOpaque:
		if fields := provider.ReadFields(p.Opaque.JSON.Inline); m.unit.Native(l, p) && isChunk(fields.Text("type")) && isWhole(fields) {
			m.pieces = append(m.pieces, piece{json: []byte(p.Opaque.JSON.Inline)})
			m.chunks++
			m.thoughts = append(m.thoughts, thought{l, p})
			return p.Tokens
		}
	case conversation.PartReasoning:
		if m.isSignature(l, p) {
			m.drop(m.signature)
			m.signature = thought{l, p}
			return 0
		}
		if m.think(l, p) {
			return p.Tokens
		}
	}
	m.unit.Drop(l.Index, p)
	return 0
}

// isWhole reports whether a chunk of a Mistral model has everything that its type requires.
func isWhole(chunk provider.Fields) bool {
	switch chunk.Text("type") {
	case provider.ThinkingChunk:
		return chunk.Is("thinking", '[')
	case "reference":
		return chunk.Is("reference_ids", '[')
	default:
		return true
	}
}

// isOwn reports whether reasoning comes from the model that is called.
func (m *assistantTurn) isOwn(l *provider.Line, r *conversation.Reasoning) bool {
	if r.Model != "" {
		return provider.SameModel(m.unit.Context.Model, r.Model)
	}
	return provider.SameModel(m.unit.Context.Model, l.Model)
}

// isSignature reports whether reasoning is a Gemini signature for the part that follows.
func (m *assistantTurn) isSignature(l *provider.Line, p *conversation.Part) bool {
	r := p.Reasoning
	return r.Provider == "gemini" && r.Text.Inline == "" && r.Signature.Inline != "" && m.isOwn(l, r) &&
		(m.dialect.Signs || slices.Contains(m.unit.Kept(p).Texts("as"), provider.ExtraContent))
}

// think adds reasoning of the model that is called, in the members in which it came.
func (m *assistantTurn) think(l *provider.Line, p *conversation.Part) bool {
	r := p.Reasoning
	if r.Provider != "openai" || r.Text.Inline == "" || !m.isOwn(l, r) {
		return false
	}
	as := m.unit.Kept(p).Texts("as")
	if len(as) == 0 && m.dialect.Needs != provider.ReasoningFree {
		as = []string{provider.ReasoningContent}
	}
	took := false
	for _, key := range reasoningTexts() {
		if !slices.Contains(as, key) || m.dialect.Refuses(key) {
			continue
		}
		if m.reason(key, r.Text.Inline); took { // the record counts it once
			m.tokens += p.Tokens
		}
		took = true
	}
	if took {
		m.thoughts = append(m.thoughts, thought{l, p})
	}
	return took
}

// reasoningTexts are the members of a message that hold reasoning as a text.
func reasoningTexts() []string { return provider.ReasoningMembers()[:2] }

// reason adds a text to a member, behind the text of earlier messages of the turn.
func (m *assistantTurn) reason(key, text string) {
	for i := range m.reasoning {
		if m.reasoning[i].Key == key {
			m.reasoning[i].JSON += "\n" + text
			m.tokens += 1 + m.unit.Count(text[:min(len(text), 8)])
			return
		}
	}
	m.reasoning = append(m.reasoning, provider.Member{Key: key, JSON: text})
}

// say adds a text, and returns its weight.
func (m *assistantTurn) say(p *conversation.Part) int32 {
	kept := m.unit.Kept(p)
	audio := kept.Object("audio")
	switch {
	case m.audio == nil && audio.Text("id") != "" && audio.Only("id"):
		m.audio = kept["audio"]
	case m.unit.Blank(p.Text.Inline):
		return 0
	default:
		m.words(p.Text.Inline, kept)
	}
	return p.Tokens + m.sign(&m.signed)
}

func (m *assistantTurn) words(text string, kept provider.Fields) {
	kind := "text"
	if kept.Text("type") == "refusal" && !m.dialect.Refuses("refusal") {
		kind = "refusal"
	}
	json := append(provider.AppendField([]byte(`{"type":"`+kind+`","`+kind+`":`), "", text), '}')
	json = kept.AppendUnread(json, "part", "type", "text", "refusal", "image_url", "input_audio", "file")
	m.pieces = append(m.pieces, piece{text: text, refusal: kind == "refusal", json: json, bare: kept["part"] == nil})
}

// sign gives the waiting signature to what follows it, and returns its weight.
func (m *assistantTurn) sign(signed *string) (tokens int32) {
	p := m.signature.part
	if p == nil || *signed != "" {
		return 0
	}
	*signed, m.signature.part = p.Reasoning.Signature.Inline, nil
	return p.Tokens
}

// call writes a call behind the others, and returns its weight.
func (m *assistantTurn) call(index int32, p *conversation.Part) int32 {
	s, kept := m.unit, m.unit.Kept(p)
	first := len(m.calls) == 0
	m.calls = append(m.calls, "[,"[min(len(m.calls), 1)])
	head := s.AppendCallID([]byte(`{"id":`), p.Call)
	if kept.Text("type") == "custom" {
		name, more := s.ToolName(index, p.Call.Name, provider.CleanName)
		custom := provider.AppendField([]byte(`{"name":`), "", name)
		custom = append(provider.AppendField(custom, `,"input":`, p.Call.Arguments.Inline), '}')
		head = append(head, `,"type":"custom","custom":`...)
		head = append(append(head, kept.AppendUnread(custom, "inner", "name", "input")...), '}')
		m.calls = append(m.calls, kept.AppendUnread(head, "part", "id", "type", "function", "custom")...)
		return p.Tokens + more
	}
	name, arguments, tokens := s.Call(index, p, provider.CleanName, provider.IsJSON)
	function := provider.AppendField([]byte(`{"name":`), "", name)
	function = append(provider.AppendField(function, `,"arguments":`, arguments), '}')
	head = append(head, `,"type":"function","function":`...)
	head = append(append(head, kept.AppendUnread(function, "inner", "name", "arguments")...), '}')
	head = kept.AppendUnread(head, "part", "id", "type", "function", "custom")
	signature := ""
	if tokens += m.sign(&signature); signature == "" && first && m.dialect.NeedsSignature {
		signature = provider.SkippedSignature
		tokens += s.Count(signature)
	}
	if signature != "" && kept.Object("part")[provider.ExtraContent] == nil {
		head = appendSignature(head, signature)
	}
	m.calls = append(m.calls, head...)
	return tokens
}

// appendSignature adds a Gemini signature to an object.
func appendSignature(object []byte, signature string) []byte {
	object = provider.AppendField(object[:len(object)-1], `,"`+provider.ExtraContent+`":{"google":{"thought_signature":`, signature)
	return append(object, "}}}"...)
}

// message completes a message. A refusal that is the only piece becomes the message's refusal.
func (m *assistantTurn) message(out []byte) []byte {
	out = m.appendContent(out)
	for _, r := range m.reasoning {
		out = provider.AppendField(out, `,"`+r.Key+`":`, r.JSON)
	}
	if m.audio != nil {
		out = append(append(out, `,"audio":`...), m.audio...)
	}
	if m.calls != nil {
		out = append(append(append(out, `,"tool_calls":`...), m.calls...), ']')
	}
	out = append(out, '}')
	for _, kept := range m.kept {
		out = kept.AppendUnread(out, "message", provider.ChatMembers()...)
	}
	if m.signed != "" && !m.keeps(provider.ExtraContent) {
		out = appendSignature(out, m.signed)
	}
	return m.withReasoning(out)
}

// appendContent writes the content. An empty text that came with calls stays an empty text, because some servers refuse null.
func (m *assistantTurn) appendContent(out []byte) []byte {
	switch {
	case len(m.pieces) == 0 && m.cameEmpty("content"):
		return append(out, `""`...)
	case len(m.pieces) == 0:
		return append(out, "null"...)
	case len(m.pieces) == 1 && m.pieces[0].refusal && m.pieces[0].bare:
		return provider.AppendField(out, `null,"refusal":`, m.pieces[0].text)
	case len(m.pieces) == 1 && m.pieces[0].bare:
		return provider.AppendString(out, m.pieces[0].text)
	}
	for i := range m.pieces {
		out = append(append(out, "[,"[min(i, 1)]), m.pieces[i].json...)
	}
	return append(out, ']')
}

func (m *assistantTurn) cameEmpty(key string) bool {
	return slices.ContainsFunc(m.kept, func(f provider.Fields) bool { return slices.Contains(f.Texts("empty"), key) })
}

// keeps reports whether the kept members of the message include a key.
func (m *assistantTurn) keeps(key string) bool {
	return slices.ContainsFunc(m.kept, func(f provider.Fields) bool { return f.Object("message")[key] != nil })
}

func (m *assistantTurn) reasons(key string) bool {
	return slices.ContainsFunc(m.reasoning, func(r provider.Member) bool { return r.Key == key }) || m.keeps(key)
}

// withReasoning adds to a message without reasoning the text that the API requires there, or the empty one that it came with.
func (m *assistantTurn) withReasoning(message []byte) []byte {
	needs := m.dialect.Needs == provider.ReasoningOnAll || m.dialect.Needs == provider.ReasoningOnCalls && m.calls != nil
	if needs && !slices.ContainsFunc(provider.ReasoningMembers(), m.reasons) {
		m.tokens += m.unit.Count(m.dialect.Missing)
		message = provider.AppendField(message[:len(message)-1], `,"`+provider.ReasoningContent+`":`, m.dialect.Missing)
		return append(message, '}')
	}
	for _, key := range reasoningTexts() {
		if m.cameEmpty(key) && !m.reasons(key) && !m.dialect.Refuses(key) {
			message = append(message[:len(message)-1], `,"`+key+`":""}`...)
		}
	}
	return message
}
