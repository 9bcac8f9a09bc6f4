package anthropic

import (
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// NewReader returns the reader of Anthropic's answers, and of requests to Anthropic.
func NewReader() provider.Reader {
	return provider.NewReader(conversation.FormatAnthropic, false, dialect{})
}

type dialect struct{}

// IsResponse reports whether an object is a message with members that only an answer has.
func (dialect) IsResponse(o *provider.Object) bool {
	kind, role := o.Get("type"), o.Get("role")
	return kind.Says("message") && role.Says("assistant") && (o.Has("id") || o.Has("usage") || o.Has("stop_reason"))
}

// Response reads the model's message.
func (d dialect) Response(r *provider.Reading, o *provider.Object) provider.Node {
	r.SetModel(o.Get("model"))
	role := o.Get("role")
	if !role.Says("assistant") {
		r.Fail(&role, "must be assistant in an answer")
		return provider.Node{}
	}
	d.message(r, o)
	if reason := o.Get("stop_reason"); reason.Says("pause_turn") {
		r.Tag(conversation.TagPaused)
	}
	return o.Get("usage")
}

// List returns the messages of a request.
func (dialect) List(o *provider.Object) provider.Node { return o.Get("messages") }

// System reads the system prompt: a text or blocks of text.
func (dialect) System(r *provider.Reading, o *provider.Object) {
	n := o.Get("system")
	if !n.Is('[') {
		r.AddSystem(r.Text(n))
		return
	}
	for _, block := range r.List(n) {
		text := r.Object(block)
		r.AddSystem(r.Text(text.Get("text")))
	}
}

// Element reads a message. An assistant message that waits for Anthropic's own tools is marked as paused: only a pause leaves it like
// that.
func (d dialect) Element(r *provider.Reading, n provider.Node) {
	o := r.Object(n)
	if !o.Has("role") && readBare(r, o) {
		return
	}
	d.message(r, o)
	if role := o.Get("role"); role.Says("assistant") && waits(r.Last()) {
		r.Tag(conversation.TagPaused)
	}
}

func (dialect) message(r *provider.Reading, o *provider.Object) {
	role, content := o.Get("role"), o.Get("content")
	if content.Missing() && !(role.Says("system") && o.Has("output_config")) {
		r.Fail(&content, "is required")
	}
	switch r.Text(role) {
	case "user":
		r.AddInput(o.Node, r.Content(content, readUsers))
	case "assistant":
		r.Add(o.Node, conversation.RoleAssistant, "", r.Content(content, readBlock))
	case "system":
		r.Add(o.Node, conversation.RoleSystem, "", besideSystem(r, o, r.Content(content, readSystem)))
	default:
		r.Fail(&role, "must be user, assistant or system")
	}
}

// besideSystem keeps, with the first part of a system message, the members next to its content, such as clear_at.
func besideSystem(r *provider.Reading, o *provider.Object, parts []conversation.Part) []conversation.Part {
	var kept provider.Members
	if kept.Unread(rewriting(), "message", o, "role", "content"); len(parts) > 0 {
		parts[0] = r.MoreResidue(parts[0], "anthropic", kept)
	}
	return parts
}

// readSystem reads a block of a system message. Blocks that change tools are kept unchanged.
func readSystem(r *provider.Reading, o *provider.Object) (p conversation.Part, ok bool) {
	kind := o.Get("type")
	switch r.Text(kind) {
	case "text":
		return readText(r, o), true
	case "tool_addition", "tool_removal":
		w := provider.Rewriting{Drop: []string{"cache_control"}, Top: true}
		return provider.Opaque("anthropic", r.Block(&w, o.Node)), true
	}
	r.Fail(&kind, "must be text, tool_addition or tool_removal")
	return p, false
}

// keepRest keeps the members of a block that no field of the part holds.
func keepRest(r *provider.Reading, p conversation.Part, o *provider.Object, read ...string) conversation.Part {
	var kept provider.Members
	kept.Unread(rewriting(), "members", o, append(read, "type")...)
	return r.MoreResidue(p, "anthropic", kept)
}

// containerUpload is a file for the container in which Anthropic runs code.
const containerUpload = "container_upload"

// readUsers reads a block of a user message.
func readUsers(r *provider.Reading, o *provider.Object) (p conversation.Part, ok bool) {
	if kind := o.Get("type"); !kind.Says(containerUpload) {
		return readGiven(r, o)
	}
	var kept provider.Members
	kept.AddString("type", containerUpload)
	kept.Add(o.Get("file_id"))
	kept.Unread(rewriting(), "members", o, "type", "file_id")
	return r.WithResidue(r.StoredFile(o.Get("file_id"), "application/octet-stream"), "anthropic", kept), true
}

// readGiven reads a block that is given to the model.
func readGiven(r *provider.Reading, o *provider.Object) (p conversation.Part, ok bool) {
	kind := o.Get("type")
	switch r.Text(kind) {
	case "text":
		return readText(r, o), true
	case "image", "document":
		return readSource(r, o), true
	case "search_result":
		return readSearchResult(r, o), true
	case "tool_result":
		return readResult(r, o), true
	}
	r.Fail(&kind, "must be text, image, document, search_result or tool_result")
	return p, false
}

// readText reads a text with its citations.
func readText(r *provider.Reading, o *provider.Object) conversation.Part {
	p := keepRest(r, provider.Text(r.Text(o.Get("text"))), o, "text", "citations")
	citations := o.Get("citations")
	list := r.List(citations)
	if len(list) == 0 {
		return p
	}
	out := []byte{'['}
	for i := range list {
		// Citations in an answer hold the id of a file; in a request, the API refuses it.
		w := provider.Rewriting{Nulls: []string{"title", "document_title"}, Drop: []string{"file_id"}, Top: true}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, r.Block(&w, list[i])...)
	}
	return r.MoreResidue(p, "anthropic", provider.Members{{Key: "citations", JSON: string(append(out, ']'))}})
}

