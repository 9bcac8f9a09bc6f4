package openaichat

import (
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// NewReader returns the reader of chat completions, and of requests for them.
func NewReader() provider.Reader {
	return provider.NewReader(conversation.FormatOpenAIChat, false, dialect{})
}

type dialect struct{}

// IsResponse reports whether an object has choices or is an answer of Ollama: a single message that is done.
func (dialect) IsResponse(o *provider.Object) bool { return o.Has("choices") || isNative(o) }

func isNative(o *provider.Object) bool { return o.Has("message") && o.Has("done") }

// Response reads the only choice.
func (dialect) Response(r *provider.Reading, o *provider.Object) provider.Node {
	r.SetModel(o.Get("model"))
	if isNative(o) {
		readMessage(r, r.Object(o.Get("message")), true)
		return o.Node // the answer itself holds the counts
	}
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

// System reads nothing: system messages are elements of the list.
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
		parts := append(r.RequiredContent(o.Get("content"), readPiece), readImages(r, o.Get("images"))...)
		r.Add(o.Node, conversation.RoleUser, r.Name(o.Get("name")), withMessage(r, parts, unread(o, "images")))
	case text == "system":
		r.Add(o.Node, conversation.RoleSystem, r.Name(o.Get("name")), withMessage(r, readTexts(r, o.Get("content")), unread(o)))
	case text == "developer":
		parts := r.Developer(readTexts(r, o.Get("content")))
		r.Add(o.Node, conversation.RoleSystem, r.Name(o.Get("name")), withMessage(r, parts, unread(o)))
	case text == "tool", text == "function":
		readResult(r, o)
	case role.Missing() && readBare(r, o):
	default:
		r.Fail(&role, "must be system, developer, user, assistant, tool or function")
	}
}

// rewriting says how unknown members are kept: as they are, but without nulls, cache marks, and log probabilities.
func rewriting() *provider.Rewriting {
	return &provider.Rewriting{Drop: []string{"logprobs", "parsed", "parsed_arguments", "cache_control", "prompt_cache_breakpoint"}, Top: true}
}

// unread keeps the members of a message that nothing else reads.
func unread(o *provider.Object, read ...string) (kept provider.Members) {
	kept.Unread(rewriting(), "message", o, append(read, "role", "content", "name")...)
	return kept
}

// withMessage keeps the members of a message with its first part.
func withMessage(r *provider.Reading, parts []conversation.Part, kept provider.Members) []conversation.Part {
	at := slices.IndexFunc(parts, func(p conversation.Part) bool { return p.Kind != conversation.PartText || p.Text.Inline != "" })
	if at >= 0 && len(kept) > 0 {
		parts[at] = r.MoreResidue(parts[at], "openai", kept)
	}
	return parts
}

// readTexts reads content that must consist of texts.
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
	switch text := r.Text(kind); text {
	case "text":
		return readWords(r, o, text), true
	case "refusal":
		return readWords(r, o, text), true
	case "image_url":
		return readImage(r, o), true
	case "input_audio":
		return readAudio(r, o), true
	case "file":
		return readFile(r, o), true
	}
	r.Fail(&kind, "must be text, refusal, image_url, input_audio or file")
	return p, false
}

// readWords reads a text or a refusal.
func readWords(r *provider.Reading, o *provider.Object, kind string) conversation.Part {
	var kept provider.Members
	kept.Unread(rewriting(), "part", o, "type", kind)
	if kind == "refusal" {
		return r.MoreResidue(readRefusal(r, o.Get(kind)), "openai", kept)
	}
	return r.WithResidue(provider.Text(r.Text(o.Get(kind))), "openai", kept)
}

func readRefusal(r *provider.Reading, n provider.Node) conversation.Part {
	var kept provider.Members
	kept.AddString("type", "refusal")
	return r.WithResidue(provider.Text(r.Text(n)), "openai", kept)
}

// besideMedia keeps the members of a media piece that nothing else reads, next to its object and inside it.
func besideMedia(piece, inner *provider.Object, read ...string) (kept provider.Members) {
	kept.Unread(rewriting(), "part", piece, "type", inner.Node.Key())
	kept.Unread(rewriting(), "inner", inner, read...)
	return kept
}

