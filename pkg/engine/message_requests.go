package engine

import (
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// SearchMessagesRequest asks for messages that answer a query.
type SearchMessagesRequest struct {
	Key          store.Key
	Query        string
	Range        conversation.Range // End < 0: the end of the record
	Filter       Filter
	Hidden       bool // those that were taken back too
	Limit        int
	SnippetChars int
}

// SearchMessagesResult is the messages that answer a query, best first.
type SearchMessagesResult struct {
	Hits     []MessageHit
	Searched int32
}

// MessageHit is a message that answers a query.
type MessageHit struct {
	Message conversation.Message // without its parts
	Score   float64
	Snippet string
	InView  bool
	Hidden  bool
}

// ToolCallRequest is a model's call of a tool that recalls.
type ToolCallRequest struct {
	Key       store.Key
	Call      conversation.ToolCall // its arguments are inline
	MaxTokens int32                 // 0: the default
}

// ToolCallResult is the result to append.
type ToolCallResult struct {
	Result conversation.ToolResult
	Tokens int32
}
