package summarize

import (
	"context"
	"time"
)

// Options is what a Desk is made of. The zero value makes a desk without models: every request ends at once, without a text.
type Options struct {
	// Providers are the clients by provider: what stands before the / in a model's name.
	Providers map[string]Model
	// Models are asked, in order, for prompts that name none: provider/model.
	Models []string
	// Extract makes an extract of about target characters without a model; the first characters if nil.
	Extract func(text string, target int) string
	// Deadline is how long a request may take in all, from its start; 30 seconds by default.
	Deadline time.Duration
	// TokensPerMinute and TokensPerConversation bound what is spent, in input and output tokens; 0 sets no limit. What a
	// conversation has spent is counted while the process lives.
	TokensPerMinute       int64
	TokensPerConversation int64
	// CacheBytes bounds the memory of finished results; 16 MiB by default.
	CacheBytes int
	// Parallel is how many calls are made at once; 4 by default. What waits is waiting in its own time.
	Parallel int
	// Clock tells the time; time.Now by default.
	Clock func() time.Time
	// OnFailure, if set, is told of each request that ended without a text. It must not block.
	OnFailure func(*Failure)
}

// Desk takes requests for summaries. It is safe for concurrent use.
type Desk struct{}

// New returns a desk. Close ends it.
func New(o Options) *Desk { return &Desk{} }

// Look returns how a request ended; false if it has not.
func (d *Desk) Look(r *Request) (Result, bool) { return Result{Err: &Failure{Reason: NoModel}}, true }

// Start begins a request in the background, unless it is under way or has ended.
func (d *Desk) Start(r *Request) {}

// Wait returns when all of the requests have ended, or when the context is done.
func (d *Desk) Wait(ctx context.Context, requests []*Request) {}

// Forget drops what is known of a content, and what is under way.
func (d *Desk) Forget(s Scope, hash [32]byte) {}

// ForgetConversation drops what is known of all of a conversation's contents, and what is under way.
func (d *Desk) ForgetConversation(s Scope) {}

// Extract makes an extract without a model.
func (d *Desk) Extract(text string, target int) string { return text }

// Usage counts what was asked of models since the desk was made.
type Usage struct {
	Calls        int64 // sent to a provider
	InputTokens  int64
	OutputTokens int64
	// Failures are calls that failed, answers that were refused, and models that were not asked, by reason.
	Failures map[Reason]int64
}

// Usage returns the counts so far; the caller owns them.
func (d *Desk) Usage() Usage { return Usage{} }

// Close cancels what is under way and returns when it has ended. Requests end as [Closed] from then on.
func (d *Desk) Close() {}
