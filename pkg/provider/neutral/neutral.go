// Package neutral writes contexts in a form of its own that belongs to no provider: the messages as they are recorded, with calls and
// results paired.
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

// Traits allow anything anywhere. Every block is a whole message.
func (format) Traits() provider.Traits {
	return provider.Traits{
		Name: "neutral", NameField: true,
		TextPrefix: `{"role":"user","parts":[{"type":"text","text":`, TextSuffix: `}]}`,
	}
}

// Unit writes a unit as messages. Its blocks are the same messages as JSON, which is hashed.
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

// recorded puts adjacent tool messages back into the order of the record, synthetic ones last. Calls and results are paired by id.
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
		return cmp.Compare(uint32(a.Index), uint32(b.Index)) // as uint32, -1 is the greatest
	})
}

// together reports whether two lines are one message: tool lines of one recorded message, or assistant lines of one unit.
func together(a, b *provider.Message) bool {
	if a.Role == conversation.RoleAssistant {
		return b.Role == conversation.RoleAssistant
	}
	return a.Role == conversation.RoleTool && b.Role == conversation.RoleTool && a.Index == b.Index && a.Index >= 0
}

// join appends a message to another. The lines of one tool message carry its overhead only once.
func join(a, b *provider.Message) {
	a.Parts = append(slices.Clip(a.Parts), b.Parts...)
	a.EditSeq = max(a.EditSeq, b.EditSeq)
	if a.Name != b.Name { // a message of several speakers has no name
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

// withIDs returns the parts of a line with call ids as they are rendered.
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
