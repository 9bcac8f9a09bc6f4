package history

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// had says of each part of the list whether the record has it, up to a cursor.
func (l *list) had(c *cursor) [][]bool {
	out := make([][]bool, len(l.messages))
	for i := range l.messages {
		out[i] = make([]bool, len(l.messages[i].Parts))
	}
	for n := 0; n <= c.segment; n++ {
		s, all := &l.segments[n], n < c.segment
		for i := range s.pieces {
			mark(out, s.pieces[i].at, all || i < c.piece || c.anyText)
		}
		for i := range s.calls {
			mark(out, s.calls[i].at, all || i < c.calls)
		}
		for i := range s.results {
			mark(out, s.results[i].at, all || c.results.has(i))
		}
	}
	return out
}

func mark(had [][]bool, at spot, has bool) { had[at.message][at.part] = has }

// rest is what the list has behind a cursor, as messages to append: of a message that the record has in part, the other parts. Results name
// the calls as the record does. wordless is how many messages without words end the record.
func (l *list) rest(c *cursor, wordless int) []provider.InputMessage {
	had := l.had(c)
	last := lastHad(had)
	var out []provider.InputMessage
	for i := range l.messages {
		at := l.restOf(i, had[i])
		said := l.isSaid(i, at)
		switch {
		case len(at) == 0, !said && i < last:
		case !said && len(out) == 0 && wordless > 0:
			wordless--
		default:
			m := l.messages[i]
			m.Parts = l.parts(c, i, at)
			out = append(out, m)
		}
	}
	return out
}

// lastHad is the last message of which the record has something; -1 if there is none.
func lastHad(had [][]bool) int {
	for i := len(had) - 1; i >= 0; i-- {
		if slices.Contains(had[i], true) {
			return i
		}
	}
	return -1
}

// restOf are the positions of the parts of a message to append. Reasoning before something that the record has came with that.
func (l *list) restOf(message int, had []bool) []int {
	var out []int
	parts, wordless := l.messages[message].Parts, 0
	for p := range parts {
		switch {
		case had[p]:
			out = out[:len(out)-wordless]
			wordless = 0
		case !isSaid(&parts[p]):
			out = append(out, p)
			wordless++
		case parts[p].Result != nil && (&listResult{result: parts[p].Result}).isMadeUp():
		default:
			out = append(out, p)
			wordless = 0
		}
	}
	return out
}

func (l *list) isSaid(message int, parts []int) bool {
	return slices.ContainsFunc(parts, func(p int) bool { return isSaid(&l.messages[message].Parts[p]) })
}

// parts are those at the positions. Results name calls of the record by the ids that they have there.
func (l *list) parts(c *cursor, message int, at []int) []conversation.Part {
	out := make([]conversation.Part, 0, len(at))
	for _, p := range at {
		part := l.messages[message].Parts[p]
		if recorded := c.answers.of(l.answered[spot{message, p}]); recorded != nil && part.Result != nil {
			r := *part.Result
			r.CallID = recorded.CallID
			part.Result = &r
		}
		out = append(out, part)
	}
	return out
}

// of is the call of the record that a call of the list is; nil if it has none.
func (p *pairing) of(given *conversation.ToolCall) *conversation.ToolCall {
	for ; p != nil && given != nil; p = p.next {
		if p.given == given {
			return p.recorded
		}
	}
	return nil
}
