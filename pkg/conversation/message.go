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

// MessageType says what a message is for, where its role does not.
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

// Importance says how much of a message or a tool result is kept when the view becomes smaller (behaviour §5, §7, §8).
type Importance int8

// The importances, the least first. The numbers are those of the API.
const (
	ImportanceUnspecified Importance = iota // normal
	ImportanceLow
	ImportanceNormal
	ImportanceHigh
)

// Message is one entry of the record. It is immutable once it has an index: whoever holds one may keep it, nobody may change it.
type Message struct {
	ID      string
	Index   int32 // position in the record, from 0; never shifts, never returns
	Role    Role
	Name    string // who of several in the role speaks
	Parts   []Part
	Type    MessageType
	Actions []ActionRef
	// Expiration is how long the message's words live, resolved at append; nil where nothing says.
	Expiration *Expiration
	// Importance is that of the message's words, resolved at append; each result has its own.
	Importance Importance
	Pinned     bool
	Model      string // the model that wrote it
	RunID      string
	StepID     string
	Tags       []string
	Metadata   string // the caller's JSON object, byte for byte
	CreateTime time.Time
	TurnAdded  int32
	Tokens     int32 // all parts and the flat cost of a message, before the factor
	Estimated  bool  // a part was counted by sampling
	RequestID  string
	// Place is the message's number among those that count for retention, for one that carries retention.
	Place Place
	// RequestBack is how many messages before it the last one stands in which a user's own words are; 0 if there is none, or if no
	// such words are in it.
	RequestBack int32
	Commit      uint64 // the version that the commit made: what events are ordered by
	// Unit is 1 + the index of the first message of its unit; 0 in a record that was made before units were stored.
	Unit int32

	// Unknown is what a newer version wrote.
	Unknown string
}

// UnitFirst is the index of the first message of the message's unit. It is not known of tool messages that were recorded before
// units were stored: such a unit was one assistant message with calls and the tool messages directly after it.
func (m *Message) UnitFirst() (first int32, known bool) {
	if m.Unit > 0 {
		return m.Unit - 1, true
	}
	return m.Index, m.Role != RoleTool
}

// Place numbers a message, from 1, in the two ways of counting for retention: among the messages that carry retention, and
// among all of the user's and the tools'.
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
	Tokens    int32 // weight of the part, before the factor
	Estimated bool
	Retention Retention
	Plugin    string // that added the part; empty for the caller's own
	Variant   Variant
	// Citation says what a shown text or result stands for, at level Cited; nil otherwise.
	Citation *Citation
	// Recalled is what a text of recalled memories was made of; nil for all other parts. Only views have such parts.
	Recalled *RecalledMemories
	// Residue is what its provider said of the part that no field holds; nil for most.
	Residue *Residue

	// Unknown is what a newer version wrote.
	Unknown string
}

// Media is content that is not text.
type Media struct {
	MIMEType string
	Data     Content
	URI      string // set instead of Data
	Detail   string
}

// ToolCall is a call that the model asked for.
type ToolCall struct {
	CallID    string
	Name      string
	Arguments Content // as the model wrote them, JSON or not
	Ordinal   int32   // number of the call in its conversation, from 1, fixed at append
	// Unique: no other call of the conversation had the id when this one was appended, so that it can be rendered as it is.
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

// OutputKind says which shape a result has.
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
	// Expiration is how long the result lives, resolved at append; nil where nothing says.
	Expiration *Expiration
	Importance Importance // resolved at append
	Ordinal    int32      // the ordinal of the call it answers, fixed at append
	// Joins: it came behind other messages, and no build had shown its call as unanswered: views show it beside its call. Fixed at append.
	Joins bool
	// Recalled is what the result was brought back from; nil for most.
	Recalled *Recalled
	// Source is what the caller says that the result came from; nil for most.
	Source *ResultSource

	// Unknown is what a newer version wrote.
	Unknown string
}

// Texts are the pieces of a result that are text: one, or those of several between which media may lie.
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

// Words are the texts of a result, each on lines of its own.
func (r *ToolResult) Words() string { return strings.Join(r.Texts(), "\n") }

// Lines is the result as one text: its pieces, each on lines of its own, where media is one line.
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

// ResultPart is one piece of a result of several: media if Media is set, else text.
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

// Opaque is a provider's own block, kept byte for byte.
type Opaque struct {
	Provider string
	JSON     Content
}

// Residue is members of a provider's JSON that a part's fields do not hold. Only that provider's formats show them.
type Residue struct {
	Provider string
	JSON     string // an object, byte for byte
}

// Bytes is how much of the caller's the residue holds; 0 if there is none.
func (r *Residue) Bytes() int64 {
	if r == nil {
		return 0
	}
	return int64(len(r.JSON))
}

// CloneParts copies parts so deeply that the copy's contents can be replaced without touching the original.
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

// HasCalls says whether the message asks for tools.
func (m *Message) HasCalls() bool {
	for i := range m.Parts {
		if m.Parts[i].Kind == PartToolCall {
			return true
		}
	}
	return false
}

// OwnWords says whether a user's own words stand in the message (behaviour §1): what actions, other agents and retries gave back in
// the user's role is not the user's, and neither is what a plugin added.
func (m *Message) OwnWords() bool {
	return m.isTyped() && slices.ContainsFunc(m.Parts, func(p Part) bool { return p.ownWords() })
}

// isTyped says whether the caller's parts of the message are what a user typed.
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

// TagAborted is the tag of a message whose making was cut off: nobody answers the calls in it.
const TagAborted = "aborted"

// Aborted says whether the message was cut off. It is a unit for itself: nothing joins it.
func (m *Message) Aborted() bool { return slices.Contains(m.Tags, TagAborted) }

// TagPaused is the tag of a message at which the provider paused the model's turn: it goes on when it is sent back as it is.
const TagPaused = "paused"

// Paused says whether the model's turn goes on behind the message.
func (m *Message) Paused() bool { return slices.Contains(m.Tags, TagPaused) && !m.Aborted() }

// Overhead is the part of the message's weight that no part carries: the flat cost of a message.
func (m *Message) Overhead() int32 {
	n := m.Tokens
	for i := range m.Parts {
		n -= m.Parts[i].Tokens
	}
	return n
}
