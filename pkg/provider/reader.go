package provider

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// Dialect reads one provider's JSON for a Reader.
type Dialect interface {
	// IsResponse reports whether an object is an answer of the provider.
	IsResponse(o *Object) bool
	// Response reads an answer: its messages and the model. It returns the object with the usage.
	Response(r *Reading, o *Object) (usage Node)
	// List returns the whole list in a request object; missing if the object is not a request.
	List(o *Object) Node
	// System reads the system prompt next to the list.
	System(r *Reading, o *Object)
	// Element reads a message or an item.
	Element(r *Reading, n Node)
}

// NewReader returns a reader of a dialect. With camel, keys in snake_case are read as camelCase.
func NewReader(id conversation.Format, camel bool, d Dialect) Reader { return reader{id, camel, d} }

type reader struct {
	id      conversation.Format
	camel   bool
	dialect Dialect
}

func (rd reader) Format() conversation.Format { return rd.id }

// Read makes messages of JSON.
func (rd reader) Read(in *ReadRequest) (*Input, error) {
	r := &Reading{Request: in, camel: rd.camel}
	r.Input.Shape, r.Input.Model = in.Shape, in.Model
	if root, ok := r.document(in.JSON); ok {
		rd.read(r, root)
	}
	if r.tagAborted(); len(r.faults) > 0 {
		return nil, r.refusal("the provider's JSON cannot be read")
	}
	return &r.Input, nil
}

func (rd reader) read(r *Reading, root Node) {
	if root.Is('[') {
		rd.list(r, root)
		return
	}
	o := &Object{Node: root}
	if root.Is('{') {
		o = r.Object(root)
	}
	list := rd.dialect.List(o)
	if r.Input.Shape == ShapeAuto {
		r.Input.Shape = rd.shapeOf(o, !list.Missing())
	}
	switch {
	case r.Input.Shape == ShapeResponse:
		rd.response(r, o)
	case r.Input.Shape == ShapeMessage:
		rd.element(r, root, 0)
	case list.Missing():
		r.Fail(&root, "must be a list of messages, or an object that holds one")
	default:
		rd.dialect.System(r, o)
		rd.list(r, list)
	}
}

// shapeOf returns the shape that an object has by itself.
func (rd reader) shapeOf(o *Object, list bool) Shape {
	switch {
	case rd.dialect.IsResponse(o):
		return ShapeResponse
	case list:
		return ShapeHistory
	default:
		return ShapeMessage
	}
}

func (rd reader) list(r *Reading, list Node) {
	if r.Input.Shape == ShapeAuto {
		r.Input.Shape = ShapeHistory
	}
	switch {
	case r.Input.Shape == ShapeResponse:
		r.Fail(&list, "must be an object: what the provider answered")
		return
	case list.Is('"'): // the short form of a single user message
		r.keep(list)
		rd.element(r, list, 0)
		return
	}
	for i, n := range r.List(list) {
		if len(r.faults) == maxReadFaults {
			return
		}
		r.keep(n)
		rd.element(r, n, i)
	}
}

func (r *Reading) keep(n Node) {
	if r.Input.Shape == ShapeHistory {
		r.Input.Elements = append(r.Input.Elements, n.JSON)
	}
}

func (rd reader) element(r *Reading, n Node, i int) {
	r.element = i
	rd.dialect.Element(r, n)
}

func (rd reader) response(r *Reading, o *Object) {
	usage := rd.dialect.Response(r, o)
	if !usage.Missing() {
		r.Input.Usage = r.usageIfAny(usage)
	}
	for i := range r.Input.Messages {
		if m := &r.Input.Messages[i]; m.Role == conversation.RoleAssistant {
			m.Model = r.Input.Model
		}
	}
}

// refusal is an error that names all violations.
func (r *Reading) refusal(text string) error {
	err := conversation.Errorf(conversation.InvalidField, "%s", text)
	err.Violations = r.faults
	return err
}

