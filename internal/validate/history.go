package validate

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Message is a message of the record, as it was appended.
type Message struct {
	Role   string // system, user, assistant, tool
	Pinned bool
	Items  []Item
}

// Tokens returns what the message weighs in full.
func (m *Message) Tokens(count Counter) int {
	n := perMessage
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
	newest     int      // where the newest unit begins
	open       []string // calls of the newest unit without a result
	unanswered map[string]int
	// Tokens is the weight of all messages in full.
	Tokens int
}

// NewHistory returns an empty history.
func NewHistory(count Counter) *History {
	return &History{count: count, unanswered: map[string]int{}}
}

// Add appends a message. A tool message directly after an assistant's calls,
// or after tool messages that are, belongs to their unit (behaviour §1); any
// other begins one.
func (h *History) Add(m Message) {
	w := m.Tokens(h.count)
	h.Tokens += w
	h.messages, h.weights = append(h.messages, m), append(h.weights, w)
	if m.Role != "tool" || !h.joins() {
		h.newest, h.open = len(h.messages)-1, nil
	}
	for _, item := range m.Items {
		h.pair(item)
	}
}

// joins says whether a tool message that was just added belongs to the unit
// before it.
func (h *History) joins() bool {
	return len(h.messages) > 1 && slices.ContainsFunc(h.messages[h.newest].Items, func(it Item) bool { return it.Kind == Call })
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
	for last > 0 && h.messages[last].Role == "tool" {
		last--
	}
	return h.bone(last)
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
