package validate

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// Format names the shape of a context.
type Format string

// The formats, named as the command line names them.
const (
	OpenAIChat      Format = "openai-chat"
	OpenAIResponses Format = "openai-responses"
	Anthropic       Format = "anthropic"
	Gemini          Format = "gemini"
	// Neutral is the JSON that neutral messages are given to a Checker in: a
	// list of {role, parts}, each part an [Item].
	Neutral Format = "neutral"
)

// Violation is a rule that a context breaks. It never holds text of the
// conversation.
type Violation struct {
	At   string // where, such as messages[3].content[0]
	Rule Rule
}

func (v Violation) String() string { return fmt.Sprintf("%s: %s", v.At, v.Rule) }

// Rule is what a context must keep.
type Rule string

// The rules.
const (
	RuleJSON       Rule = "must be strict JSON in UTF-8"
	RuleUnknownKey Rule = "has a key that the provider does not know"
	RuleTwice      Rule = "has a key twice"
	RuleMissing    Rule = "lacks a required key"
	RuleType       Rule = "has a value of the wrong type"
	RuleValue      Rule = "has a value that the provider does not know"
	RuleSystem     Rule = "system stands where the format has no place for it"
	RuleRole       Rule = "has a role that the format does not know"
	RuleEmpty      Rule = "is empty"
	RuleID         Rule = "id does not match the provider's pattern"
	RuleIDUnique   Rule = "id is used twice"
	RuleName       Rule = "tool name does not match the provider's pattern"
	RuleSpeaker    Rule = "name of who speaks does not match the provider's pattern"
	RuleArguments  Rule = "arguments are not in the form the provider demands"
	RuleUnanswered Rule = "call has no result where the provider demands it"
	RuleUnasked    Rule = "result has no call where the provider demands it"
	RulePlace      Rule = "results must stand before anything else in their message"
	RuleCount      Rule = "results are not as many as calls"
	RuleFirst      Rule = "first message must be the user's"
	RuleLast       Rule = "last message must be the user's"
	RuleAlternate  Rule = "roles must alternate"
	RuleSignature  Rule = "thinking lacks its signature"
	RuleCallSigned Rule = "first call of a step lacks its signature"
	RuleThinking   Rule = "thinking must not end its message"
	RuleReasoning  Rule = "reasoning must precede the item it belongs to"
	RuleThought    Rule = "message lacks the reasoning that the provider demands on it"
	RuleErrorText  Rule = "result that reports an error must say something"
)

// Kind says what an Item is.
type Kind string

// The kinds of items.
const (
	Text      Kind = "text"
	Call      Kind = "call"
	Result    Kind = "result"
	Media     Kind = "media"
	Reasoning Kind = "reasoning"
	Opaque    Kind = "opaque"
)

// Item is one thing that a message says, in a context or in the record.
type Item struct {
	Kind  Kind     `json:"kind"`
	ID    string   `json:"id,omitempty"`    // of a call or result
	Name  string   `json:"name,omitempty"`  // of a tool
	Texts []string `json:"texts,omitempty"` // the words; a call's arguments; the pieces of a result
	Media int      `json:"media,omitempty"` // pieces that are not text
}

// Block is what a prompt cache can keep as a whole: a message, or in formats
// that merge messages a block of one.
type Block struct {
	Role   string
	JSON   string // the exact bytes
	Tokens int    // in a Context the frame of its message included, if it is the first in it
	Items  []Item
}

// entry is an element of a context: a message, an item of OpenAI's Responses.
type entry struct {
	role   string
	blocks []Block
	calls  []string  // ids, or names where the format pairs by position
	signed bool      // the first call has its signature
	spoken bool      // holds more than results
	bare   bool      // part of the message before it, if the assistant's
	said   *chatSaid // the assistant's, in Chat
	own    []ownCall
	faults []Violation
}

// Context is what a Checker read.
type Context struct {
	Violations []Violation
	Blocks     []Block // system blocks first
	Tokens     int
}

// Counter weighs a text in tokens.
type Counter func(text string) int

// Memoized counts each text once.
func Memoized(count Counter) Counter {
	counts := map[string]int{}
	return func(text string) int {
		n, ok := counts[text]
		if !ok {
			n = count(text)
			counts[text] = n
		}
		return n
	}
}

