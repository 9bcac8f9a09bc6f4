package conversation

import (
	"slices"
	"strings"
	"time"
)

// Role says who speaks.
type Role int8

// The roles. The numbers are those of the API.
const (
	RoleUnspecified Role = iota
	RoleSystem
	RoleUser
	RoleAssistant
	RoleTool
)

// String returns the provider-neutral name of the role.
func (r Role) String() string {
	switch r {
	case RoleSystem:
		return "system"
	case RoleUser:
		return "user"
	case RoleAssistant:
		return "assistant"
	case RoleTool:
		return "tool"
	default:
		return "unspecified"
	}
}

// MessageType says what a message is for, if its role does not say so.
type MessageType int8

// The message types. The numbers are those of the API.
const (
	TypeUnspecified MessageType = iota
	TypeUserInput
	TypeActionResult
	TypeSubAgentResult
	TypeRetryContext
	TypeSystem
	TypeOther
)

// Importance says how much of a message or a tool result is kept when the view shrinks (behaviour §5, §7, §8).
type Importance int8

// The importances, lowest first. The numbers are those of the API.
const (
	ImportanceUnspecified Importance = iota // same as normal
	ImportanceLow
	ImportanceNormal
	ImportanceHigh
)

// Message is one entry of the record. Once it has an index it must not be changed, and anybody may keep it.
type Message struct {
	ID      string
	Index   int32 // position in the record, from 0; it never changes and is never used again
	Role    Role
	Name    string // which of several speakers in the role
	Parts   []Part
	Type    MessageType
	Actions []ActionRef
	// Expiration says how long the message's words live, resolved at append; nil if nothing sets it.
	Expiration *Expiration
	// Importance is the importance of the message's words, resolved at append. Each result has its own.
	Importance Importance
	Pinned     bool
	Model      string // model that wrote it
	RunID      string
	StepID     string
	Tags       []string
	Metadata   string // the caller's JSON object, byte for byte
	CreateTime time.Time
	TurnAdded  int32
	Tokens     int32 // weight of all parts and of the message itself, before the calibration factor
	Estimated  bool  // a part's tokens are an estimate from a sample
	RequestID  string
	// Place is the message's number among those that count for retention; zero if the message carries no retention.
	Place Place
	// RequestBack is the distance to the last earlier message with a user's own words. It is 0 if there is none, or if this message has no
	// such words.
	RequestBack int32
	Commit      uint64 // the version that the commit made; events are ordered by it
	// Unit is 1 + the index of the first message of its unit; 0 in records from before units were stored.
	Unit int32

	// Unknown holds fields that a newer version wrote.
	Unknown string
}

// UnitFirst returns the index of the first message of the message's unit. It is unknown for tool messages recorded before units were
// stored. Such a unit is an assistant message with calls and the tool messages directly after it.
func (m *Message) UnitFirst() (first int32, known bool) {
	if m.Unit > 0 {
		return m.Unit - 1, true
	}
	return m.Index, m.Role != RoleTool
}

// Place numbers a message for retention, from 1, in two ways: among the messages that carry retention, and among all messages of the user
// and of tools.
type Place struct{ Carrying, Inputs int32 }

// ActionRef names an action of the agent framework.
type ActionRef struct {
	ActionID      string
	AgentActionID string
}

// PartKind says what a part holds.
type PartKind int8

// The kinds of parts.
const (
	PartUnspecified PartKind = iota
	PartText
	PartMedia
	PartToolCall
	PartToolResult
	PartReasoning
	PartOpaque
)

// Part is one piece of a message's content. Exactly the field that Kind names is set.
type Part struct {
	Kind      PartKind
	Text      Content
	Media     *Media
	Call      *ToolCall
	Result    *ToolResult
	Reasoning *Reasoning
	Opaque    *Opaque
	Tokens    int32 // weight before the calibration factor
	Estimated bool
	Retention Retention
	Plugin    string // the plugin that added the part; empty for the caller's own parts
	Variant   Variant
	// Citation says what a shown text or result stands for at level Cited; nil otherwise.
	Citation *Citation
	// Recalled holds the memories from which a text was made; nil for all other parts. Only views have such parts.
	Recalled *RecalledMemories
	// Residue is what the provider's JSON said about the part that no field holds; nil for most parts.
	Residue *Residue

	// Unknown holds fields that a newer version wrote.
	Unknown string
}

// Media is content that is not text.
type Media struct {
	MIMEType string
	Data     Content
	URI      string // set instead of Data
	Detail   string
}

// ToolCall is a tool call by the model.
type ToolCall struct {
	CallID    string
	Name      string
	Arguments Content // as the model wrote them; not always JSON
	Ordinal   int32   // number of the call in its conversation, from 1, set at append
	// Unique is set if no earlier call of the conversation had the same id, so that the call is rendered with its own id.
	Unique bool
}

// ResultState says how a call ended.
type ResultState int8

// The states. The numbers are those of the API.
const (
	ResultUnspecified ResultState = iota
	ResultCompleted
	ResultError
)

// OutputKind is the shape of a result.
type OutputKind int8

// The shapes of results.
const (
	OutputText OutputKind = iota
	OutputJSON
	OutputParts
)

