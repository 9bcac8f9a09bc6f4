package openairesponses

import (
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// NewReader returns the reader of responses, and of requests for them.
func NewReader() provider.Reader {
	return provider.NewReader(conversation.FormatOpenAIResponses, false, dialect{})
}

type dialect struct{}

// IsResponse reports whether an object says that it is a response.
func (dialect) IsResponse(o *provider.Object) bool {
	object := o.Get("object")
	return object.Says("response") && o.Has("output")
}

// Response reads the items of the output.
func (d dialect) Response(r *provider.Reading, o *provider.Object) provider.Node {
	r.SetModel(o.Get("model"))
	if !o.Has("output") {
		n := o.Get("output")
		r.Fail(&n, "is required")
	}
	for _, n := range r.List(o.Get("output")) {
		d.Element(r, n)
	}
	return o.Get("usage")
}

// List returns the input of a request.
func (dialect) List(o *provider.Object) provider.Node {
	if isItem(o) {
		return provider.Node{}
	}
	return o.Get("input")
}

// System reads the instructions of a request: a text, or items.
func (dialect) System(r *provider.Reading, o *provider.Object) {
	n := o.Get("instructions")
	if !n.Is('[') {
		r.AddSystem(r.Text(n))
		return
	}
	for _, item := range r.List(n) {
		message := r.Object(item)
		for _, p := range r.RequiredContent(message.Get("content"), readPiece) {
			r.AddSystem(p.Text.Inline)
		}
	}
}

// Element reads an item.
func (dialect) Element(r *provider.Reading, n provider.Node) {
	if n.Is('"') {
		r.Add(n, conversation.RoleUser, "", []conversation.Part{provider.Text(r.Text(n))})
		return
	}
	o := r.Object(n)
	kind := o.Get("type")
	switch text := r.Text(kind); text {
	case "message":
		readMessage(r, o)
	case "function_call", "custom_tool_call":
		readCall(r, o, text)
	case "computer_call", "local_shell_call", "shell_call", "apply_patch_call":
		readAction(r, o, text)
	case "function_call_output", "custom_tool_call_output", "computer_call_output", "local_shell_call_output", "shell_call_output", "apply_patch_call_output":
		readResult(r, o, text)
	case "":
		if !o.Has("role") {
			r.Fail(&kind, "is required")
			return
		}
		readMessage(r, o)
	default:
		if !readBare(r, o, text) {
			readItem(r, o)
		}
	}
}

func readMessage(r *provider.Reading, o *provider.Object) {
	role, parts := o.Get("role"), r.RequiredContent(o.Get("content"), readPiece)
	switch r.Text(role) {
	case "user":
		r.Add(o.Node, conversation.RoleUser, "", parts)
	case "system":
		r.Add(o.Node, conversation.RoleSystem, "", parts)
	case "developer":
		r.Add(o.Node, conversation.RoleSystem, "", r.Developer(parts))
	case "assistant":
		r.Join(o.Node, inItem(r, o, parts))
	default:
		r.Fail(&role, "must be user, assistant, system or developer")
	}
}

// inItem keeps with the texts of a message that they were one item, and its other members: id, status, phase.
func inItem(r *provider.Reading, o *provider.Object, parts []conversation.Part) []conversation.Part {
	var item provider.Members
	item.Unread(rewriting(), "item", o, "type", "role", "content")
	for i := range parts {
		switch {
		case len(item) == 0:
		case i == 0:
			parts[i] = r.MoreResidue(parts[i], "openai", item)
		default:
			parts[i] = r.MoreResidue(parts[i], "openai", provider.Members{{Key: "continues", JSON: "true"}})
		}
	}
	return parts
}

func readPiece(r *provider.Reading, o *provider.Object) (p conversation.Part, ok bool) {
	kind := o.Get("type")
	switch r.Text(kind) {
	case "input_text", "output_text", "text":
		return r.WithResidue(provider.Text(r.Text(o.Get("text"))), "openai", besideText(o)), true
	case "refusal":
		kept := provider.Members{{Key: "type", JSON: `"refusal"`}}
		kept.Unread(rewriting(), "members", o, "type", "refusal")
		return r.WithResidue(provider.Text(r.Text(o.Get("refusal"))), "openai", kept), true
	case "input_image", "computer_screenshot":
		return readImage(r, o), true
	case "input_file":
		return readFile(r, o), true
	}
	r.Fail(&kind, "must be input_text, input_image, input_file, output_text or refusal")
	return p, false
}

// besideText keeps the other members of a text. An empty list of citations is not kept: it is written for every text.
func besideText(o *provider.Object) (kept provider.Members) {
	read := []string{"type", "text"}
	if list := o.Get("annotations"); list.JSON == "[]" {
		read = append(read, "annotations")
	}
	kept.Unread(rewriting(), "members", o, read...)
	return kept
}

func readImage(r *provider.Reading, o *provider.Object) (p conversation.Part) {
	var kept provider.Members
	url, id := o.Get("image_url"), o.Get("file_id")
	if url.Missing() {
		p = r.StoredFile(id, "image/png")
		kept.AddText(r, id)
	} else {
		p = r.Media(url, provider.ImageType(r.Text(url)))
	}
	detail := o.Get("detail")
	p.Media.Detail = r.Optional(detail, 64)
	if p.Media.Detail == "original" {
		kept.Add(detail)
	}
	return r.WithResidue(p, "openai", kept)
}

func readFile(r *provider.Reading, o *provider.Object) (p conversation.Part) {
	const mime = provider.PDF
	var kept provider.Members
	kept.AddText(r, o.Get("filename"))
	switch data, url := o.Get("file_data"), o.Get("file_url"); {
	case strings.HasPrefix(r.Text(data), "data:"):
		p = r.Media(data, mime)
	case !data.Missing():
		p = r.InlineMedia(data, mime)
	case !url.Missing():
		p = r.Media(url, mime)
	default:
		p = r.StoredFile(o.Get("file_id"), mime)
		kept.AddText(r, o.Get("file_id"))
	}
	return r.WithResidue(p, "openai", kept)
}

func readCall(r *provider.Reading, o *provider.Object, kind string) {
	var kept provider.Members
	if kind == "custom_tool_call" {
		kept.AddString("type", "custom")
	}
	keepItem(r, &kept, o)
	kept.Unread(rewriting(), "members", o, "type", "id", "status", "call_id", "name", "input", "arguments")
	id, name := r.CallID(o.Get("call_id")), r.ToolName(o.Get("name"))
	var p conversation.Part
	var ok bool
	if kind == "custom_tool_call" {
		p, ok = r.CallOfText(id, name, r.Text(o.Get("input")))
	} else {
		p, ok = r.Call(id, name, r.Arguments(o.Get("arguments")))
	}
	if ok {
		r.Join(o.Node, []conversation.Part{r.WithResidue(p, "openai", kept)})
	}
}

// actionKeys are the members in which a call of a tool that OpenAI defines holds its action.
func actionKeys() []string { return []string{"action", "actions", "operation"} }

// readAction reads a call of a tool that OpenAI defines and the caller runs. It is answered like any other call.
func readAction(r *provider.Reading, o *provider.Object, kind string) {
	var arguments, kept provider.Members
	for _, key := range actionKeys() {
		arguments.AddObject(r, rewriting(), o.Get(key))
	}
	kept.AddString("type", kind)
	keepItem(r, &kept, o)
	kept.AddObject(r, rewriting(), o.Get("pending_safety_checks"))
	kept.Unread(rewriting(), "members", o, append(actionKeys(), "type", "id", "call_id", "status", "pending_safety_checks")...)
	p, ok := r.Call(r.CallID(o.Get("call_id")), strings.TrimSuffix(kind, "_call"), arguments.JSON())
	if ok {
		r.Join(o.Node, []conversation.Part{r.WithResidue(p, "openai", kept)})
	}
}

func readResult(r *provider.Reading, o *provider.Object, kind string) {
	id := o.Get("call_id")
	if id.Missing() && kind == "local_shell_call_output" {
		id = o.Get("id")
	}
	result := r.Result(r.CallID(id), "")
	var kept provider.Members
	switch output := o.Get("output"); kind {
	case "computer_call_output":
		shot := r.Object(output)
		r.SetOutput(output, &result, []conversation.Part{readImage(r, shot)})
		kept.Add(shot.Get("file_id"))
	case "shell_call_output":
		result.Output, result.Text.Inline = conversation.OutputJSON, strings.Clone(output.JSON)
		if output.Missing() {
			r.Fail(&output, "is required")
		}
		r.List(output)
	case "function_call_output", "custom_tool_call_output":
		parts := r.RequiredContent(output, readPiece)
		r.SetOutput(output, &result, parts)
		if result.Output == conversation.OutputParts {
			kept = append(kept, provider.Member{Key: "output", JSON: besidePieces(parts)})
		}
	default:
		result.Text.Inline = r.Text(output)
	}
	if status := o.Get("status"); kind == "apply_patch_call_output" && r.Text(status) == "failed" {
		result.State = conversation.ResultError
	}
	if kind != "local_shell_call_output" {
		keepItem(r, &kept, o)
	}
	kept.Unread(rewriting(), "members", o, "type", "id", "status", "call_id", "output")
	r.Add(o.Node, conversation.RoleTool, "", []conversation.Part{r.WithResidue(provider.ResultPart(result), "openai", kept)})
}

// besidePieces lists what was kept for each piece of an output; an empty list if nothing was kept for any.
func besidePieces(parts []conversation.Part) string {
	if !slices.ContainsFunc(parts, func(p conversation.Part) bool { return p.Residue != nil }) {
		return "[]"
	}
	var out []byte
	for i := range parts {
		beside := "{}"
		if r := parts[i].Residue; r != nil {
			beside = r.JSON
		}
		out = append(append(out, "[,"[min(i, 1)]), beside...)
	}
	return string(append(out, ']'))
}

// keepItem keeps the id and the status of an item.
func keepItem(r *provider.Reading, kept *provider.Members, o *provider.Object) {
	kept.AddText(r, o.Get("id"))
	kept.AddText(r, o.Get("status"))
}

// readItem keeps an item that only OpenAI can read, in its place.
func readItem(r *provider.Reading, o *provider.Object) {
	status := o.Get("status")
	unfinished := []string{"in_progress", "incomplete", "searching", "generating", "interpreting", "calling"}
	kind := o.Get("type")
	if r.Request.Aborted && (kind.Says("reasoning") && !o.Has("encrypted_content") || slices.Contains(unfinished, r.Text(status))) {
		return
	}
	r.Join(o.Node, []conversation.Part{provider.Opaque("openai", r.Block(rewriting(), o.Node))})
}

// rewriting says how OpenAI's own blocks are kept: without nulls, which SDKs print and the API refuses, except in members that must be
// present; and without log probabilities and cache marks.
func rewriting() *provider.Rewriting {
	return &provider.Rewriting{
		Nulls: []string{"code", "outputs", "result", "param", "keys"}, Drop: []string{"logprobs", "parsed", "parsed_arguments", "prompt_cache_breakpoint"}, Free: []string{"arguments", "tools", "input_schema", "attributes"},
	}
}