// Add appends a message. A message without content is skipped.
func (r *Reading) Add(n Node, role conversation.Role, name string, parts []conversation.Part) {
	parts = slices.DeleteFunc(parts, func(p conversation.Part) bool {
		return p.Kind == conversation.PartText && p.Text.Inline == "" && p.Residue == nil
	})
	if len(parts) == 0 {
		return
	}
	if role == conversation.RoleSystem && r.leads() {
		r.Input.Leads = true
		for i := range parts {
			r.AddSystem(parts[i].Text.Inline)
		}
		return
	}
	m := InputMessage{First: r.element, End: r.element + 1}
	m.Role, m.Name, m.Parts = role, name, parts
	if role == conversation.RoleAssistant {
		m.Model = r.Request.Model
	}
	r.Input.Messages = append(r.Input.Messages, m)
	r.check(n, &r.Input.Messages[len(r.Input.Messages)-1])
}

// AddInput appends results as tool messages and other parts as user messages, in order.
func (r *Reading) AddInput(n Node, parts []conversation.Part) {
	start := 0
	for i := 1; i <= len(parts); i++ {
		if i == len(parts) || isResult(&parts[i]) != isResult(&parts[start]) {
			role := conversation.RoleUser
			if isResult(&parts[start]) {
				role = conversation.RoleTool
			}
			r.Add(n, role, "", slices.Clone(parts[start:i]))
			start = i
		}
	}
}

func isResult(p *conversation.Part) bool { return p.Kind == conversation.PartToolResult }

// Join adds to the assistant message directly before, or appends a new one: to the model, neighbors are one turn.
func (r *Reading) Join(n Node, parts []conversation.Part) {
	m := r.assistantBefore()
	if m == nil {
		r.Add(n, conversation.RoleAssistant, "", parts)
		return
	}
	m.Parts = append(m.Parts, parts...)
	m.End = r.element + 1
	r.check(n, m)
}

// assistantBefore returns the assistant message directly before the current element; nil if there is none.
func (r *Reading) assistantBefore() *InputMessage {
	last := len(r.Input.Messages) - 1
	if last < 0 || r.Input.Messages[last].Role != conversation.RoleAssistant {
		return nil
	}
	return &r.Input.Messages[last]
}

// Calls returns the number of calls in the assistant message that the next element would join.
func (r *Reading) Calls() int {
	m := r.assistantBefore()
	if m == nil {
		return 0
	}
	return countCalls(m)
}

func countCalls(m *InputMessage) (n int) {
	for i := range m.Parts {
		if m.Parts[i].Kind == conversation.PartToolCall {
			n++
		}
	}
	return n
}

// leads reports whether a system message read now is one of those that lead the list.
func (r *Reading) leads() bool {
	return r.Input.Shape == ShapeHistory && !r.Request.Tail && len(r.Input.Messages) == 0
}

// check checks a message against the limits of the API.
func (r *Reading) check(n Node, m *InputMessage) {
	if len(m.Parts) > maxReadParts {
		r.Fail(&n, "must have at most %d parts", maxReadParts)
	}
	if countCalls(m) > maxReadCalls {
		r.Fail(&n, "must have at most %d tool calls", maxReadCalls)
	}
	for i := range m.Parts {
		if res := m.Parts[i].Residue; res != nil && len(res.JSON) > maxReadResidue {
			r.Fail(&n, "must have at most %d bytes beside what its parts hold", maxReadResidue)
		}
	}
}

// tagAborted tags the reply that was cut off: its calls are never answered.
func (r *Reading) tagAborted() {
	last := len(r.Input.Messages) - 1
	if r.Request.Aborted && last >= 0 && r.Input.Messages[last].Role == conversation.RoleAssistant {
		r.Tag(conversation.TagAborted)
	}
}

// Last returns the parts of the last message; none if there is none.
func (r *Reading) Last() []conversation.Part {
	if last := len(r.Input.Messages) - 1; last >= 0 {
		return r.Input.Messages[last].Parts
	}
	return nil
}

// Tag tags the last message, if there is one.
func (r *Reading) Tag(tag string) {
	if last := len(r.Input.Messages) - 1; last >= 0 {
		m := &r.Input.Messages[last]
		m.Tags = append(m.Tags, tag)
	}
}
