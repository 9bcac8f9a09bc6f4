// Package placement gives a message its place in a conversation, from the head alone: its unit, the calls that its results answer, the
// request that it follows, and its number among inputs.
package placement

import (
	"fmt"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// maxForgotten is how many unanswered calls of closed units are remembered. A late result for an older call is refused: the head is part of
// every append and has to stay small.
const maxForgotten = 256

// maxPins is how many units of one conversation may be pinned.
const maxPins = 128

// Pair opens and closes units, numbers the calls of a message and finds the calls that its results answer. Ids repeat in real histories. In
// the open unit, an id means the first unanswered call that has it; among closed units, the newest. A result without an id, as Gemini sends
// it, means a call of its tool. A result that comes behind other messages joins its call unless a build has shown the call.
func Pair(head *store.Head, m *conversation.Message, field string) error {
	return pairing{joins: unseen(head)}.pair(head, m, field)
}

// PairCut pairs a message of a list whose front was cut off. A result may answer no call; its ordinal is 0 then.
func PairCut(head *store.Head, m *conversation.Message, field string) error {
	return pairing{joins: unseen(head), orphan: func(*conversation.ToolResult) bool { return true }}.pair(head, m, field)
}

// PairAgain pairs a message of an imported record. Its results join calls, or answer none, as they did there: an export does not tell for
// each message what builds had shown.
func PairAgain(head *store.Head, m *conversation.Message, field string) error {
	return pairing{
		joins:  func(r *conversation.ToolResult, _ *store.Call) bool { return r.Joins },
		orphan: func(r *conversation.ToolResult) bool { return r.Ordinal == 0 },
	}.pair(head, m, field)
}

// pairing holds the rules for results.
type pairing struct {
	joins  func(*conversation.ToolResult, *store.Call) bool // whether a result joins a call of an earlier unit
	orphan func(*conversation.ToolResult) bool              // whether a result may answer no call; nil if none may
}

func unseen(head *store.Head) func(*conversation.ToolResult, *store.Call) bool {
	return func(_ *conversation.ToolResult, c *store.Call) bool { return c.Message >= head.Seen }
}

func (x pairing) pair(head *store.Head, m *conversation.Message, field string) error {
	enterUnit(head, m)
	for i := range m.Parts {
		switch p := &m.Parts[i]; p.Kind {
		case conversation.PartToolCall:
			numberCall(head, p.Call)
			head.Unanswered = append(head.Unanswered, store.Call{
				CallID: p.Call.CallID, Name: p.Call.Name, Ordinal: p.Call.Ordinal, Message: m.Index, Closed: m.Aborted(),
			})
		case conversation.PartToolResult:
			at := answeredCall(head, p.Result)
			orphan := x.orphan != nil && x.orphan(p.Result)
			p.Result.Ordinal, p.Result.Joins = 0, p.Result.Joins && at >= 0
			if at < 0 && orphan {
				continue
			}
			if at < 0 {
				return withoutCall(fmt.Sprintf("%s.parts[%d].tool_result.call_id", field, i))
			}
			c := head.Unanswered[at]
			p.Result.CallID, p.Result.Ordinal = c.CallID, c.Ordinal
			p.Result.Joins = m.Role == conversation.RoleTool && !c.Closed && c.Message < head.UnitStart && x.joins(p.Result, &c) && pinBeside(head, m, &c)
			head.Unanswered = append(head.Unanswered[:at], head.Unanswered[at+1:]...)
		}
	}
	return nil
}

// enterUnit finds the unit of a message: the newest one, or one that the message begins (behaviour §1).
func enterUnit(head *store.Head, m *conversation.Message) {
	joined := joinsUnit(head, m)
	if !joined {
		head.UnitStart = m.Index
		ForgetOldest(head)
	}
	m.Unit = head.UnitStart + 1
	LeaveOpen(head, m, joined)
}

// LeaveOpen records what may join the newest unit after a message.
func LeaveOpen(head *store.Head, m *conversation.Message, joined bool) {
	head.CallsEnd = 0
	switch {
	case standsAlone(m):
		head.UnitStart = m.Index + 1
	case m.Role == conversation.RoleAssistant && (joined || m.HasCalls()):
		head.CallsEnd = m.Index + 1
	}
}

// standsAlone reports whether a message was cut off, so that nobody answers its calls.
func standsAlone(m *conversation.Message) bool {
	return m.Role == conversation.RoleAssistant && m.Aborted()
}

// joinsUnit reports whether a message belongs to the newest unit. A unit that a build has shown takes no more messages of the assistant.
func joinsUnit(head *store.Head, m *conversation.Message) bool {
	switch m.Role {
	case conversation.RoleTool:
		return TakesResults(head, m.Index)
	case conversation.RoleAssistant:
		return m.Index > 0 && m.Index == head.CallsEnd && head.Seen <= head.UnitStart && !m.Aborted()
	default:
		return false
	}
}

// TakesResults reports whether a tool message at index joins the newest unit. That is a unit of an assistant with calls: it has an
// unanswered call, or already a second message.
func TakesResults(head *store.Head, index int32) bool {
	if index == 0 {
		return false
	}
	if head.UnitStart < index-1 {
		return true
	}
	return slices.ContainsFunc(head.Unanswered, func(c store.Call) bool { return c.Message >= head.UnitStart })
}

// answeredCall finds the call that a result answers: by its id or, without an id, by its tool's name; -1 if there is none.
func answeredCall(head *store.Head, r *conversation.ToolResult) int {
	newest := -1
	for i, c := range head.Unanswered {
		if c.CallID != r.CallID && (r.CallID != "" || c.Name != r.Name) {
			continue
		}
		if c.Message >= head.UnitStart {
			return i
		}
		newest = i
	}
	return newest
}

// ForgetOldest drops the oldest unanswered calls beyond those that a head may hold.
func ForgetOldest(head *store.Head) {
	if n := len(head.Unanswered) - maxForgotten; n > 0 {
		head.Unanswered = head.Unanswered[n:]
	}
}

func withoutCall(field string) error {
	return conversation.Errorf(conversation.ResultWithoutCall, "a tool result answers no call: append its call first, or leave it out").
		At(field, "no unanswered call of the conversation has this id")
}

// Admit updates the head for a message that has its unit: pins, leading system messages, the request, and its number.
func Admit(head *store.Head, m *conversation.Message) error {
	if err := pin(head, m); err != nil {
		return err
	}
	if m.Role == conversation.RoleSystem && m.Index == head.LeadingSystem {
		head.LeadingSystem++
	} else {
		NoteRequest(head, m)
	}
	NumberInput(head, m)
	return nil
}

// pinBeside pins a message whose result joins a pinned call; false if there is no room for that.
func pinBeside(head *store.Head, m *conversation.Message, c *store.Call) bool {
	last := len(head.Pins) - 1
	first, _ := m.UnitFirst()
	switch {
	case !conversation.InRanges(head.Pins, c.Message), head.Pins[last].First == first, head.Pins[last].First == m.Index: // no need
		return true
	case len(head.Pins) == maxPins:
		return false
	}
	head.Pins = append(head.Pins, conversation.Range{First: m.Index, End: m.Index + 1})
	return true
}

// Readmit marks a call as answered again by a result that had been taken back, and pins the result's message if the call is pinned.
func Readmit(head *store.Head, m *conversation.Message, r *conversation.ToolResult) {
	head.Unanswered = slices.DeleteFunc(head.Unanswered, func(c store.Call) bool {
		if c.Ordinal != r.Ordinal {
			return false
		}
		if r.Joins {
			pinBeside(head, m, &c)
		}
		return true
	})
}

// pin pins the unit of a pinned message. A pinned unit that keeps growing is pinned to its end.
func pin(head *store.Head, m *conversation.Message) error {
	first, _ := m.UnitFirst()
	last := len(head.Pins) - 1
	if last >= 0 && head.Pins[last].First == first {
		head.Pins[last].End = m.Index + 1
		return nil
	}
	if !m.Pinned {
		return nil
	}
	if len(head.Pins) == maxPins {
		return conversation.Errorf(conversation.LimitExceeded, "a conversation holds at most %d pinned units", maxPins)
	}
	head.Pins = append(head.Pins, conversation.Range{First: first, End: m.Index + 1})
	return nil
}
