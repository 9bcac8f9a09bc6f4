// Package summarize is the one port to a model.
package summarize

import (
	"context"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// Scope is whose content it is: what is cached, limited and forgotten together.
type Scope struct{ Namespace, Conversation string }

// Request asks for a summary of one content.
type Request struct {
	Scope   Scope
	Content string
	Hash    [32]byte            // SHA-256 of Content
	Chars   int                 // Unicode code points of Content
	Target  int                 // characters that the summary aims at
	Prompt  conversation.Prompt // its Template is empty for the built-in one
	// What the prompt may tell the model of the content.
	MessageType string
	Tool        string
	TurnAdded   int32
}

// Result is how a request ended.
type Result struct {
	Text  string
	Model string // that wrote it, as provider/model
	// Err says why there is no text; it is safe to show.
	Err error
}

// Desk takes requests for summaries.
type Desk struct{}

// Look returns how a request ended; false if it has not.
func (d *Desk) Look(r *Request) (Result, bool) { return Result{}, false }

// Start begins a request in the background, unless it is under way or has ended.
func (d *Desk) Start(r *Request) {}

// Wait returns when all of the requests have ended, or when the context is done.
func (d *Desk) Wait(ctx context.Context, requests []*Request) {}

// Forget drops what is known of a content, and what is under way.
func (d *Desk) Forget(s Scope, hash [32]byte) {}

// Extract makes an extract without a model.
func (d *Desk) Extract(text string, target int) string { return "" }
