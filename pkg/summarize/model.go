package summarize

import "context"

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
}

// Answer is a model's reply.
type Answer struct {
	Text string
	// Truncated is true if the model stopped because it had written MaxOutput tokens.
	Truncated bool
	// What the provider counted, in tokens; 0 and 0 if it does not say.
	InputTokens  int64
	OutputTokens int64
}