func readImage(r *provider.Reading, o *provider.Object) conversation.Part {
	n := o.Get("image_url")
	if n.Is('"') { // some servers accept this form
		return r.Media(n, provider.ImageType(r.Text(n)))
	}
	image := r.Object(n)
	url := image.Get("url")
	p := r.Media(url, provider.ImageType(r.Text(url)))
	p.Media.Detail = r.Optional(image.Get("detail"), 64)
	return r.WithResidue(p, "openai", besideMedia(o, image, "url", "detail"))
}

// readImages reads images in the form of Ollama, which has them next to the content in base64. The first bytes tell the type.
func readImages(r *provider.Reading, n provider.Node) (parts []conversation.Part) {
	for _, image := range r.List(n) {
		mime, text := "image/jpeg", r.Text(image)
		for begin, kind := range map[string]string{"iVBORw0KGgo": "image/png", "R0lGOD": "image/gif", "UklGR": "image/webp"} {
			if strings.HasPrefix(text, begin) {
				mime = kind
			}
		}
		parts = append(parts, r.InlineMedia(image, mime))
	}
	return parts
}

func readAudio(r *provider.Reading, o *provider.Object) conversation.Part {
	audio := r.Object(o.Get("input_audio"))
	mime := "audio/wav"
	if format := audio.Get("format"); r.Text(format) == "mp3" {
		mime = "audio/mpeg"
	}
	return r.WithResidue(r.InlineMedia(audio.Get("data"), mime), "openai", besideMedia(o, audio, "data", "format"))
}

// readFile reads a file: its bytes, or the id under which OpenAI keeps it.
func readFile(r *provider.Reading, o *provider.Object) conversation.Part {
	file := r.Object(o.Get("file"))
	kept := besideMedia(o, file, "filename", "file_id", "file_data")
	kept.AddText(r, file.Get("filename"))
	if id := file.Get("file_id"); !id.Missing() {
		kept.AddText(r, id)
		return r.WithResidue(r.StoredFile(id, provider.PDF), "openai", kept)
	}
	data := file.Get("file_data")
	p := r.Media(data, provider.PDF)
	if !strings.HasPrefix(r.Text(data), "data:") {
		p = r.InlineMedia(data, provider.PDF)
	}
	return r.WithResidue(p, "openai", kept)
}

// readResult reads a tool's answer: nothing, a text, pieces of text, or JSON in place of a text.
func readResult(r *provider.Reading, o *provider.Object) {
	result := r.Result("", "")
	name := o.Get("tool_name") // Ollama's
	if name.Missing() {
		name = o.Get("name")
	}
	result.Name = r.Optional(name, 256)
	id := o.Get("tool_call_id")
	switch {
	case r.Text(id) != "":
		result.CallID = r.Answered(r.CallID(id))
	case result.Name != "":
		result.CallID = r.AnsweredCall(result.Name, "")
	default:
		r.Fail(&id, "is required, or the tool's name")
	}
	kept := unread(o, "tool_call_id", "tool_name")
	if result.Name != "" {
		kept = append(kept, provider.Member{Key: "named", JSON: "true"})
	}
	switch content := o.Get("content"); {
	case content.Missing():
	case !content.Is('"') && !content.Is('['):
		result.Output, result.Text.Inline = conversation.OutputJSON, strings.Clone(content.JSON)
	default:
		parts := r.Content(content, readPiece)
		r.SetOutput(content, &result, parts)
		if whole := slices.ContainsFunc(parts, hasMore); whole || len(parts) > 1 {
			kept = append(kept, provider.Member{Key: "content", JSON: pieces(r, content, whole)})
		}
	}
	r.Add(o.Node, conversation.RoleTool, "", []conversation.Part{r.WithResidue(provider.ResultPart(result), "openai", kept)})
}

func hasMore(p conversation.Part) bool { return p.Residue != nil }

// pieces returns the list of a result's pieces if it holds more than the result does; empty otherwise.
func pieces(r *provider.Reading, list provider.Node, whole bool) string {
	if !whole {
		return "[]"
	}
	var out []byte
	for i, piece := range r.List(list) {
		out = append(append(out, "[,"[min(i, 1)]), r.Block(rewriting(), piece)...)
	}
	return string(append(out, ']'))
}
