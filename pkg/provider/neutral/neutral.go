// Package neutral writes contexts in no provider's shape: the messages as they are recorded, with calls and results paired.
package neutral

import (
	"cmp"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// New makes the format.
func New() provider.Format { return format{} }

type format struct{}

// Format is NEUTRAL.
func (format) Format() conversation.Format { return conversation.FormatNeutral }

// Traits: anything may stand anywhere, and every block is a whole message.
func (format) Traits() provider.Traits {
	return provider.Traits{
		Name: "neutral", NameField: true,
		TextPrefix: `{"role":"user","parts":[{"type":"text","text":`, TextSuffix: `}]}`,
	}
}

// Unit writes one unit as messages. The blocks are the same messages as JSON: what the hash is made of.
func (f format) Unit(u *conversation.Unit, c provider.UnitContext) provider.UnitBlocks {
	traits := f.Traits()
	lines, repairs := provider.Pair(traits, u, c)
	out := provider.UnitBlocks{Repairs: repairs}
	recorded(lines)
	for i := range lines {
		m := &lines[i].Message
		if len(m.Parts) == 0 {
			out.Repairs = append(out.Repairs, provider.Repair{Index: m.Index, Reason: conversation.ReasonEmptyText, Tokens: -int64(m.Tokens)})
			continue
		}
		m.Parts = withIDs(&traits, &c, &lines[i])
		if last := len(out.Messages) - 1; last >= 0 && together(&out.Messages[last], m) {
			join(&out.Messages[last], m)
			continue
		}
		out.Messages = append(out.Messages, *m)
	}
	for i := range out.Messages {
		m := &out.Messages[i]
		out.Blocks = append(out.Blocks, provider.Block{Role: m.Role.String(), JSON: message(m), Tokens: m.Tokens, Index: m.Index})
	}
	return out
}

// recorded puts tool messages, which stand together, back into the order of the record, made up ones behind; pairs are found by their ids.
func recorded(lines []provider.Line) {
	first := 0
	for first < len(lines) && lines[first].Role != conversation.RoleTool {
		first++
	}
	end := first
	for end < len(lines) && lines[end].Role == conversation.RoleTool {
		end++
	}
	slices.SortStableFunc(lines[first:end], func(a, b provider.Line) int {
		return cmp.Compare(uint32(a.Index), uint32(b.Index)) // -1 is the greatest
	})
}

// together reports whether two messages are one: tool messages that were one in the record, and all of the assistant's in a unit.
func together(a, b *provider.Message) bool {
	if a.Role == conversation.RoleAssistant {
		return b.Role == conversation.RoleAssistant
	}
	return a.Role == conversation.RoleTool && b.Role == conversation.RoleTool && a.Index == b.Index && a.Index >= 0
}

// join puts a message behind another. Lines of one tool message weigh the message once.
func join(a, b *provider.Message) {
	a.Parts = append(slices.Clip(a.Parts), b.Parts...)
	a.EditSeq = max(a.EditSeq, b.EditSeq)
	if a.Name != b.Name { // what several say is nobody's alone
		a.Name = ""
	}
	if a.Role == conversation.RoleAssistant {
		a.Tokens, a.Last = a.Tokens+b.Tokens, b.Index
		return
	}
	for i := range b.Parts {
		a.Tokens += b.Parts[i].Tokens
	}
}

// withIDs gives the calls and the result of a line the ids that they are rendered with; parts without either stay as they are.
func withIDs(t *provider.Traits, c *provider.UnitContext, l *provider.Line) []conversation.Part {
	var out []conversation.Part
	for i := range l.Parts {
		p := l.Parts[i]
		switch {
		case p.Kind == conversation.PartToolCall:
			call := *p.Call
			call.CallID = c.CallID(t, p.Call)
			p.Call = &call
		case p.Kind == conversation.PartToolResult && l.Call != nil:
			r := *p.Result
			r.CallID = c.CallID(t, l.Call)
			p.Result = &r
		default:
			continue
		}
		if out == nil {
			out = append(out, l.Parts...)
		}
		out[i] = p
	}
	if out == nil {
		return l.Parts
	}
	return out
}
