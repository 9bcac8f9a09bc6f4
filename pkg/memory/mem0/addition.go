package mem0

import (
	"encoding/json"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
)

// addition is what an add sends; the two services take the same fields.
type addition struct {
	Messages []message `json:"messages"`
	identity
	Metadata  *metadata `json:"metadata"`
	Infer     bool      `json:"infer"`
	Timestamp int64     `json:"timestamp,omitempty"` // the platform alone
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// additionOf is what a batch is sent as; nil if nothing in it says anything.
func additionOf(b *memory.Batch) *addition {
	d := &metadata{
		Scope: b.Scope.Kind.Name(), Kind: kindFact, Key: b.Key, Talk: talkOf(b.Conversation, b.Incarnation),
		Conversation: b.Conversation, Incarnation: b.Incarnation.String(),
	}
	out := &addition{identity: identityOf(b.Scope), Metadata: d, Infer: b.Infer}
	var all []said
	for i := range b.Messages {
		m := &b.Messages[i]
		text := clean(m.Text, maxChars)
		if isBlank(text) {
			continue // models refuse it, and with it the whole batch
		}
		role := "user"
		if m.Role == conversation.RoleAssistant {
			role = "assistant"
		}
		by := role
		if m.Name != "" {
			by = clean(m.Name, 100)
		}
		out.Messages = append(out.Messages, message{role, text})
		all = append(all, said{Index: m.Index, Hash: textHash(text), By: by, Time: memory.Millis(m.Time)})
	}
	if len(all) == 0 {
		return nil
	}
	last := all[len(all)-1]
	d.First, d.Last, d.Time, d.By = all[0].Index, last.Index, last.Time, last.By
	if slices.ContainsFunc(all, func(s said) bool { return s.By != d.By }) {
		d.By = ""
	}
	if !b.Infer {
		d.Kind = kindSaid
		text, err := json.Marshal(all)
		if err == nil {
			d.Messages = string(text)
		}
	}
	return out
}

// additionOfNote is what a note is sent as.
func additionOfNote(s memory.Scope, n *memory.Note) *addition {
	return &addition{
		Messages: []message{{"user", clean(n.Text, maxChars)}}, identity: identityOf(s),
		Metadata: &metadata{
			Scope: s.Kind.Name(), Kind: kindAdded, Key: n.Key, Time: memory.Millis(n.Time), Note: clean(n.Metadata, len(n.Metadata)),
			Expires: memory.Millis(n.ExpireTime),
		},
	}
}
