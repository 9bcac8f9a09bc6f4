package openaichat

import (
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// NewReader returns the reader of chat completions and of what is sent to them.
func NewReader() provider.Reader {
	return provider.NewReader(conversation.FormatOpenAIChat, false, dialect{})
}

type dialect struct{}

// IsResponse reports whether an object has choices.
func (dialect) IsResponse(o *provider.Object) bool { return o.Has("choices") }

// Response reads the one choice.
func (dialect) Response(r *provider.Reading, o *provider.Object) provider.Node {
	r.SetModel(o.Get("model"))
	choices := r.List(o.Get("choices"))
	if len(choices) > 1 {
		n := o.Get("choices")
		r.Fail(&n, "must hold one choice")
		return provider.Node{}
	}
	for i := range choices {
		choice := r.Object(choices[i])
		if choice.Has("delta") {
			r.Streamed(choice.Node)
			continue
		}
		readMessage(r, r.Object(choice.Get("message")), true)
	}
	return o.Get("usage")
}

// List returns the messages of a request.
func (dialect) List(o *provider.Object) provider.Node { return o.Get("messages") }

// System reads nothing: system messages stand among the others.
func (dialect) System(*provider.Reading, *provider.Object) {}

// Element reads a message.
func (dialect) Element(r *provider.Reading, n provider.Node) { readMessage(r, r.Object(n), false) }

func readMessage(r *provider.Reading, o *provider.Object, answer bool) {
	role := o.Get("role")
	switch text := r.Text(role); {
	case text == "assistant", answer && role.Missing():
		r.Add(o.Node, conversation.RoleAssistant, r.Name(o.Get("name")), readAssistant(r, o))
	case answer:
		r.Fail(&role, "must be assistant in an answer")
	case text == "user":
		r.Add(o.Node, conversation.RoleUser, r.Name(o.Get("name")), r.RequiredContent(o.Get("content"), readPiece))
	case text == "system":
		r.Add(o.Node, conversation.RoleSystem, r.Name(o.Get("name")), readTexts(r, o.Get("content")))
	case text == "developer":
		r.Add(o.Node, conversation.RoleSystem, r.Name(o.Get("name")), r.Developer(readTexts(r, o.Get("content"))))
	case text == "tool":
		readResult(r, o)
	case role.Missing() && readBare(r, o):
	default:
		r.Fail(&role, "must be system, developer, user, assistant or tool")
	}
}

// readTexts reads content of text alone.
func readTexts(r *provider.Reading, n provider.Node) []conversation.Part {
	parts := r.RequiredContent(n, readPiece)
	for i := range parts {
		if parts[i].Kind != conversation.PartText {
			r.Fail(&n, "must hold text alone")
			return nil
		}
	}
	return parts
}

func readPiece(r *provider.Reading, o *provider.Object) (p conversation.Part, ok bool) {
	kind := o.Get("type")
	switch r.Text(kind) {
	case "text":
		return provider.Text(r.Text(o.Get("text"))), true
	case "refusal":
		return readRefusal(r, o.Get("refusal")), true
	case "image_url":
		return readImage(r, o), true
	case "input_audio":
		return readAudio(r, r.Object(o.Get("input_audio"))), true
	case "file":
		return readFile(r, r.Object(o.Get("file"))), true
	}
	r.Fail(&kind, "must be text, refusal, image_url, input_audio or file")
	return p, false
}

func readRefusal(r *provider.Reading, n provider.Node) conversation.Part {
	var kept provider.Members
	kept.AddString("type", "refusal")
	return r.WithResidue(provider.Text(r.Text(n)), "openai", kept)
}

func readImage(r *provider.Reading, o *provider.Object) conversation.Part {
	n := o.Get("image_url")
	if n.Is('"') { // as some servers take it
		return r.Media(n, provider.ImageType(r.Text(n)))
	}
	image := r.Object(n)
	url := image.Get("url")
	p := r.Media(url, provider.ImageType(r.Text(url)))
	p.Media.Detail = r.Optional(image.Get("detail"), 64)
	return p
}

func readAudio(r *provider.Reading, o *provider.Object) conversation.Part {
	mime := "audio/wav"
	if format := o.Get("format"); r.Text(format) == "mp3" {
		mime = "audio/mpeg"
	}
	return r.InlineMedia(o.Get("data"), mime)
}

// readFile reads a file: its bytes, or the id under which OpenAI keeps it.
func readFile(r *provider.Reading, o *provider.Object) conversation.Part {
	var kept provider.Members
	kept.AddText(r, o.Get("filename"))
	if id := o.Get("file_id"); !id.Missing() {
		kept.AddText(r, id)
		return r.WithResidue(r.StoredFile(id, provider.PDF), "openai", kept)
	}
	data := o.Get("file_data")
	p := r.Media(data, provider.PDF)
	if !strings.HasPrefix(r.Text(data), "data:") {
		p = r.InlineMedia(data, provider.PDF)
	}
	return r.WithResidue(p, "openai", kept)
}

// readAssistant reads reasoning, what is said, and calls.
func readAssistant(r *provider.Reading, o *provider.Object) (parts []conversation.Part) {
	reasoning := o.Get("reasoning_content") // DeepSeek's name and others'; OpenAI gives none here
	if reasoning.Missing() {
		reasoning = o.Get("reasoning")
	}
	if reasoning.Is('"') {
		if p, ok := r.Reasoning("openai", r.Text(reasoning), ""); ok {
			parts = append(parts, p)
		}
	}
	if content := o.Get("content"); !content.Missing() {
		parts = append(parts, r.RequiredContent(content, readPiece)...)
	}
	if refusal := o.Get("refusal"); !refusal.Missing() {
		parts = append(parts, readRefusal(r, refusal))
	}
	if audio := o.Get("audio"); !audio.Missing() {
		parts = append(parts, readSpeech(r, r.Object(audio)))
	}
	if old := o.Get("function_call"); !old.Missing() {
		r.Fail(&old, "is not supported: tools are called by tool_calls")
	}
	for _, n := range r.List(o.Get("tool_calls")) {
		if p, ok := readCall(r, r.Object(n)); ok {
			parts = append(parts, p)
		}
	}
	return parts
}

// readSpeech reads what the model said aloud: its words, which OpenAI gets back by the id of the audio.
func readSpeech(r *provider.Reading, o *provider.Object) conversation.Part {
	var id provider.Members
	r.Required(o.Get("id"), 512)
	id.Add(o.Get("id"))
	return r.WithResidue(provider.Text(r.Text(o.Get("transcript"))), "openai", provider.Members{{Key: "audio", JSON: id.JSON()}})
}

func readCall(r *provider.Reading, o *provider.Object) (conversation.Part, bool) {
	id, kind := r.CallID(o.Get("id")), o.Get("type")
	switch r.Text(kind) {
	case "", "function":
		f := r.Object(o.Get("function"))
		return r.Call(id, r.ToolName(f.Get("name")), r.Arguments(f.Get("arguments")))
	case "custom":
		custom := r.Object(o.Get("custom"))
		var kept provider.Members
		kept.AddString("type", "custom")
		p, ok := r.CallOfText(id, r.ToolName(custom.Get("name")), r.Text(custom.Get("input")))
		return r.WithResidue(p, "openai", kept), ok
	}
	r.Fail(&kind, "must be function or custom")
	return conversation.Part{}, false
}

func readResult(r *provider.Reading, o *provider.Object) {
	result := r.Result(r.CallID(o.Get("tool_call_id")), "")
	result.Name = r.Optional(o.Get("name"), 256)
	parts := r.RequiredContent(o.Get("content"), readPiece)
	r.SetOutput(o.Get("content"), &result, parts)
	p := provider.ResultPart(result)
	if len(parts) > 1 {
		p = r.WithResidue(p, "openai", provider.Members{{Key: "content", JSON: "[]"}})
	}
	r.Add(o.Node, conversation.RoleTool, "", []conversation.Part{p})
}
