package summarize

import (
	"cmp"
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/content"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// spanDocument is a stretch of conversation as a model is given it.
type spanDocument struct {
	Earlier  []string      `json:"earlier_summaries"`
	Messages []spanMessage `json:"messages"`
}

// spanMessage is what one speaker says in a message. Parts of a user's message that are not the user's own are separate (behaviour §1).
type spanMessage struct {
	Index   int32        `json:"index"`
	Role    string       `json:"role"`
	Name    string       `json:"name,omitempty"` // of the speaker; not for what plugins added
	Text    string       `json:"text,omitempty"`
	Calls   []spanCall   `json:"tool_calls,omitempty"`
	Results []spanResult `json:"tool_results,omitempty"`
}

type spanCall struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Answered  *bool  `json:"answered,omitempty"` // false, or left out
}

type spanResult struct {
	Tool  string `json:"tool"`
	State string `json:"state,omitempty"` // error, or left out
	Text  string `json:"text"`
}

// SpanContent returns the JSON document that a model is given of a stretch of conversation: the earlier summaries, then its messages as the
// view shows them, with their indices, calls and results. Media is one line. Reasoning, opaque blocks and system messages are omitted
// (behaviour §8). Only the user's own words have the role "user"; what actions, other agents, retries and plugins wrote is labeled as
// theirs. A summary among the units joins the earlier ones. Contents must be in memory.
//
// If maxChars is positive, the document has at most that many characters: first the longest texts lose their middles; only if the frame
// alone is too long, calls, results and messages in the middle are omitted.
func SpanContent(earlier []string, units []conversation.Unit, maxChars int) string {
	d := newSpanDocument(earlier, units)
	if maxChars > 0 {
		d.shrink(maxChars)
	}
	return encodeJSON(d)
}

// SplitSpan splits units into runs, in order, whose documents each have at most maxChars characters without cutting a text. A unit that
// exceeds this alone gets its own run. The caller must leave room for earlier summaries.
func SplitSpan(units []conversation.Unit, maxChars int) [][]conversation.Unit {
	empty := newSpanDocument(nil, nil).chars()
	var runs [][]conversation.Unit
	start, size := 0, empty
	for i := range units {
		// A comma parts a unit from the one before.
		alone := newSpanDocument(nil, units[i:i+1]).chars() - empty + 1
		if i > start && size+alone > maxChars+1 {
			runs = append(runs, units[start:i:i])
			start, size = i, empty
		}
		size += alone
	}
	if start < len(units) {
		runs = append(runs, units[start:])
	}
	return runs
}

func newSpanDocument(earlier []string, units []conversation.Unit) *spanDocument {
	d := &spanDocument{Earlier: []string{}, Messages: []spanMessage{}}
	for _, text := range earlier {
		d.Earlier = append(d.Earlier, validUTF8(text))
	}
	names, answered := indexCalls(units)
	for i := range units {
		if s := units[i].Summary; s != nil {
			d.Earlier = append(d.Earlier, validUTF8(s.Summary.Text.Inline))
		}
		for k := range units[i].Items {
			it := &units[i].Items[k]
			if it.Message.Role != conversation.RoleSystem {
				d.Messages = append(d.Messages, spanMessagesOf(it, names, answered)...)
			}
		}
	}
	return d
}

// indexCalls returns the names of the calls in units, and which of them are answered there, by ordinal.
func indexCalls(units []conversation.Unit) (names map[int32]string, answered map[int32]bool) {
	names, answered = map[int32]string{}, map[int32]bool{}
	for i := range units {
		for k := range units[i].Items {
			for p := range units[i].Items[k].Parts {
				switch part := &units[i].Items[k].Parts[p]; part.Kind {
				case conversation.PartToolCall:
					names[part.Call.Ordinal] = part.Call.Name
				case conversation.PartToolResult:
					answered[part.Result.Ordinal] = true
				}
			}
		}
	}
	return names, answered
}

// spanMessagesOf returns a message as one spanMessage for each speaker who says something in it.
func spanMessagesOf(it *conversation.Item, names map[int32]string, answered map[int32]bool) []spanMessage {
	var all []spanMessage
	by := func(part int) *spanMessage {
		speaker := it.Speaker(part)
		at := slices.IndexFunc(all, func(m spanMessage) bool { return m.Role == speaker })
		if at < 0 {
			at, all = len(all), append(all, spanMessage{Index: it.Message.Index, Role: speaker})
			if it.Parts[part].Plugin == "" {
				all[at].Name = validUTF8(it.Message.Name)
			}
		}
		return &all[at]
	}
	for i := range it.Parts {
		switch p := &it.Parts[i]; p.Kind {
		case conversation.PartText:
			by(i).appendText(withoutBytes(p.Text.Inline))
		case conversation.PartMedia:
			by(i).appendText(p.Media.Line())
		case conversation.PartToolCall:
			call := spanCall{Name: validUTF8(p.Call.Name), Arguments: validUTF8(p.Call.Arguments.Inline)}
			if !answered[p.Call.Ordinal] {
				call.Answered = new(bool)
			}
			m := by(i)
			m.Calls = append(m.Calls, call)
		case conversation.PartToolResult:
			m := by(i)
			m.Results = append(m.Results, spanResultOf(p.Result, names))
		}
	}
	return slices.DeleteFunc(all, func(m spanMessage) bool { return m.Text == "" && len(m.Calls) == 0 && len(m.Results) == 0 })
}

// appendText adds a text on its own line.
func (m *spanMessage) appendText(text string) {
	if m.Text != "" {
		m.Text += "\n"
	}
	m.Text += validUTF8(text)
}

func spanResultOf(r *conversation.ToolResult, names map[int32]string) spanResult {
	out := spanResult{Tool: validUTF8(cmp.Or(r.Name, names[r.Ordinal])), Text: validUTF8(withoutBytes(r.Lines()))}
	if r.State == conversation.ResultError {
		out.State = "error"
	}
	return out
}

// withoutBytes has lines for bytes in base64, which say nothing to who summarizes.
func withoutBytes(text string) string {
	text, _ = content.WithoutBase64(text, "")
	return text
}

// validUTF8 replaces invalid UTF-8, which JSON cannot hold.
func validUTF8(text string) string { return strings.ToValidUTF8(text, "\ufffd") }

func (d *spanDocument) chars() int { return countChars(encodeJSON(d)) }
