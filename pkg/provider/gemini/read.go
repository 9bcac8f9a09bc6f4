package gemini

import (
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// NewReader returns the reader of Gemini's answers and of requests to Gemini. Its SDKs write keys in snake_case or in camelCase.
func NewReader() provider.Reader {
	return provider.NewReader(conversation.FormatGemini, true, dialect{})
}

type dialect struct{}

// IsResponse reports whether an object is an answer: it has candidates, or members that explain why there are none.
func (dialect) IsResponse(o *provider.Object) bool {
	return o.Has("candidates") || o.Has("usageMetadata") || o.Has("promptFeedback")
}

// Response reads the only candidate.
func (d dialect) Response(r *provider.Reading, o *provider.Object) provider.Node {
	r.SetModel(o.Get("modelVersion"))
	candidates := r.List(o.Get("candidates"))
	if len(candidates) > 1 {
		n := o.Get("candidates")
		r.Fail(&n, "must hold one candidate")
		return provider.Node{}
	}
	for i := range candidates {
		candidate := r.Object(candidates[i])
		if content := candidate.Get("content"); !content.Missing() {
			o := r.Object(content)
			r.Join(content, inContent(r, o, readModel(r, o)))
		}
	}
	return o.Get("usageMetadata")
}

// List returns the contents of a request.
func (dialect) List(o *provider.Object) provider.Node { return o.Get("contents") }

// System reads the system instruction: a text, a content, or its parts.
func (dialect) System(r *provider.Reading, o *provider.Object) {
	n := o.Get("systemInstruction")
	if n.Is('"') {
		r.AddSystem(r.Text(n))
		return
	}
	if n.Is('{') {
		content := r.Object(n)
		n = content.Get("parts")
	}
	for _, part := range r.List(n) {
		if part.Is('"') {
			r.AddSystem(r.Text(part))
			continue
		}
		text := r.Object(part)
		r.AddSystem(r.Text(text.Get("text")))
	}
}

// Element reads a content, or a text of the user.
func (dialect) Element(r *provider.Reading, n provider.Node) {
	if n.Is('"') {
		r.Add(n, conversation.RoleUser, "", []conversation.Part{provider.Text(r.Text(n))})
		return
	}
	o := r.Object(n)
	role := o.Get("role")
	switch r.Text(role) {
	case "model":
		r.Join(n, inContent(r, o, readModel(r, o)))
	case "":
		readUnnamed(r, o)
	case "user", "function", "tool":
		readUser(r, o)
	case "system":
		readSystem(r, o)
	default:
		r.Fail(&role, "must be user or model")
	}
}

func readSystem(r *provider.Reading, o *provider.Object) {
	list := r.List(o.Get("parts"))
	parts := make([]conversation.Part, 0, len(list))
	for _, n := range list {
		text := r.Object(n)
		parts = append(parts, provider.Text(r.Text(text.Get("text"))))
	}
	r.Add(o.Node, conversation.RoleSystem, "", parts)
}

// readUser reads responses as tool messages, and what is between them as user messages.
func readUser(r *provider.Reading, o *provider.Object) {
	var parts []conversation.Part
	for _, n := range r.List(o.Get("parts")) {
		if p, ok := readGiven(r, r.Object(n)); ok {
			parts = append(parts, p)
		}
	}
	r.AddInput(o.Node, inContent(r, o, parts))
}

// inContent keeps, with the first part of a content, the content's other members.
func inContent(r *provider.Reading, o *provider.Object, parts []conversation.Part) []conversation.Part {
	var kept provider.Members
	if kept.Unread(rewriting(), "content", o, "role", "parts"); len(kept) > 0 && len(parts) > 0 {
		parts[0] = r.MoreResidue(parts[0], "gemini", kept)
	}
	return parts
}

func readGiven(r *provider.Reading, o *provider.Object) (p conversation.Part, ok bool) {
	switch {
	case o.Has("functionResponse"):
		return readResponse(r, o), true
	case o.Has("text"):
		return r.WithResidue(provider.Text(r.Text(o.Get("text"))), "gemini", readBeside(r, o)), true
	case o.Has("inlineData"), o.Has("fileData"):
		return readMedia(r, o), true
	}
	r.Fail(&o.Node, "must hold text, inlineData, fileData or functionResponse")
	return p, false
}

// besideKeys are the members of a part besides the one that holds its data.
func besideKeys() []string { return []string{"partMetadata", "videoMetadata", "mediaResolution"} }

// readBeside keeps the members of a part that nothing else reads.
func readBeside(r *provider.Reading, o *provider.Object, otherwise ...string) (kept provider.Members) {
	for _, key := range besideKeys() {
		if n := o.Get(key); !n.Missing() {
			block := r.Block(rewriting(), n)
			if slices.Contains(rewriting().Free, key) {
				block = n.JSON
			}
			kept = append(kept, provider.Member{Key: key, JSON: block})
		}
	}
	read := append(append(besideKeys(), dataKeys()...), "thoughtSignature")
	kept.Unread(rewriting(), "members", o, append(read, otherwise...)...)
	return kept
}

// dataKeys are the members that hold a part's data: each part has one of them.
func dataKeys() []string {
	return append(nativeKeys(), "text", "functionCall", "functionResponse", "inlineData", "fileData")
}

// rewriting says how Gemini's own blocks are kept: with the names that its API documents.
func rewriting() *provider.Rewriting {
	return &provider.Rewriting{Free: []string{"args", "response", "partMetadata"}, Camel: true}
}

func readMedia(r *provider.Reading, o *provider.Object) (p conversation.Part) {
	kept := readBeside(r, o)
	data := o.Get("inlineData")
	if data.Missing() {
		data = o.Get("fileData")
	}
	media := r.Object(data)
	kept.AddText(r, media.Get("displayName"))
	kept.Unread(rewriting(), "data", media, "mimeType", "fileUri", "data", "displayName")
	if mime := media.Get("mimeType"); media.Has("fileUri") {
		p = r.Media(media.Get("fileUri"), r.OptionalOr(mime, "application/octet-stream"))
	} else {
		p = r.InlineMedia(media.Get("data"), r.Required(mime, 256))
	}
	return r.WithResidue(p, "gemini", kept)
}

// readModel reads the parts of a content of the model.
func readModel(r *provider.Reading, o *provider.Object) (parts []conversation.Part) {
	made := r.Calls()
	for _, n := range r.List(o.Get("parts")) {
		before := len(parts)
		parts = readPart(r, parts, r.Object(n), made)
		for i := before; i < len(parts); i++ {
			if parts[i].Kind == conversation.PartToolCall {
				made++
			}
		}
	}
	return parts
}

// readPart reads a part. A signature on anything but a thought becomes reasoning of its own before it. With an empty text, as at the end of
// a stream, it is kept as a block.
func readPart(r *provider.Reading, parts []conversation.Part, o *provider.Object, made int) []conversation.Part {
	signature, text := r.Text(o.Get("thoughtSignature")), r.Text(o.Get("text"))
	thought := r.True(o.Get("thought"))
	if signature != "" && text == "" && !slices.ContainsFunc(dataKeys(), func(key string) bool { return key != "text" && o.Has(key) }) {
		return append(parts, provider.Opaque("gemini", emptyText(r, o)))
	}
	if thought && o.Has("text") {
		if p, ok := r.Reasoning("gemini", text, signature); ok {
			parts = append(parts, r.WithResidue(p, "gemini", readBeside(r, o, "thought")))
		}
		return parts
	}
	p, ok := readMade(r, o, made)
	if !ok {
		return parts
	}
	if sign, signed := r.Reasoning("gemini", "", signature); signed && p.Kind != conversation.PartOpaque {
		parts = append(parts, sign)
	}
	return append(parts, p)
}

// emptyText returns a part with a signature only, and the empty text that Gemini requires.
func emptyText(r *provider.Reading, o *provider.Object) string {
	block := r.Block(rewriting(), o.Node)
	if o.Has("text") {
		return block
	}
	return `{"text":"",` + block[1:]
}

// nativeKeys are the members that hold data which only Gemini can read.
func nativeKeys() []string {
	return []string{"executableCode", "codeExecutionResult", "toolCall", "toolResponse"}
}

// readMade reads a part that the model made. A part without data is skipped.
func readMade(r *provider.Reading, o *provider.Object, made int) (p conversation.Part, ok bool) {
	switch {
	case o.Has("functionCall"):
		return readCall(r, o, made)
	case o.Has("text"):
		return r.WithResidue(provider.Text(r.Text(o.Get("text"))), "gemini", readBeside(r, o)), true
	case o.Has("inlineData"), o.Has("fileData"):
		return readMedia(r, o), true
	case o.Has("functionResponse"):
		n := o.Get("functionResponse")
		r.Fail(&n, "is no part of the model's")
		return p, false
	case !o.Others("thought"):
		return p, false
	default:
		return provider.Opaque("gemini", r.Block(rewriting(), o.Node)), true
	}
}

// readCall reads a call. A call without an id gets one made from its position among the calls of its turn, which is the same wherever it is
// read.
func readCall(r *provider.Reading, o *provider.Object, made int) (conversation.Part, bool) {
	call := r.Object(o.Get("functionCall"))
	id := r.Optional(call.Get("id"), 512)
	if id == "" {
		id = provider.GeneratedID(made)
	}
	kept := readBeside(r, o)
	kept.AddText(r, call.Get("id"))
	kept.Unread(rewriting(), "data", call, "id", "name", "args")
	p, ok := r.Call(id, r.ToolName(call.Get("name")), r.ObjectArguments(call.Get("args")))
	return r.WithResidue(p, "gemini", kept), ok
}

// readResponse reads a response. A response without an id answers the first open call of its name, and is written without an id again.
func readResponse(r *provider.Reading, part *provider.Object) conversation.Part {
	o := r.Object(part.Get("functionResponse"))
	name, id := r.ToolName(o.Get("name")), r.Optional(o.Get("id"), 512)
	result := r.Result(r.AnsweredCall(name, id), "")
	result.Name = name
	kept := append(readBeside(r, part), readOutput(r, o.Get("response"), &result)...)
	for _, key := range []string{"willContinue", "scheduling"} {
		kept.Add(o.Get(key))
	}
	if id == "" {
		kept.AddString("id", "")
	}
	kept = append(kept, readAttached(r, o.Get("parts"), &result)...)
	kept.Unread(rewriting(), "data", o, "id", "name", "response", "parts", "willContinue", "scheduling")
	return r.WithResidue(provider.ResultPart(result), "gemini", kept)
}

// readOutput takes the text out of a response that holds nothing else. Google documents the names under which it may stand.
func readOutput(r *provider.Reading, n provider.Node, result *conversation.ToolResult) (kept provider.Members) {
	if n.Missing() {
		return nil
	}
	if !n.Is('{') {
		r.Fail(&n, "must be an object")
	}
	one, sole := r.OnlyMember(n)
	switch key := one.Key(); {
	case sole && key == "result" && one.Is('"'):
		result.Text.Inline = r.Text(one)
	case sole && key == "output" && one.Is('"'):
		result.Text.Inline = r.Text(one)
		kept = provider.Members{{Key: "response", JSON: `{"output":""}`}}
	case sole && key == "error" && one.Is('"'):
		result.Text.Inline, result.State = r.Text(one), conversation.ResultError
	case sole && key == "error" && !one.Missing():
		result.Output, result.State = conversation.OutputJSON, conversation.ResultError
		result.Text.Inline = strings.Clone(one.JSON)
	default:
		result.Output, result.Text.Inline = conversation.OutputJSON, strings.Clone(n.JSON)
	}
	return kept
}

// readAttached reads the media of a response, as pieces behind its text. Other members of each are kept in order.
func readAttached(r *provider.Reading, n provider.Node, result *conversation.ToolResult) (kept provider.Members) {
	list := r.List(n)
	if len(list) == 0 {
		return nil
	}
	if result.Output == conversation.OutputJSON {
		kept = provider.Members{{Key: "response", JSON: "{}"}}
	}
	pieces, beside := []conversation.Part{provider.Text(result.Text.Inline)}, ""
	for _, part := range list {
		p := readMedia(r, r.Object(part))
		if pieces = append(pieces, p); p.Residue == nil {
			p.Residue = &conversation.Residue{JSON: "{}"}
		}
		beside += "," + p.Residue.JSON
	}
	result.Text.Inline = ""
	r.SetOutput(n, result, pieces)
	return append(kept, provider.Member{Key: "parts", JSON: "[" + beside[1:] + "]"})
}
