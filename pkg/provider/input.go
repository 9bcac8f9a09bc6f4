package provider

import "github.com/palimpsest-context/palimpsest/pkg/conversation"

// Reader reads one provider's JSON: messages, answers, whole lists and usage. It is the way back from what its Format writes: what is read
// and written again is the same, but for null, members that providers only ever answer with, ids, and neighbors that were merged.
type Reader interface {
	Format() conversation.Format
	// Read makes messages of JSON. What is wrong with it is an error of kind InvalidField whose violations name places in the JSON,
	// such as choices[0].message.tool_calls[1].function.name, and never what stands there.
	Read(in *ReadRequest) (*Input, error)
}

// Shape says what JSON of a provider is. The numbers are those of the API.
type Shape int8

// The shapes.
const (
	ShapeAuto     Shape = iota // as the JSON says itself: what a provider answers, a list, or a message
	ShapeMessage               // a message or an item as it is sent, or an array of them
	ShapeResponse              // what a provider answers
	ShapeHistory               // all messages of a conversation: an array, or the object that is sent
)

// ReadRequest is JSON to read.
type ReadRequest struct {
	JSON  string
	Shape Shape
	// Model wrote the assistant's messages, where the JSON does not say.
	Model string
	// Tail: what the list begins with was left out, so that no system message in it leads the conversation.
	Tail bool
	// Aborted: the reply was cut off, and its message, the last, is tagged so. Calls whose arguments are no whole JSON, and reasoning without its signature, are left out.
	Aborted bool
}

// Input is what was read.
type Input struct {
	Shape    Shape // as which it was read, never ShapeAuto
	Messages []InputMessage
	// Elements are those of a list, byte for byte as they were sent, without the space between them.
	Elements []string
	// System is what stands beside the list, in an object that is sent, or leads it: the texts, one after the other.
	System []string
	// Leads: some of System are elements of the list, so that a tail of it is without them.
	Leads bool
	// LeftOut is how many calls of a reply that was cut off are not among its messages, because their input is not whole.
	LeftOut int
	// Usage and Model come with a response; nil and empty where it does not say.
	Usage *Usage
	Model string
}

// InputMessage is a message as the record may have it, content inline, without index, ids, times and tokens. A result without the id of its
// call answers the first open call of the tool that it names.
type InputMessage struct {
	conversation.Message
	// First and End are the elements of the list that it was made of, half-open.
	First, End int
}

// Usage is what a provider counted for one call, in tokens. The counts do not overlap.
type Usage struct {
	Input, CacheRead, CacheWrite, Output, Reasoning int32
}

// Context is the input side: everything that was sent.
func (u *Usage) Context() int64 { return int64(u.Input) + int64(u.CacheRead) + int64(u.CacheWrite) }
