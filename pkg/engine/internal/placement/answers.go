package placement

import (
	"cmp"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// Answers maps the results of an append to the calls that they will answer.
type Answers map[*conversation.ToolResult]AnsweredCall

// AnsweredCall is a recorded call, or one of the same append. For the latter, Message is -1 and Arguments are set.
type AnsweredCall struct {
	store.Call
	Arguments string
}

// AnswersOf pairs the results of an append before its messages have places or are staged. It refuses results that answer no call, except in
// messages for which cut is true. field returns the path of a message in its request.
func AnswersOf(head *store.Head, messages []conversation.Message, field func(i int) string, cut func(i int) bool) (Answers, error) {
	if !slices.ContainsFunc(messages, HasResults) {
		return nil, nil
	}
	h := *head
	h.Unanswered = slices.Clone(head.Unanswered)
	calls, out := map[int32]AnsweredCall{}, Answers{}
	for _, c := range h.Unanswered {
		calls[c.Ordinal] = AnsweredCall{Call: c}
	}
	for i := range messages {
		m := messages[i]
		m.Index, m.Parts = h.Messages, conversation.CloneParts(m.Parts)
		pair := Pair
		if cut(i) {
			pair = PairCut
		}
		if err := pair(&h, &m, field(i)); err != nil {
			return nil, err
		}
		h.Messages++
		for p := range m.Parts {
			switch part := &m.Parts[p]; {
			case part.Call != nil:
				c := store.Call{CallID: part.Call.CallID, Name: part.Call.Name, Ordinal: part.Call.Ordinal, Message: -1}
				calls[c.Ordinal] = AnsweredCall{Call: c, Arguments: part.Call.Arguments.Inline}
			case part.Result != nil && part.Result.Ordinal > 0:
				out[messages[i].Parts[p].Result] = calls[part.Result.Ordinal]
			}
		}
	}
	return out, nil
}

// HasResults reports whether a message holds results of calls.
func HasResults(m conversation.Message) bool {
	return slices.ContainsFunc(m.Parts, func(p conversation.Part) bool { return p.Result != nil })
}

// Tool returns the tool that a result comes from: the one that the result names or else the tool of the call that it answers.
func (f Answers) Tool(r *conversation.ToolResult) string {
	return cmp.Or(r.Name, f[r].Name)
}
