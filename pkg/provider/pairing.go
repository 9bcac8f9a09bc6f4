package provider

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
)

// The reason for a synthetic message in the neutral form.
const neverAnswered = "CALL_NEVER_ANSWERED"

// Line is a message with calls and results paired as all providers require: a tool line holds one result, which answers a call of the
// assistant's lines before it, and other roles hold none.
type Line struct {
	Message
	Model   string                 // model that wrote it; empty if unknown
	Paused  bool                   // the model's turn goes on after it
	Aborted bool                   // the message was cut off
	Call    *conversation.ToolCall // call that a tool line answers
	written bool                   // a block holds some of it
}

// Pair turns a unit into lines in the order that every provider accepts: the message, or those of the assistant; then one tool line per
// call, in the order of the calls, with a fixed text if the unit has no result; then the other content of the tool messages, including late
// results, as user text.
func Pair(t Traits, u *conversation.Unit, c UnitContext) ([]Line, []Repair) {
	p := pairer{traits: t, context: c, charged: make([]bool, len(u.Items))}
	if u.Summary != nil {
		return []Line{p.summary(u.Summary)}, nil
	}
	tools := 0
	for tools < len(u.Items) && u.Items[tools].Message.Role != conversation.RoleTool {
		p.message(&u.Items[tools], tools)
		tools++
	}
	p.match(u.Items[tools:], tools)
	p.answer()
	p.lines = append(p.lines, p.leftovers...)
	return p.lines, p.repairs
}

type pairer struct {
	traits    Traits
	context   UnitContext
	lines     []Line
	leftovers []Line
	repairs   []Repair
	answers   []callAnswer
	charged   []bool // by item: a line already carries its overhead
}

// callAnswer is a call with the result that answers it; nil for none.
type callAnswer struct {
	call   *conversation.ToolCall
	asked  int32 // index of the message with the call
	result *conversation.Part
	item   *conversation.Item
	number int // index of the item in the unit
}

// message writes a message whose role is not tool. Results in it answer nothing, because they are not in a tool message.
func (p *pairer) message(it *conversation.Item, number int) {
	line := Line{Message: Message{Role: it.Message.Role, Name: it.Message.Name, Parts: it.Parts, EditSeq: it.EditSeq, Index: it.Message.Index}, Model: it.Message.Model}
	line.Paused, line.Aborted = it.Message.Paused(), it.Message.Aborted()
	if line.Role == conversation.RoleUnspecified {
		line.Role = conversation.RoleUser
	}
	var misplaced []*conversation.Part
	for i := range it.Parts {
		switch part := &it.Parts[i]; part.Kind {
		case conversation.PartToolResult:
			misplaced = append(misplaced, part)
		case conversation.PartToolCall:
			if it.Message.Role == conversation.RoleAssistant {
				p.answers = append(p.answers, callAnswer{call: part.Call, asked: it.Message.Index})
			}
		}
	}
	if len(misplaced) > 0 {
		line.Parts = slices.DeleteFunc(slices.Clone(it.Parts), func(p conversation.Part) bool { return p.Kind == conversation.PartToolResult })
		p.addLeftover(it, number, misplaced)
	}
	line.Tokens = p.weigh(it, number, line.Parts)
	p.lines = append(p.lines, line)
}

// weigh returns the weight of an item's line. The item's overhead counts once; a further line counts as a message, unless neighbors merge.
func (p *pairer) weigh(it *conversation.Item, number int, parts []conversation.Part) int32 {
	var n int32
	switch {
	case !p.charged[number]:
		n = it.Message.Overhead()
	case !p.traits.Merge:
		n = tokens.PerMessage
	}
	p.charged[number] = true
	for i := range parts {
		n += parts[i].Tokens
	}
	return n
}

// match gives each call the first result in the unit that names it. Other results are left over.
func (p *pairer) match(tools []conversation.Item, number int) {
	open := make(map[int32]int, len(p.answers))
	for i := range p.answers {
		if _, taken := open[p.answers[i].call.Ordinal]; !taken {
			open[p.answers[i].call.Ordinal] = i
		}
	}
	for n := range tools {
		it := &tools[n]
		var rest []*conversation.Part
		for i := range it.Parts {
			part := &it.Parts[i]
			if part.Kind == conversation.PartToolResult {
				if call, ok := open[part.Result.Ordinal]; ok {
					a := &p.answers[call]
					a.result, a.item, a.number = part, it, number+n
					delete(open, part.Result.Ordinal)
					continue
				}
			}
			rest = append(rest, part)
		}
		if len(rest) > 0 {
			p.addLeftover(it, number+n, rest)
		}
	}
}

