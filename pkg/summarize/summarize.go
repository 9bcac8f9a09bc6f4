// Package summarize is the one port to a model. A [Service] takes requests for summaries, asks models for them in the background,
// checks what comes back, and keeps it for whoever asks again. Clients of providers live in the subpackages openai and
// anthropic, the summarizer that needs no model in extractive.
//
// A summary is a convenience: whatever goes wrong ends a request with a [Failure], and the caller goes on without a model.
// Nothing here decides what is shown; an answer is text and only ever becomes text.
package summarize

import "github.com/palimpsest-context/palimpsest/pkg/conversation"

// Scope identifies the owner of contents: the unit of caching, limits and forgetting.
type Scope struct{ Namespace, Conversation string }

// Request asks for a summary of one content or of a stretch of conversation.
type Request struct {
	Scope   Scope
	Content string
	Hash    [32]byte            // SHA-256 of Content
	Chars   int                 // Unicode code points of Content
	Target  int                 // characters that the summary aims at
	Prompt  conversation.Prompt // its Template is empty for the built-in one
	// Span is true if Content is a document of [SpanContent].
	Span bool
	// Facts is true if Content is a document of [FactsContent]: the answer is a JSON object of facts, which the caller checks.
	Facts bool
	// Live, if set, asks the agent's own model, which is given Live.Body and not Content. Span is true too.
	Live *Live
	// What the prompt may tell the model about the content.
	MessageType string
	Tool        string
	TurnAdded   int32
}

// Result is how a request ended.
type Result struct {
	Text  string
	Model string // that wrote it, as provider/model
	// Err is the *Failure if there is no text; it is safe to show.
	Err error
}