// rewriting says how members of a block are kept: without nulls, except in members that must be present, and without cache marks.
func rewriting() *provider.Rewriting {
	return &provider.Rewriting{Nulls: []string{"title", "document_title"}, Free: []string{"input"}, Drop: []string{"cache_control"}}
}

// readSource reads an image or a document.
func readSource(r *provider.Reading, o *provider.Object) (p conversation.Part) {
	var kept provider.Members
	for _, key := range []string{"title", "context"} {
		kept.AddText(r, o.Get(key))
	}
	kept.AddObject(r, rewriting(), o.Get("citations"))
	source, image := r.Object(o.Get("source")), o.Get("type")
	kept.Unread(rewriting(), "source_members", source, "type", "media_type", "data", "url", "file_id", "content")
	mime := provider.PDF
	if image.Says("image") {
		mime = "image/png"
	}
	kind := source.Get("type")
	switch r.Text(kind) {
	case "base64":
		p = r.InlineMedia(source.Get("data"), r.Required(source.Get("media_type"), 256))
	case "url":
		url := source.Get("url")
		if mime == "image/png" {
			mime = provider.ImageType(r.Text(url))
		}
		p = r.Media(url, mime)
	case "file":
		p = r.StoredFile(source.Get("file_id"), mime)
		kept.Add(source.Get("file_id"))
	case "text":
		p = provider.Text(r.Text(source.Get("data")))
		kept.AddString("type", "document")
	case "content":
		p = provider.Text(join(r.Content(source.Get("content"), readGiven)))
		kept.AddString("type", "document")
		kept.AddObject(r, rewriting(), o.Get("source"))
	default:
		r.Fail(&kind, "must be base64, url, file, text or content")
	}
	return keepRest(r, r.WithResidue(p, "anthropic", kept), o, "source", "title", "context", "citations")
}

// join joins the texts of the parts, separated by newlines.
func join(parts []conversation.Part) string {
	var texts []string
	for i := range parts {
		if parts[i].Kind == conversation.PartText {
			texts = append(texts, parts[i].Text.Inline)
		}
	}
	return strings.Join(texts, "\n")
}