// Checker judges the contexts of one conversation in one format. It remembers
// every element it has read, so it is to be dropped with the conversation. It
// is not safe for concurrent use.
type Checker struct {
	// Model is the model that is called: some refuse what others take. Empty means what all refuse.
	Model   string
	dialect dialect
	count   Counter
	systems map[string]*entry
	seen    map[string]*entry
}

// dialect is what formats differ in.
type dialect struct {
	list    string // how the documentation calls the list of elements
	system  func(r *reader, raw []byte) entry
	element func(r *reader, raw []byte) entry
	order   func(r *reader, entries []*entry)
}

func dialectOf(format Format) (dialect, error) {
	switch format {
	case OpenAIChat:
		return dialect{"messages", noSystem, chatMessage, chatOrder}, nil
	case OpenAIResponses:
		return dialect{"input", noSystem, responsesItem, responsesOrder}, nil
	case Anthropic:
		return dialect{"messages", anthropicSystem, anthropicMessage, anthropicOrder}, nil
	case Gemini:
		return dialect{"contents", geminiSystem, geminiContent, geminiOrder}, nil
	case Neutral:
		return dialect{"messages", noSystem, neutralMessage, neutralOrder}, nil
	default:
		return dialect{}, fmt.Errorf("validate: no format is named %q", format)
	}
}

// NewChecker returns a Checker for a format, which must be one of the named
// ones.
func NewChecker(format Format, count Counter) (*Checker, error) {
	d, err := dialectOf(format)
	return &Checker{dialect: d, count: count, systems: map[string]*entry{}, seen: map[string]*entry{}}, err
}

// Check returns what is illegal in a context. An empty system means none.
func Check(format Format, system, messages []byte) ([]Violation, error) {
	c, err := NewChecker(format, func(string) int { return 0 })
	if err != nil {
		return nil, err
	}
	return c.Read(system, messages).Violations, nil
}

// Count returns what a context weighs by the formula of behaviour §12: content,
// and 4 tokens a message, and 6 a call with its name and arguments, and 1,600
// for what is not text. Messages are those of the rendering, so neighbors that
// a format merges weigh one frame.
func Count(format Format, system, messages []byte, count Counter) (int, error) {
	c, err := NewChecker(format, count)
	if err != nil {
		return 0, err
	}
	return c.Read(system, messages).Tokens, nil
}

// Read judges and weighs one context.
func (c *Checker) Read(system, messages []byte) *Context {
	r := &reader{count: c.count, model: c.Model}
	out := &Context{}
	if len(system) > 0 {
		out.add("system", once(c.systems, system, c.count, c.dialect.system), false)
	}
	elements, ok := splitArray(messages)
	if !ok {
		r.fault(c.dialect.list, RuleJSON)
	}
	if len(elements) == 0 {
		r.fault(c.dialect.list, RuleEmpty)
	}
	entries := make([]*entry, len(elements))
	for i, raw := range elements {
		entries[i] = once(c.seen, raw, c.count, c.dialect.element)
		joined := i > 0 && entries[i].bare && (entries[i-1].bare || entries[i-1].role == "assistant")
		out.add(at(c.dialect.list, i), entries[i], joined)
	}
	c.dialect.order(r, entries)
	demandsOf(c.Model).check(r, entries)
	out.Violations = append(out.Violations, r.faults...)
	return out
}

// once reads an element, unless one of the same bytes was read before.
func once(seen map[string]*entry, raw []byte, count Counter, read func(*reader, []byte) entry) *entry {
	if e, ok := seen[string(raw)]; ok {
		return e
	}
	r := &reader{count: count}
	e := entry{}
	if !utf8.Valid(raw) || !json.Valid(raw) {
		r.fault("", RuleJSON)
	} else {
		e = read(r, raw)
	}
	e.faults = r.faults
	seen[string(raw)] = &e
	return &e
}

// add appends an entry's blocks; a joined one carries no frame of its own.
func (c *Context) add(where string, e *entry, joined bool) {
	for _, v := range e.faults {
		c.Violations = append(c.Violations, Violation{where + v.At, v.Rule})
	}
	first := len(c.Blocks)
	c.Blocks = append(c.Blocks, e.blocks...)
	if first < len(c.Blocks) && !joined {
		c.Blocks[first].Tokens += perMessage
	}
	for i := first; i < len(c.Blocks); i++ {
		c.Tokens += c.Blocks[i].Tokens
	}
}
