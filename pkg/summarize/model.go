package summarize

import "context"

// Model asks one provider's models. Implementations may be shared between goroutines.
type Model interface {
	// Complete returns what a model answers to a call. It returns when the context ends, at the latest. Its errors are
	// *Failure; any other counts as [Unreachable], or as [Timeout] after the context has ended.
	Complete(ctx context.Context, call Call) (Answer, error)
}

// Call is what a model is told.
type Call struct {
	Model     string // the provider's name of it
	System    string // what holds for every call
	Prompt    string // the task, with the content in it
	MaxOutput int    // tokens
}

// Answer is what a model said.
type Answer struct {
	Text string
	// Truncated says that the model stopped because it had written MaxOutput tokens.
	Truncated bool
	// What the provider counted, in tokens; 0 and 0 if it does not say.
	InputTokens  int64
	OutputTokens int64
}
