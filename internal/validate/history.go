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
	starts     []int    // where each message's unit begins
	open       []string // calls of the newest unit without a result
	closed     bool     // the newest unit takes no further message of the assistant's
	unanswered map[string]int
	left, late int
	merged     int
	// Tokens is the weight of all messages in full.
	Tokens int
}

// NewHistory returns an empty history.
func NewHistory(count Counter) *History {
	return &History{count: count, unanswered: map[string]int{}}
}

// Add appends a message. To a unit belong (behaviour §1): a message of the
// assistant's with calls, those of the assistant's that stand directly behind
// calls that are open, up to the first tool message, and the tool messages
// directly after them. Any other message begins a unit.
func (h *History) Add(m Message) {
	start := len(h.messages)
	if h.joins(m.Role) {
		start = h.newest()
		if m.Role == "assistant" {
			h.merged++
		}
	} else {
		h.left += len(h.open)
		h.open, h.closed = nil, false
	}
	h.closed = h.closed || m.Role == "tool"
	w := m.Tokens(h.count)
	h.Tokens += w
	h.messages, h.weights, h.starts = append(h.messages, m), append(h.weights, w), append(h.starts, start)
	for _, item := range m.Items {
		h.pair(item)
	}
}

// joins says whether a message of this role that comes next belongs to the
// newest unit.
func (h *History) joins(role string) bool {
	switch role {
	case "assistant":
		return len(h.open) > 0 && !h.closed
	case "tool":
		return slices.ContainsFunc(h.Newest(), func(m Message) bool { return slices.ContainsFunc(m.Items, isCall) })
	default:
		return false
	}
}

func isCall(it Item) bool { return it.Kind == Call }

// newest is where the newest unit begins.
func (h *History) newest() int {
	if len(h.starts) == 0 {
		return 0
	}
	return h.starts[len(h.starts)-1]
}

func (h *History) pair(item Item) {
	switch item.Kind {
	case Call:
		h.open = append(h.open, item.ID)
		h.unanswered[item.ID]++
	case Result:
		h.unanswered[item.ID]--
		i := slices.Index(h.open, item.ID)
		if i < 0 {
			h.late++
			return
		}
		h.open = slices.Delete(h.open, i, i+1)
	}
}

// Shown says that a context has shown the newest unit: it takes no further
// message of the assistant's.
func (h *History) Shown() { h.closed = true }

// Unanswered is how many calls no result of their unit answers.
func (h *History) Unanswered() int { return h.left + len(h.open) }

// Late is how many results answer no call of their unit.
func (h *History) Late() int { return h.late }

// Merged is what the frames of the assistant's messages weigh that belong to the
// unit of another one: a rendering may write them as one message.
func (h *History) Merged() int { return perMessage * h.merged }

// Newest returns the newest unit.
func (h *History) Newest() []Message { return h.messages[h.newest():] }

// Unit returns where the unit of a message begins, and where the next one does.
func (h *History) Unit(message int) (first, end int) {
	first = h.starts[message]
	for end = message + 1; end < len(h.starts) && h.starts[end] == first; {
		end++
	}
	return first, end
}

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
func (h *History) Bone() int { return h.bone(h.newest()) }

// BoneSpoken is Bone with the newest unit that says more than white space in
// the place of the newest unit: a blank one may be rendered as nothing.
func (h *History) BoneSpoken() int {
	last := len(h.messages) - 1
	for last > 0 && !slices.ContainsFunc(h.messages[last].Items, says) {
		last--
	}
	if last < 0 {
		return openerTokens
	}
	return h.bone(h.starts[last])
}

// Opener is what the fixed messages weigh at most that a provider wants first
// and last.
func Opener() int { return openerTokens }

// Cut is the least that a message of one text may weigh of which so many
// characters are shown, head and tail, with the words that say so.
func Cut(text string, chars int, count Counter) int {
	runes := []rune(text)
	if len(runes) <= chars {
		return perMessage + count(text)
	}
	return perMessage + noteTokens + count(string(runes[:chars/2])) + count(string(runes[len(runes)-chars+chars/2:]))
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