// readSearchResult reads a text that the model may cite.
func readSearchResult(r *provider.Reading, o *provider.Object) conversation.Part {
	var kept provider.Members
	kept.AddString("type", "search_result")
	kept.AddText(r, o.Get("source"))
	kept.AddText(r, o.Get("title"))
	kept.AddObject(r, rewriting(), o.Get("citations"))
	texts := r.Content(o.Get("content"), readGiven)
	if len(texts) != 1 || texts[0].Residue != nil {
		kept.AddObject(r, rewriting(), o.Get("content"))
	}
	return keepRest(r, r.WithResidue(provider.Text(join(texts)), "anthropic", kept), o, "source", "title", "content", "citations")
}

// readResult reads a result. Pieces that are neither text nor media are kept unchanged, in addition to their text.
func readResult(r *provider.Reading, o *provider.Object) conversation.Part {
	result := r.Result(r.CallID(o.Get("tool_use_id")), "")
	if r.True(o.Get("is_error")) {
		result.State = conversation.ResultError
	}
	content := o.Get("content")
	parts, whole := readPieces(r, content)
	r.SetOutput(content, &result, parts)
	var kept provider.Members
	if !whole {
		kept.AddObject(r, rewriting(), content)
	}
	kept.AddText(r, o.Get("toolset_name"))
	return keepRest(r, r.WithResidue(provider.ResultPart(result), "anthropic", kept), o, "tool_use_id", "content", "is_error", "toolset_name")
}

// readPieces reads the pieces of a result. whole reports whether the parts hold everything in it.
func readPieces(r *provider.Reading, content provider.Node) (parts []conversation.Part, whole bool) {
	if !content.Is('[') {
		return []conversation.Part{provider.Text(r.Text(content))}, true
	}
	whole = true
	for _, piece := range r.List(content) {
		o := r.Object(piece)
		switch kind := o.Get("type"); r.Text(kind) {
		case "text", "image", "document", "search_result":
			p, _ := readGiven(r, o)
			parts, whole = append(parts, p), whole && p.Residue == nil
		default:
			r.Required(kind, 256)
			whole = false
		}
	}
	for i := range parts {
		parts[i].Residue = nil
	}
	return parts, whole
}

// readBlock reads a block of the model. Blocks of Anthropic's own tools are kept unchanged.
func readBlock(r *provider.Reading, o *provider.Object) (p conversation.Part, ok bool) {
	kind := o.Get("type")
	switch r.Required(kind, 256) {
	case "text":
		return readText(r, o), true
	case "thinking":
		p, ok := r.Reasoning("anthropic", r.Text(o.Get("thinking")), r.Text(o.Get("signature")))
		return keepRest(r, p, o, "thinking", "signature"), ok
	case "tool_use":
		return readCall(r, o)
	case "image", "document", "search_result", "tool_result":
		r.Fail(&kind, "is no block of the assistant's")
		return p, false
	default:
		w := provider.Rewriting{Drop: []string{"cache_control"}, Free: []string{"input"}, Top: true}
		block := r.Block(&w, o.Node)
		if strings.HasSuffix(r.Text(kind), "_tool_use") && !o.Has("input") { // a call must have it
			block = block[:len(block)-1] + `,"input":{}}`
		}
		return provider.Opaque("anthropic", block), true
	}
}

func readCall(r *provider.Reading, o *provider.Object) (conversation.Part, bool) {
	var kept provider.Members
	kept.AddObject(r, rewriting(), o.Get("caller"))
	kept.AddText(r, o.Get("toolset_name"))
	p, ok := r.Call(r.CallID(o.Get("id")), r.ToolName(o.Get("name")), r.ObjectArguments(o.Get("input")))
	return keepRest(r, r.WithResidue(p, "anthropic", kept), o, "id", "name", "input", "caller", "toolset_name"), ok
}

// waits reports whether a message waits for Anthropic's own tools, and not for any of the caller's.
func waits(parts []conversation.Part) bool {
	open := map[string]bool{}
	for i := range parts {
		switch p := &parts[i]; p.Kind {
		case conversation.PartToolCall:
			return false
		case conversation.PartOpaque:
			switch b := readOwn(p, false); {
			case b.id != "":
				open[b.id] = true
			case b.answers != "":
				delete(open, b.answers)
			}
		}
	}
	return len(open) > 0
}
