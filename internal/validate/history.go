package validate

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Message is a message of the record, as it was appended.
type Message struct {
	Role    string // system, user, assistant, tool
	Name    string // who of several in the role speaks
	Pinned  bool
	Aborted bool // the assistant's, cut off: nobody answers its calls
	Items   []Item
}

// Tokens returns what the message weighs in full.
func (m *Message) Tokens(count Counter) int {
	n := perMessage
	if m.Name != "" {
		n += count("[Speaker: " + m.Name + "]\n")
	}
	for i := range m.Items {
		n += m.Items[i].tokens(count)
	}
	return n
}

// History is an independent model of a record: what may be asked of a context
// follows from it. The zero value is not useful; see NewHistory.
type History struct {
	count      Counter
	messages   []Message
	weights    []int
	begins     []int    // where the unit of each message begins
	newest     int      // where the newest unit begins
	shown      bool     // a build has shown the newest unit
	built      int      // messages at the last build
	builtAt    []int    // the same, when each message came
	open       []string // calls of the newest unit without a result
	unanswered map[string]int
	// Tokens is the weight of all messages in full.
	Tokens int
}

// NewHistory returns an empty history.
func NewHistory(count Counter) *History {
	return &History{count: count, unanswered: map[string]int{}}
}

// Add appends a message. What belongs to the unit before it, behaviour §1 says.
func (h *History) Add(m Message) {
	if !h.joins(&m) {
		h.newest, h.open, h.shown = len(h.messages), nil, false
	}
	w := m.Tokens(h.count)
	h.Tokens += w
	h.messages, h.weights, h.begins = append(h.messages, m), append(h.weights, w), append(h.begins, h.newest)
	h.builtAt = append(h.builtAt, h.built)
	for _, item := range m.Items {
		h.pair(item)
	}
	if m.Aborted {
		h.open = nil
	}
}

// Shown says that a build was made: what it has shown takes no further message
// of the assistant's.
func (h *History) Shown() { h.shown, h.built = true, len(h.messages) }

// joins says whether a message belongs to the newest unit: the assistant's do
// while calls wait and none was answered, a tool's do behind calls.
func (h *History) joins(m *Message) bool {
	if len(h.messages) == 0 {
		return false
	}
	unit := h.messages[h.newest:]
	asks := slices.ContainsFunc(unit[0].Items, func(it Item) bool { return it.Kind == Call }) && !unit[0].Aborted
	switch m.Role {
	case "tool":
		return asks
	case "assistant":
		return asks && !m.Aborted && !h.shown && unit[len(unit)-1].Role != "tool"
	default:
		return false
	}
}

func (h *History) pair(item Item) {
	switch item.Kind {
	case Call:
		h.open = append(h.open, item.ID)
		h.unanswered[item.ID]++
	case Result:
		h.unanswered[item.ID]--
		if i := slices.Index(h.open, item.ID); i >= 0 {
			h.open = slices.Delete(h.open, i, i+1)
		}
	}
}

// Units returns the units, oldest first.
func (h *History) Units() [][]Message {
	var out [][]Message
	for end := len(h.messages); end > 0; end = h.begins[end-1] {
		out = append(out, h.messages[h.begins[end-1]:end])
	}
	slices.Reverse(out)
	return out
}

// Newest returns the newest unit.
func (h *History) Newest() []Message { return h.messages[h.newest:] }

// Len returns the number of messages.
func (h *History) Len() int { return len(h.messages) }

// Pending says whether calls wait for results at the very end.
func (h *History) Pending() bool { return len(h.open) > 0 }

// SystemOnly says whether nobody but the system has spoken, or nobody at all.
func (h *History) SystemOnly() bool {
	return !slices.ContainsFunc(h.messages, func(m Message) bool { return m.Role != "system" })
}

// Blank says whether nobody but the system has said more than white space.
func (h *History) Blank() bool {
	return !slices.ContainsFunc(h.messages, func(m Message) bool {
		return m.Role != "system" && slices.ContainsFunc(m.Items, says)
	})
}

func says(it Item) bool {
	return it.Kind != Text && it.Kind != Reasoning || strings.TrimSpace(strings.Join(it.Texts, "")) != ""
}

// Orphan says whether a result with this id would answer nothing.
func (h *History) Orphan(id string) bool { return h.unanswered[id] <= 0 }

const (
	// boneChars is what the clipping of behaviour §4 leaves of a part at least.
	boneChars = 200
	// noteTokens allows for the words that say how to get the rest of a
	// clipped part, openerTokens for the fixed messages that a provider wants
	// first and last.
	noteTokens   = 40
	openerTokens = 24
)

// Bone estimates from the original messages the least that a context can weigh:
// leading system messages, pinned messages, and the newest unit with every part
// of its tool results clipped to 200 characters. A refusal for lack of room is
// right only if this is over the budget. The words that clipping and some
// providers' rules add are allowed for.
func (h *History) Bone() int { return h.bone(h.newest) }

// BoneSpoken is Bone with the newest unit that says more than white space in
// the place of the newest unit: a blank one may be rendered as nothing.
func (h *History) BoneSpoken() int {
	last := len(h.messages) - 1
	for last > 0 && !slices.ContainsFunc(h.messages[last].Items, says) {
		last--
	}
	if last < 0 {
		return h.bone(0)
	}
	return h.bone(h.begins[last])
}

// bone weighs everything from a message on, and what is always kept before it.
func (h *History) bone(newest int) int {
	n, leading := openerTokens, true
	for i := range h.messages {
		m := &h.messages[i]
		leading = leading && m.Role == "system"
		switch {
		case i >= newest && m.Role == "tool":
			n += h.clipped(m)
		case i >= newest || leading || m.Pinned:
			n += h.weights[i]
		}
	}
	return n
}

func (h *History) clipped(m *Message) int {
	n := perMessage
	for _, item := range m.Items {
		n += item.Media * perMedia
		for _, text := range item.Texts {
			if utf8.RuneCountInString(text) > boneChars {
				text = string([]rune(text)[:boneChars])
				n += noteTokens
			}
			n += h.count(text)
		}
	}
	return n
}