// answer writes one tool line per call.
func (p *pairer) answer() {
	for i := range p.answers {
		a := &p.answers[i]
		if a.result == nil {
			p.closeUnanswered(a)
			continue
		}
		parts := []conversation.Part{*a.result}
		m := Message{Role: conversation.RoleTool, Parts: parts, EditSeq: a.item.EditSeq, Index: a.item.Message.Index}
		m.Tokens = p.weigh(a.item, a.number, parts)
		p.lines = append(p.lines, Line{Message: m, Call: a.call})
	}
}

func (p *pairer) closeUnanswered(a *callAnswer) {
	call, weight := a.call, p.context.count(UnansweredText)
	part := conversation.Part{Kind: conversation.PartToolResult, Tokens: weight, Result: &conversation.ToolResult{
		CallID: call.CallID, Name: call.Name, Ordinal: call.Ordinal,
		State: conversation.ResultError, Text: conversation.Content{Inline: UnansweredText},
	}}
	p.lines = append(p.lines, Line{Call: call, Message: Message{
		Role: conversation.RoleTool, Parts: []conversation.Part{part}, Tokens: weight + tokens.PerMessage, Index: -1, Synthetic: neverAnswered,
	}})
	p.repair(a.asked, conversation.ReasonCallNeverAnswered, weight+tokens.PerMessage)
}

// addLeftover writes, as user text, the content of a tool message other than results that answer calls.
func (p *pairer) addLeftover(it *conversation.Item, number int, rest []*conversation.Part) {
	line := Line{Message: Message{Role: conversation.RoleUser, EditSeq: it.EditSeq, Index: it.Message.Index}, Model: it.Message.Model}
	for _, part := range rest {
		switch {
		case part.Kind == conversation.PartToolResult:
			line.Parts = append(line.Parts, p.lateResult(it, part)...)
		case part.Kind != conversation.PartText || part.Text.Inline != "":
			line.Parts = append(line.Parts, *part)
		}
	}
	if len(line.Parts) == 0 {
		return
	}
	line.Tokens = p.weigh(it, number, line.Parts)
	p.leftovers = append(p.leftovers, line)
}

// lateResult writes a result that answers no call of its unit as text and media, after a header that names its call. The header carries the
// whole weight, because a result is counted as one.
func (p *pairer) lateResult(it *conversation.Item, part *conversation.Part) []conversation.Part {
	r := part.Result
	header := LateHeader(r)
	tokens := p.context.count(header)
	p.repair(it.Message.Index, conversation.ReasonResultLate, tokens)
	parts := []conversation.Part{text(header, tokens+part.Tokens)}
	if r.Output != conversation.OutputParts {
		return append(parts, text(r.Text.Inline, 0))
	}
	for i := range r.Parts {
		if m := r.Parts[i].Media; m != nil {
			parts = append(parts, conversation.Part{Kind: conversation.PartMedia, Media: m})
		} else {
			parts = append(parts, text(r.Parts[i].Text.Inline, 0))
		}
	}
	return parts
}

func text(s string, tokens int32) conversation.Part {
	return conversation.Part{Kind: conversation.PartText, Text: conversation.Content{Inline: s}, Tokens: tokens}
}

// summary writes a summary as the assistant's text: what it says comes from the past, and must not gain the system's authority.
func (p *pairer) summary(e *conversation.Edit) Line {
	header := SummaryHeader(e)
	weight := p.context.count(header) + e.Summary.Tokens
	return Line{Message: Message{
		Role: conversation.RoleAssistant, Parts: []conversation.Part{text(header+e.Summary.Text.Inline, weight)},
		Tokens: weight + tokens.PerMessage, EditSeq: e.Seq, Index: -1, Summary: e.Summary.ID,
	}}
}

func (p *pairer) repair(index int32, reason conversation.Reason, tokens int32) {
	p.repairs = append(p.repairs, Repair{Index: index, Reason: reason, Tokens: int64(tokens)})
}
