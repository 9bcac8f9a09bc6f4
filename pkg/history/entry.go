package history

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// Entry is a message of the record, or a summary in a view of it, in every way in which a caller may have it.
type Entry struct {
	Index int32 // -1 for a summary
	Role  conversation.Role
	Name  string
	Parts []Part
	// Gone numbers what a build has shown nothing of: all neighbors of one number at once. 0 for what was always shown.
	Gone int32
	// TakenOut: a list lacked the message since one held it, and the view has not shown it from then on.
	TakenOut bool
}

// Part is one part of a message.
type Part struct {
	// Forms are ways in which the part may stand in a list: as it was appended, and as builds have shown it. The first is the original, unless
	// Absent.
	Forms []conversation.Part
	// Absent: a build has shown the message without it.
	Absent bool
}

// EntryOf is a message in the one form in which it was appended.
func EntryOf(m *conversation.Message) Entry {
	e := Entry{Index: m.Index, Role: m.Role, Name: m.Name, Parts: make([]Part, len(m.Parts))}
	for i := range m.Parts {
		e.Parts[i].Forms = m.Parts[i : i+1 : i+1]
	}
	return e
}

// isSaid says whether anything of the message counts: reasoning and a provider's own blocks do not, because frameworks drop them.
func (e *Entry) isSaid() bool {
	for i := range e.Parts {
		for f := range e.Parts[i].Forms {
			if isSaid(&e.Parts[i].Forms[f]) {
				return true
			}
		}
	}
	return false
}

// IsSaid says whether any of the parts counts.
func IsSaid(parts []conversation.Part) bool {
	return slices.ContainsFunc(parts, func(p conversation.Part) bool { return isSaid(&p) })
}

func isSaid(p *conversation.Part) bool {
	switch p.Kind {
	case conversation.PartText:
		return p.Text.Ref != nil || p.Text.Erased != nil || !blank(p.Text.Inline)
	case conversation.PartMedia, conversation.PartToolCall, conversation.PartToolResult:
		return true
	default:
		return false
	}
}

// hasCalls says whether the message asks for tools.
func (e *Entry) hasCalls() bool {
	for i := range e.Parts {
		if len(e.Parts[i].Forms) > 0 && e.Parts[i].Forms[0].Kind == conversation.PartToolCall {
			return true
		}
	}
	return false
}

// newestReply is where the assistant's messages begin that are the last of their side, if there are calls in them; len(tape) if there are none.
func newestReply(tape []Entry) int {
	end := len(tape)
	for end > 0 && tape[end-1].Role != conversation.RoleAssistant {
		end--
	}
	first, calls := end, false
	for first > 0 && tape[first-1].Role == conversation.RoleAssistant {
		first--
		calls = calls || tape[first].hasCalls()
	}
	if !calls {
		return len(tape)
	}
	return first
}

// waiting is how many calls of a tape have no result in it.
func waiting(tape []Entry) int {
	n := 0
	for i := range tape {
		for p := range tape[i].Parts {
			switch f := tape[i].Parts[p].Forms; {
			case len(f) == 0:
			case f[0].Kind == conversation.PartToolCall:
				n++
			case f[0].Kind == conversation.PartToolResult && f[0].Result.Ordinal > 0: // one without a call came with a list that was cut
				n--
			}
		}
	}
	return n
}
