package engine

import (
	"fmt"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// maxForgotten is how many calls are remembered that were never answered and whose unit has closed. A late result to an older
// one is refused: the head, which every append writes, has to stay small.
const maxForgotten = 256

// maxPins is how many units may be pinned in one conversation.
const maxPins = 128

// pair opens and closes units, numbers the calls of a message and finds the calls that its results answer. Ids repeat in real
// histories: in the open unit the first unanswered call with the id is meant, of closed units the newest.
func pair(head *Head, m *conversation.Message, field string) error {
	joins := m.Role == conversation.RoleTool && takesResults(head, m.Index)
	if !joins {
		head.UnitStart = m.Index
		forget(head)
	}
	for i := range m.Parts {
		switch p := &m.Parts[i]; p.Kind {
		case conversation.PartToolCall:
			head.CallOrdinal++
			p.Call.Ordinal = head.CallOrdinal
			head.Unanswered = append(head.Unanswered, store.Call{
				CallID: p.Call.CallID, Name: p.Call.Name, Ordinal: p.Call.Ordinal, Message: m.Index,
			})
		case conversation.PartToolResult:
			at := answered(head, p.Result.CallID)
			if at < 0 {
				return withoutCall(fmt.Sprintf("%s.parts[%d].tool_result.call_id", field, i))
			}
			p.Result.Ordinal = head.Unanswered[at].Ordinal
			head.Unanswered = append(head.Unanswered[:at], head.Unanswered[at+1:]...)
		}
	}
	return nil
}

// takesResults says whether a tool message at index joins the newest unit: one of an assistant with calls. Such a unit has an
// unanswered call of its first message, or a tool message already.
func takesResults(head *Head, index int32) bool {
	if index == 0 {
		return false
	}
	if head.UnitStart < index-1 {
		return true
	}
	for _, c := range head.Unanswered {
		if c.Message == head.UnitStart {
			return true
		}
	}
	return false
}

// answered finds the call that a result with this id answers, or -1.
func answered(head *Head, callID string) int {
	newest := -1
	for i, c := range head.Unanswered {
		if c.CallID != callID {
			continue
		}
		if c.Message == head.UnitStart {
			return i
		}
		newest = i
	}
	return newest
}

func forget(head *Head) {
	if n := len(head.Unanswered) - maxForgotten; n > 0 {
		head.Unanswered = head.Unanswered[n:]
	}
}

func withoutCall(field string) error {
	err := conversation.Errorf(conversation.ResultWithoutCall, "a tool result answers no call")
	err.Violations = []conversation.Violation{{Field: field, Text: "no unanswered call of the conversation has this id"}}
	return err
}

// pin keeps the units that hold a pinned message. A pinned unit that goes on growing is pinned to its end.
func pin(head *Head, m *conversation.Message) error {
	last := len(head.Pins) - 1
	if last >= 0 && head.Pins[last].First == head.UnitStart {
		head.Pins[last].End = m.Index + 1
		return nil
	}
	if !m.Pinned {
		return nil
	}
	if len(head.Pins) == maxPins {
		return conversation.Errorf(conversation.LimitExceeded, "a conversation holds at most %d pinned units", maxPins)
	}
	head.Pins = append(head.Pins, conversation.Range{First: head.UnitStart, End: m.Index + 1})
	return nil
}
