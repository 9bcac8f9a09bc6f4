package provider

import (
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// Text makes a part of text.
func Text(text string) conversation.Part {
	return conversation.Part{Kind: conversation.PartText, Text: conversation.Content{Inline: text}}
}

// Content reads a text, or a list of pieces from which read makes parts; none if the content is missing.
func (r *Reading) Content(n Node, read func(*Reading, *Object) (conversation.Part, bool)) (parts []conversation.Part) {
	if n.Is('"') {
		return []conversation.Part{Text(r.Text(n))}
	}
	for _, piece := range r.List(n) {
		if p, ok := read(r, r.Object(piece)); ok {
			parts = append(parts, p)
		}
	}
	return parts
}

// RequiredContent reads content that must be present.
func (r *Reading) RequiredContent(n Node, read func(*Reading, *Object) (conversation.Part, bool)) []conversation.Part {
	if n.Missing() {
		r.Fail(&n, "is required")
	}
	return r.Content(n, read)
}

// Call makes a part from a call. It is false for an incomplete call of a reply that was cut off.
func (r *Reading) Call(id, name, arguments string) (p conversation.Part, ok bool) {
	if r.Request.Aborted && !IsJSON(arguments) {
		r.Input.LeftOut++
		return p, false
	}
	r.open(id, name)
	call := &conversation.ToolCall{CallID: id, Name: name, Arguments: conversation.Content{Inline: arguments}}
	return conversation.Part{Kind: conversation.PartToolCall, Call: call}, true
}

// Reasoning makes a part from reasoning. It is false for reasoning without a signature in a reply that was cut off.
func (r *Reading) Reasoning(from, text, signature string) (p conversation.Part, ok bool) {
	if text+signature == "" || r.Request.Aborted && signature == "" {
		return p, false
	}
	reasoning := &conversation.Reasoning{Provider: from}
	reasoning.Text.Inline, reasoning.Signature.Inline = text, signature
	return conversation.Part{Kind: conversation.PartReasoning, Reasoning: reasoning}, true
}

// CallOfText makes a part from a call whose input is not JSON. It is false in a reply that was cut off: such a call may be incomplete.
func (r *Reading) CallOfText(id, name, input string) (p conversation.Part, ok bool) {
	if r.Request.Aborted {
		r.Input.LeftOut++
		return p, false
	}
	return r.Call(id, name, input)
}

// noArguments are the arguments of a call without any.
const noArguments = "{}"

// Arguments reads the arguments of a call: a text of JSON or, from some servers, the JSON itself. Servers send null or an empty text for no
// arguments; in a reply that was cut off, an empty text means that the arguments had not come yet.
func (r *Reading) Arguments(n Node) string {
	if n.Is('{') {
		return strings.Clone(n.JSON)
	}
	switch text := r.Text(n); strings.TrimSpace(text) {
	case "null":
		return noArguments
	case "":
		if !r.Request.Aborted {
			return noArguments
		}
		return ""
	default:
		return text
	}
}

// ObjectArguments reads the arguments of a call whose provider has them as an object. In a reply that was cut off, they may be the text
// that had come so far.
func (r *Reading) ObjectArguments(n Node) string {
	switch {
	case n.Missing():
		return noArguments
	case n.Is('{') || r.Request.Aborted && n.Is('"'):
		return r.Arguments(n)
	}
	r.Fail(&n, "must be an object")
	return noArguments
}

// StoredFile makes media from a file that the provider stores. Other providers are told only its id.
func (r *Reading) StoredFile(id Node, mime string) conversation.Part {
	return r.mediaPart(&id, mime, conversation.Media{URI: "file:" + r.Required(id, maxReadCallID)})
}

// SetModel reads the model that answered.
func (r *Reading) SetModel(n Node) {
	if model := r.Optional(n, maxReadName); model != "" {
		r.Input.Model = model
	}
}

// Opaque makes a part of a block of the provider's own.
func Opaque(from, block string) conversation.Part {
	o := &conversation.Opaque{Provider: from, JSON: conversation.Content{Inline: block}}
	return conversation.Part{Kind: conversation.PartOpaque, Opaque: o}
}

// ResultPart makes a part of a result.
func ResultPart(result conversation.ToolResult) conversation.Part {
	return conversation.Part{Kind: conversation.PartToolResult, Result: &result}
}

// maxSought is how many open calls of a tool are compared: more than a message can hold.
const maxSought = maxReadCalls

func (r *Reading) open(id, name string) {
	if r.opened == nil {
		r.opened, r.tools = map[string][]string{}, map[string]string{}
	}
	r.opened[name] = append(r.opened[name], id)
	r.tools[id] = name
}

// Answered records that a result answers the call with an id, so that a result without an id answers another call.
func (r *Reading) Answered(id string) string {
	if name, ok := r.tools[id]; ok {
		return r.AnsweredCall(name, id)
	}
	return id
}

// AnsweredCall returns the id of the call that a result answers, for providers that pair by name: the result's own id or else that of the
// first open call of the tool in the list. If it is empty, the call is on record.
func (r *Reading) AnsweredCall(name, id string) string {
	ids := r.opened[name]
	at := 0
	if id != "" {
		at = slices.Index(ids[:min(len(ids), maxSought)], id)
	}
	if at < 0 || len(ids) == 0 {
		return id
	}
	answered := ids[at]
	copy(ids[1:at+1], ids[:at]) // moves the ids before it, because there may be many behind it
	r.opened[name] = ids[1:]
	return answered
}

// OnlyMember returns the only member of an object. It counts null members too, so that nothing is lost.
func (r *Reading) OnlyMember(n Node) (member Node, ok bool) {
	count := 0
	if n.Is('{') {
		members(n.JSON, func(quoted, value string) bool {
			member = Node{JSON: present(value), up: &n, key: unquote(quoted)}
			count++
			return count == 1
		})
	}
	return member, count == 1
}

// Key returns the name of the value in its object.
func (n *Node) Key() string { return n.key }

// OptionalOr reads a string; other if it is missing.
func (r *Reading) OptionalOr(n Node, other string) string {
	if n.Missing() {
		return other
	}
	return r.Required(n, maxReadName)
}

// AddSystem adds a text of the system prompt next to the list.
func (r *Reading) AddSystem(text string) {
	if text != "" {
		r.Input.System = append(r.Input.System, text)
	}
}
