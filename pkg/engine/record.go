package engine

import (
	"context"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/appends"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/messages"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// The requests and results of the calls about messages.
type (
	// AppendRequest asks for messages to be put on record, all or nothing.
	AppendRequest = appends.AppendRequest
	// AppendExtra belongs to one message of an append.
	AppendExtra = appends.AppendExtra
	// AppendResult is the outcome of an append.
	AppendResult = appends.AppendResult
	// SearchMessagesRequest asks for the messages that match a query.
	SearchMessagesRequest = messages.SearchMessagesRequest
	// SearchMessagesResult holds the messages that match a query, best first.
	SearchMessagesResult = messages.SearchMessagesResult
	// MessageHit is a message that matches a query.
	MessageHit = messages.MessageHit
	// Filter selects messages that meet every condition which is set.
	Filter = messages.Filter
	// MessagesRequest asks for the messages of a range, in order.
	MessagesRequest = messages.MessagesRequest
	// MessageInView is a message with its place in the view.
	MessageInView = messages.MessageInView
	// MessagesResult is a page of messages. Next is where the next page begins; nil on the last.
	MessagesResult = messages.MessagesResult
	// RewindRequest takes back the messages from an index on.
	RewindRequest = messages.RewindRequest
	// UndoRewindRequest asks to bring back what the newest rewind took back.
	UndoRewindRequest = messages.UndoRewindRequest
	// UndoRewindResult says what was brought back.
	UndoRewindResult = messages.UndoRewindResult
	// RewindResult says what was taken back.
	RewindResult = messages.RewindResult
	// RangeUnit is the unit in which a range is given.
	RangeUnit = messages.RangeUnit
	// ExpandRequest asks for something that left the view. One of Index, MessageID and Summary is set.
	ExpandRequest = messages.ExpandRequest
	// ExpandResult returns what left the view.
	ExpandResult = messages.ExpandResult
	// ExpandedChild is one of the things that a summary stands for: a message, or an earlier summary.
	ExpandedChild = messages.ExpandedChild
	// CorrectRequest gives parts of a message new words. Either Index or MessageID is set.
	CorrectRequest = messages.CorrectRequest
	// CorrectedPart says what a part says from now on.
	CorrectedPart = messages.CorrectedPart
	// CorrectResult is the outcome of a correction.
	CorrectResult = messages.CorrectResult
)

// The units of ranges.
const (
	RangeNone  = messages.RangeNone
	RangeChars = messages.RangeChars
	RangeLines = messages.RangeLines
	RangeItems = messages.RangeItems
)

// Append puts messages on record, all or nothing.
func (e *Engine) Append(ctx context.Context, r AppendRequest) (*AppendResult, error) {
	return e.appends.Append(ctx, r)
}

// Message returns one message as it was appended, with its place in the view.
func (e *Engine) Message(ctx context.Context, key Key, index int32) (*MessageInView, error) {
	return e.messages.Message(ctx, key, index)
}

// Messages lists the messages of a range. A page ends at the limit, at MaxBytes, or after a bounded amount of scanning.
func (e *Engine) Messages(ctx context.Context, r MessagesRequest) (*MessagesResult, error) {
	return e.messages.Messages(ctx, r)
}

// Count counts the messages of a range that match a filter, and their weight on record in tokens.
func (e *Engine) Count(ctx context.Context, key Key, r conversation.Range, f Filter) (messages int32, tokens int64, err error) {
	return e.messages.Count(ctx, key, r, f)
}

// SearchMessages ranks the originals of a conversation, with corrections applied, by how well they match a query.
func (e *Engine) SearchMessages(ctx context.Context, r SearchMessagesRequest) (*SearchMessagesResult, error) {
	return e.messages.SearchMessages(ctx, r)
}

// Expand returns something that left the view and, unless only that is asked for, shows it again.
func (e *Engine) Expand(ctx context.Context, r ExpandRequest) (*ExpandResult, error) {
	return e.messages.Expand(ctx, r)
}

// Correct gives parts of a message new words. The record keeps what was appended.
func (e *Engine) Correct(ctx context.Context, r CorrectRequest) (*CorrectResult, error) {
	return e.messages.Correct(ctx, r)
}

// Rewind takes back the messages from an index on.
func (e *Engine) Rewind(ctx context.Context, r RewindRequest) (*RewindResult, error) {
	return e.messages.Rewind(ctx, r)
}

// rewindChange returns the change that takes back messages, for an append that commits it.
func (e *Engine) rewindChange(ctx context.Context, w *view.Loaded, from int32) (*store.Change, error) {
	return e.messages.RewindChange(ctx, w, from)
}

// moveChange returns the change that takes messages out of the view which a list lacks, for an append that commits it.
func (e *Engine) moveChange(ctx context.Context, w *view.Loaded, c *store.Change, takeOut, putBack []conversation.Range) (*store.Change, error) {
	return e.messages.MoveChange(ctx, w, c, takeOut, putBack)
}

// UndoRewind brings back what the newest rewind took back.
func (e *Engine) UndoRewind(ctx context.Context, r UndoRewindRequest) (*UndoRewindResult, error) {
	return e.messages.UndoRewind(ctx, r)
}
