// Package placement gives a message its place in a conversation, from the head alone: the unit that it belongs to, the calls that its results
// answer, the request before it, its number among inputs.
package placement

import (
	"fmt"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// maxForgotten is how many calls are remembered that were never answered and whose unit has closed. A late result to an older
// one is refused: the head, which every append writes, has to stay small.
const maxForgotten = 256

// maxPins is how many units may be pinned in one conversation.
const maxPins = 128

// Pair opens and closes units, numbers the calls of a message and finds the calls that its results answer. Ids repeat in real
// histories: in the open unit the first unanswered call with the id is meant, of closed units the newest. A result without an id, as Gemini
// has them, means its tool's. One that comes behind other messages joins its call, unless a build has shown that.
func Pair(head *store.Head, m *conversation.Message, field string) error {
	return pairing{joins: unseen(head)}.pair(head, m, field)
}

// PairCut pairs a message of a list whose front was cut off: a result may answer no call, and has no ordinal then.
func PairCut(head *store.Head, m *conversation.Message, field string) error {
	return pairing{joins: unseen(head), orphan: func(*conversation.ToolResult) bool { return true }}.pair(head, m, field)
}

// PairAgain pairs a message of another record, whose results join calls, or answer none, as they did there: what builds have shown is not told
// message by message.
func PairAgain(head *store.Head, m *conversation.Message, field string) error {
	return pairing{
		joins:  func(r *conversation.ToolResult, _ *store.Call) bool { return r.Joins },
		orphan: func(r *conversation.ToolResult) bool { return r.Ordinal == 0 },
	}.pair(head, m, field)
}

// pairing says what results may do.
type pairing struct {
	joins  func(*conversation.ToolResult, *store.Call) bool // a call of an earlier unit
	orphan func(*conversation.ToolResult) bool              // answer none; nil if none may
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
			at := answered(head, p.Result)
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

// enterUnit finds the unit that a message belongs to: the newest, or one that it begins (behaviour §1).
func enterUnit(head *store.Head, m *conversation.Message) {
	joined := joinsUnit(head, m)
	if !joined {
		head.UnitStart = m.Index
		ForgetOldest(head)
	}
	m.Unit = head.UnitStart + 1
	LeaveOpen(head, m, joined)
}

// LeaveOpen notes what may join the newest unit after a message.
func LeaveOpen(head *store.Head, m *conversation.Message, joined bool) {
	head.CallsEnd = 0
	switch {
	case standsAlone(m):
		head.UnitStart = m.Index + 1
	case m.Role == conversation.RoleAssistant && (joined || m.HasCalls()):
		head.CallsEnd = m.Index + 1
	}
}

// standsAlone says whether nobody answers the calls of a message, because it was cut off.
func standsAlone(m *conversation.Message) bool {
	return m.Role == conversation.RoleAssistant && m.Aborted()
}

// joinsUnit says whether a message belongs to the newest unit. What a build has shown of the assistant's stays as it was shown.
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

// TakesResults says whether a tool message at index joins the newest unit: one of an assistant with calls. Such a unit has an
// unanswered call, or a second message already.
func TakesResults(head *store.Head, index int32) bool {
	if index == 0 {
		return false
	}
	if head.UnitStart < index-1 {
		return true
	}
	return slices.ContainsFunc(head.Unanswered, func(c store.Call) bool { return c.Message >= head.UnitStart })
}

// answered finds the call that a result answers by its id, or without one by its tool's name; -1 if there is none.
func answered(head *store.Head, r *conversation.ToolResult) int {
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

// ForgetOldest drops the calls that are remembered longest, beyond what a head may hold.
func ForgetOldest(head *store.Head) {
	if n := len(head.Unanswered) - maxForgotten; n > 0 {
		head.Unanswered = head.Unanswered[n:]
	}
}

func withoutCall(field string) error {
	return conversation.Errorf(conversation.ResultWithoutCall, "a tool result answers no call: append its call first, or leave it out").
		At(field, "no unanswered call of the conversation has this id")
}

// Admit gives the head what follows from a message that has its unit: pins, leading system messages, the request, and its number.
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

// pinBeside pins a message with a result that joins a pinned call; false if there is no room for that.
func pinBeside(head *store.Head, m *conversation.Message, c *store.Call) bool {
	last := len(head.Pins) - 1
	first, _ := m.UnitFirst()
	switch {
	case !conversation.InRanges(head.Pins, c.Message), head.Pins[last].First == first, head.Pins[last].First == m.Index: // or it is pinned anyway
		return true
	case len(head.Pins) == maxPins:
		return false
	}
	head.Pins = append(head.Pins, conversation.Range{First: m.Index, End: m.Index + 1})
	return true
}

// Readmit answers calls again with the results of a message that was taken back, and pins it where it was pinned with them.
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

// pin keeps the units that hold a pinned message. A pinned unit that goes on growing is pinned to its end.
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
