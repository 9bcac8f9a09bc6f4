package provider

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// The API's limits for a message (also enforced for messages that come as fields), and the number of faults that are reported.
const (
	maxReadParts   = 1024
	maxReadCalls   = 512
	maxReadPieces  = 256
	maxReadName    = 256
	maxReadCallID  = 512
	maxReadURI     = 8192
	maxReadResidue = 1 << 20
	maxReadFaults  = 64
	maxReadMembers = 256
)

// Reading is the reading of one JSON document: what was found, and what is wrong.
type Reading struct {
	Request *ReadRequest
	Input   Input
	camel   bool // keys in snake_case are read as camelCase
	faults  []conversation.Violation
	opened  map[string][]string // by tool name: ids of calls in the list that are not answered yet
	tools   map[string]string   // by id of a call in the list: the name of its tool
	element int                 // index of the current element
}

// Fail records what is wrong with a value. The text never contains the value.
func (r *Reading) Fail(n *Node, format string, args ...any) {
	if len(r.faults) == maxReadFaults {
		return
	}
	field := cmp.Or(n.place(), "json")
	r.faults = append(r.faults, conversation.Violation{Field: field, Text: fmt.Sprintf(format, args...)})
}

// document checks that the whole text is JSON, so that its parts can be read without further checks.
func (r *Reading) document(text string) (root Node, ok bool) {
	text = strings.Trim(text, " \t\r\n")
	if !isDocument(text) {
		r.Fail(&Node{}, "must be JSON in UTF-8, at most %d levels deep", maxNesting)
		return Node{}, false
	}
	return Node{JSON: present(text)}, true
}

// Object reads a value that must be an object; of anything else, all members are missing.
func (r *Reading) Object(n Node) *Object {
	o := &Object{Node: n}
	if !n.Is('{') {
		r.Fail(&n, "must be an object")
		return o
	}
	members(n.JSON, func(quoted, value string) bool {
		key := memberKey(quoted, r.camel)
		if len(o.members) == maxReadMembers {
			r.Fail(&n, "must have at most %d members", maxReadMembers)
			return false
		}
		if value = present(value); value == "" {
			return true
		}
		if o.Has(key) {
			r.Fail(&n, "has a member twice")
			return false
		}
		o.members = append(o.members, Node{JSON: value, up: &o.Node, key: key})
		return true
	})
	return o
}

// List reads a value that must be a list; none if it is missing.
func (r *Reading) List(n Node) []Node {
	if n.Missing() {
		return nil
	}
	if !n.Is('[') {
		r.Fail(&n, "must be a list")
		return nil
	}
	var out []Node
	up := &n
	elements(n.JSON, func(i int, value string) {
		out = append(out, Node{JSON: present(value), up: up, index: i})
	})
	return out
}

// Text reads a value that must be a string; empty if it is missing.
func (r *Reading) Text(n Node) string {
	switch {
	case n.Missing():
		return ""
	case !n.Is('"'):
		r.Fail(&n, "must be a string")
		return ""
	}
	return unquote(n.JSON)
}

// Required reads a string of at most the given number of bytes, which must be present.
func (r *Reading) Required(n Node, most int) string {
	s := r.Text(n)
	switch {
	case n.Missing():
		r.Fail(&n, "is required")
	case s == "" || len(s) > most:
		r.Fail(&n, "must have 1 to %d bytes", most)
	}
	return s
}

// Optional reads a string of at most the given number of bytes.
func (r *Reading) Optional(n Node, most int) string {
	s := r.Text(n)
	if len(s) > most {
		r.Fail(&n, "must have at most %d bytes", most)
	}
	return s
}

// Name reads the optional name of the speaker.
func (r *Reading) Name(n Node) string {
	s := r.Optional(n, maxReadName)
	if strings.ContainsFunc(s, unicode.IsControl) {
		r.Fail(&n, "must have no control characters")
	}
	return s
}

// True reads an optional boolean.
func (r *Reading) True(n Node) bool {
	if !n.Missing() && n.JSON != "true" && n.JSON != "false" {
		r.Fail(&n, "must be true or false")
	}
	return n.JSON == "true"
}

// decode decodes base64 of either alphabet, with or without padding.
func (r *Reading) decode(n *Node, text string) string {
	text = strings.TrimRight(text, "=")
	encoding := base64.RawStdEncoding
	if strings.ContainsAny(text, "-_") {
		encoding = base64.RawURLEncoding
	}
	data, err := encoding.DecodeString(text)
	if err != nil || len(data) == 0 {
		r.Fail(n, "must be base64")
	}
	return string(data)
}

// Media reads an address or a data: URL. A data: URL has a type of its own.
func (r *Reading) Media(n Node, mime string) conversation.Part {
	address := r.Text(n)
	if own, data, ok := strings.Cut(address, ";base64,"); ok && strings.HasPrefix(own, "data:") {
		own, _, _ = strings.Cut(own[len("data:"):], ";")
		return r.mediaPart(&n, own, conversation.Media{Data: conversation.Content{Inline: r.decode(&n, data)}})
	}
	if address == "" || len(address) > maxReadURI {
		r.Fail(&n, "must be an address of 1 to %d bytes, or a data: URL in base64", maxReadURI)
	}
	return r.mediaPart(&n, mime, conversation.Media{URI: address})
}

// InlineMedia makes media of base64.
func (r *Reading) InlineMedia(n Node, mime string) conversation.Part {
	return r.mediaPart(&n, mime, conversation.Media{Data: conversation.Content{Inline: r.decode(&n, r.Text(n))}})
}

func (r *Reading) mediaPart(n *Node, mime string, m conversation.Media) conversation.Part {
	if mime == "" || len(mime) > maxReadName {
		r.Fail(n, "must come with a media type of 1 to %d bytes", maxReadName)
	}
	m.MIMEType = strings.Clone(mime)
	return conversation.Part{Kind: conversation.PartMedia, Media: &m}
}

// ImageType guesses the type of an image from its address; JPEG if the address does not tell.
func ImageType(address string) string {
	path, _, _ := strings.Cut(address, "?")
	for _, mime := range imageTypes {
		if strings.HasSuffix(strings.ToLower(path), "."+strings.TrimPrefix(mime, "image/")) {
			return mime
		}
	}
	return "image/jpeg"
}

// Result makes a result of one text.
func (r *Reading) Result(id, text string) conversation.ToolResult {
	return conversation.ToolResult{CallID: id, State: conversation.ResultCompleted, Text: conversation.Content{Inline: text}}
}

// SetOutput sets a result's output from texts and media. A single text becomes a text output.
func (r *Reading) SetOutput(n Node, result *conversation.ToolResult, parts []conversation.Part) {
	switch {
	case len(parts) == 0:
		return
	case len(parts) == 1 && parts[0].Kind == conversation.PartText:
		result.Text = parts[0].Text
		return
	case len(parts) > maxReadPieces:
		r.Fail(&n, "must have at most %d pieces", maxReadPieces)
	}
	result.Output = conversation.OutputParts
	for i := range parts {
		result.Parts = append(result.Parts, conversation.ResultPart{Text: parts[i].Text, Media: parts[i].Media})
	}
}

// CallID reads the required id of a call.
func (r *Reading) CallID(n Node) string { return r.Required(n, maxReadCallID) }

// ToolName reads the required name of a tool.
func (r *Reading) ToolName(n Node) string { return r.Required(n, maxReadName) }

// GeneratedID makes an id from a call's position in its message, for providers that give none.
func GeneratedID(number int) string { return "call_" + strconv.Itoa(number+1) }
