package provider

import "github.com/palimpsest-context/palimpsest/pkg/conversation"

// Reader reads one provider's JSON: messages, answers, whole lists and usage. It reverses what the provider's Format writes: what is read
// and written again is the same, except for nulls, members that only answers have, ids, and neighbors that were merged.
type Reader interface {
	Format() conversation.Format
	// Read makes messages from JSON. If the JSON is wrong, it returns an error of kind InvalidField. The violations name places in the
	// JSON, such as choices[0].message.tool_calls[1].function.name, but never its values.
	Read(in *ReadRequest) (*Input, error)
}

// Shape says what a provider's JSON holds. The numbers are those of the API.
type Shape int8

// The shapes.
const (
	ShapeAuto     Shape = iota // decided by the JSON itself: an answer, a list, or a message
	ShapeMessage               // a message or an item as it is sent, or an array of these
	ShapeResponse              // an answer of the provider
	ShapeHistory               // all messages of a conversation: an array, or the whole request object
)

// ReadRequest is JSON to read.
type ReadRequest struct {
	JSON  string
	Shape Shape
	// Model is the model that wrote the assistant messages, where the JSON does not say.
	Model string
	// Tail is set if the beginning of the list was left out, so that no system message in it leads the conversation.
	Tail bool
	// Aborted is set if the reply was cut off. Its message, the last one, is tagged. Calls with incomplete arguments, and reasoning without
	// its signature, are left out.
	Aborted bool
}

// Input is what was read.
type Input struct {
	Shape    Shape // the shape as which it was read; never ShapeAuto
	Messages []InputMessage
	// Elements are the elements of a list, byte for byte as they were sent, without the white space between them.
	Elements []string
	// System holds, in order, the texts of the system prompt: those next to the list in a request object, or those that lead the list.
	System []string
	// Leads is set if some of System are elements of the list, so that a tail of the list lacks them.
	Leads bool
	// LeftOut is the number of calls left out of a reply that was cut off, because their input is incomplete.
	LeftOut int
	// Usage and Model come with a response; nil and empty if it does not have them.
	Usage *Usage
	Model string
}

// InputMessage is a message in the form of the record, with inline contents, but without index, ids, times and tokens. A result without the
// id of its call answers the first open call of its tool.
type InputMessage struct {
	conversation.Message
	// First and End are the range of list elements that it was made from; End is exclusive.
	First, End int
}

// Usage is what a provider counted for one call, in tokens. The counts do not overlap.
type Usage struct {
	Input, CacheRead, CacheWrite, Output, Reasoning int32
}

// Context is the number of tokens that were sent.
func (u *Usage) Context() int64 { return int64(u.Input) + int64(u.CacheRead) + int64(u.CacheWrite) }
