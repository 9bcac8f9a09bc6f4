package placement

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// Answers are the calls that results of an append will answer.
type Answers map[*conversation.ToolResult]AnsweredCall

// AnsweredCall is a call on record, or one of the same append: then its message is -1, and its arguments are at hand.
type AnsweredCall struct {
	store.Call
	Arguments string
}

// AnswersOf pairs the results of an append before anything of it has its place, or is staged: it refuses those that answer nothing. field is
// the path of a message in its request. Of those of which cut says so, results may answer nothing.
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

// HasResults says whether a message answers calls.
func HasResults(m conversation.Message) bool {
	return slices.ContainsFunc(m.Parts, func(p conversation.Part) bool { return p.Result != nil })
}

// Tool is the tool that a result is of: the one that it names, or else that of the call that it answers.
func (f Answers) Tool(r *conversation.ToolResult) string {
	if r.Name != "" {
		return r.Name
	}
	return f[r].Name
}
