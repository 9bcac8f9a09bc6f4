package summarize

import (
	"context"
	"encoding/json"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// Model is a client for one provider's models. It must be safe for concurrent use.
type Model interface {
	// Complete returns the model's answer to a call. It returns no later than when the context ends. Its errors are *Failure; any other
	// error counts as [Unreachable], or as [Timeout] after the context has ended.
	Complete(ctx context.Context, call Call) (Answer, error)
}

// Call is what a model is sent.
type Call struct {
	Model     string // the provider's own name
	System    string // the system prompt
	Prompt    string // the task, with the content in it
	MaxOutput int    // tokens
	// Body takes the place of System and Prompt, if it is set: a whole request of Format, a JSON object without the model and the limit of
	// the answer. Its bytes are sent as they are.
	Body   []byte
	Format conversation.Format
}

// WithMembers returns the body with members before its own: name and value by turns. It returns nil for what is no JSON object.
func (c *Call) WithMembers(members ...any) json.RawMessage {
	if len(c.Body) < 2 || c.Body[0] != '{' {
		return nil
	}
	out := make([]byte, 0, len(c.Body)+256)
	for i, m := range members {
		out = append(out, "{:,:"[min(i, 2+i%2)])
		out = append(out, encodeJSON(m)...)
	}
	if c.Body[1] != '}' {
		out = append(out, ',')
	}
	return append(out, c.Body[1:]...)
}

// bytes is how long what is sent is.
func (c *Call) bytes() int { return len(c.System) + len(c.Prompt) + len(c.Body) }

// chars is the same in characters; those of a body are its bytes.
func (c *Call) chars() int { return countChars(c.System) + countChars(c.Prompt) + len(c.Body) }

// Answer is a model's reply.
type Answer struct {
	Text string
	// Truncated is true if the model stopped because it had written MaxOutput tokens.
	Truncated bool
	// ToolCall is true if the model called a tool.
	ToolCall bool
	// What the provider counted, in tokens; 0 and 0 if it does not say.
	InputTokens  int64
	OutputTokens int64
	// Parts of InputTokens that were read from the provider's cache, and written to it; 0 if it does not say.
	CacheReadTokens  int64
	CacheWriteTokens int64
}