// ToolResult is the answer to a call.
type ToolResult struct {
	CallID  string
	Name    string
	State   ResultState
	Output  OutputKind
	Text    Content      // for OutputText and OutputJSON
	Parts   []ResultPart // for OutputParts
	Actions []ActionRef
	// Expiration says how long the result lives, resolved at append; nil if nothing sets it.
	Expiration *Expiration
	Importance Importance // resolved at append
	Ordinal    int32      // ordinal of the call that it answers, set at append
	// Joins is set at append if the result came behind other messages and no build had shown its call as unanswered. Views show it next to
	// its call.
	Joins bool
	// Recalled says what the result recalled; nil for most results.
	Recalled *Recalled
	// Source is the source that the caller gave for the result; nil for most results.
	Source *ResultSource

	// Unknown holds fields that a newer version wrote.
	Unknown string
}

// Texts returns the texts of a result: one, or several that may have media between them.
func (r *ToolResult) Texts() []string {
	if r.Output != OutputParts {
		return []string{r.Text.Inline}
	}
	var texts []string
	for i := range r.Parts {
		if r.Parts[i].Media == nil {
			texts = append(texts, r.Parts[i].Text.Inline)
		}
	}
	return texts
}

// Words returns the texts of a result, each on its own lines.
func (r *ToolResult) Words() string { return strings.Join(r.Texts(), "\n") }

// Lines returns the result as one text: its pieces on lines of their own, with one line for each medium.
func (r *ToolResult) Lines() string {
	if r.Output != OutputParts {
		return r.Text.Inline
	}
	lines := make([]string, len(r.Parts))
	for i := range r.Parts {
		if lines[i] = r.Parts[i].Text.Inline; r.Parts[i].Media != nil {
			lines[i] = r.Parts[i].Media.Line()
		}
	}
	return strings.Join(lines, "\n")
}

// ResultPart is one piece of a result that has several: media if Media is set, otherwise text.
type ResultPart struct {
	Text  Content
	Media *Media
}

// Reasoning is the model's thinking as its provider returned it.
type Reasoning struct {
	Text      Content
	Signature Content
	Provider  string
	Model     string
}

// Opaque is a block that only its provider understands, kept byte for byte.
type Opaque struct {
	Provider string
	JSON     Content
}

// Residue holds members of a provider's JSON that a part has no fields for. Only formats of that provider show them.
type Residue struct {
	Provider string
	JSON     string // an object, byte for byte
}

// Bytes is the number of bytes of the residue; 0 if there is none.
func (r *Residue) Bytes() int64 {
	if r == nil {
		return 0
	}
	return int64(len(r.JSON))
}

// CloneParts makes a copy of parts whose contents can be replaced without changing the original.
func CloneParts(parts []Part) []Part {
	out := make([]Part, len(parts))
	for i, p := range parts {
		out[i] = clonePart(p)
	}
	return out
}

func clonePart(p Part) Part {
	p.Media, p.Call, p.Result = clone(p.Media), clone(p.Call), clone(p.Result)
	p.Reasoning, p.Opaque, p.Residue = clone(p.Reasoning), clone(p.Opaque), clone(p.Residue)
	if p.Result != nil {
		p.Result.Parts = append([]ResultPart(nil), p.Result.Parts...)
		for i := range p.Result.Parts {
			p.Result.Parts[i].Media = clone(p.Result.Parts[i].Media)
		}
	}
	return p
}

func clone[T any](p *T) *T {
	if p == nil {
		return nil
	}
	return new(*p)
}

// HasCalls reports whether the message has tool calls.
func (m *Message) HasCalls() bool {
	for i := range m.Parts {
		if m.Parts[i].Kind == PartToolCall {
			return true
		}
	}
	return false
}

// OwnWords reports whether the message holds a user's own words (behaviour §1). What actions, other agents and retries put in the user's
// role is not the user's, and neither is what a plugin added.
func (m *Message) OwnWords() bool {
	return m.isTyped() && slices.ContainsFunc(m.Parts, func(p Part) bool { return p.ownWords() })
}

// isTyped reports whether a user typed the caller's parts of the message.
func (m *Message) isTyped() bool {
	switch m.Type {
	case TypeActionResult, TypeSubAgentResult, TypeRetryContext:
		return false
	}
	return m.Role == RoleUser
}

func (p *Part) ownWords() bool {
	return p.Kind == PartText && p.Plugin == "" && p.Recalled == nil && (p.Text.Ref != nil || p.Text.Erased != nil || strings.TrimSpace(p.Text.Inline) != "")
}

// TagAborted is the tag of a message that was cut off while it was made: its calls are never answered.
const TagAborted = "aborted"

// Aborted reports whether the message was cut off. It is a unit of its own, and nothing joins it.
func (m *Message) Aborted() bool { return slices.Contains(m.Tags, TagAborted) }

// TagPaused is the tag of a message at which the provider paused the model's turn. The turn goes on when the message is sent back
// unchanged.
const TagPaused = "paused"

// Paused reports whether the model's turn goes on after the message.
func (m *Message) Paused() bool { return slices.Contains(m.Tags, TagPaused) && !m.Aborted() }

// Overhead is the part of the message's weight that does not come from its parts: the flat cost of a message.
func (m *Message) Overhead() int32 {
	n := m.Tokens
	for i := range m.Parts {
		n -= m.Parts[i].Tokens
	}
	return n
}
