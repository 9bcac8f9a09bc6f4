package palimpsest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// errBroken is why a stream that nobody read to its end is taken as aborted.
var errBroken = errors.New("palimpsest: the stream ended before the reply did")

// Stream is a reply in pieces, on its way to the record.
type Stream struct {
	c      *Conversation
	format Format
	reply  assembly
	events iter.Seq2[json.RawMessage, error]
	err    error // why it broke off
}

// assembly makes one reply of events.
type assembly interface {
	// feed takes an event.
	feed(event json.RawMessage) error
	// reply is what there is so far; nil if that is nothing.
	reply() any
	// whole says whether the reply has ended.
	whole() bool
}

// Stream passes the events of a reply through, each the JSON of one piece as
// the provider sends it, and puts the reply on record:
//
//	stream := conv.Stream(palimpsest.Events(response.Body))
//	for event := range stream.Events() {
//		// show it
//	}
//	calls, err := stream.End(ctx)
func (c *Conversation) Stream(events iter.Seq2[json.RawMessage, error]) *Stream {
	return &Stream{c: c, format: c.format, reply: newAssembly(c.format), events: events}
}

func newAssembly(format Format) assembly {
	switch format {
	case Responses:
		return &responsesAssembly{}
	case Anthropic:
		return &anthropicAssembly{}
	case Gemini:
		return &geminiAssembly{}
	default:
		return &chatAssembly{}
	}
}

// Events are the stream's, until it ends or breaks off.
func (s *Stream) Events() iter.Seq[json.RawMessage] {
	return func(yield func(json.RawMessage) bool) {
		for event, err := range s.events {
			if err == nil {
				err = s.reply.feed(event)
			}
			if err != nil {
				s.err = err
				return
			}
			if !yield(event) {
				return
			}
		}
	}
}

// End puts the reply on record, and returns the calls that wait for results.
// A stream that broke off, or was not read to its end, is put on record as far
// as it is whole, marked as aborted: nobody waits for its calls. Then End returns
// none, and an error that says why. A later step goes on from there.
func (s *Stream) End(ctx context.Context) ([]Call, error) {
	whole, broken := s.reply.whole(), s.err
	if !whole && broken == nil {
		broken = errBroken
	}
	if whole {
		broken = nil // what came behind the reply's end is none of it
	}
	made := s.reply.reply()
	if made == nil {
		return nil, broken
	}
	reply, err := encode(made)
	if err != nil {
		return nil, errors.Join(broken, err)
	}
	calls, err := s.c.add(ctx, s.format, reply, pb.ProviderInputShape_PROVIDER_INPUT_SHAPE_RESPONSE, !whole)
	return calls, errors.Join(broken, err)
}

// maxEvent is the most bytes that one event may have.
const maxEvent = 64 << 20

// Events reads server-sent events, as providers stream them, from the body of
// an HTTP response.
func Events(body io.Reader) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		lines := bufio.NewScanner(body)
		lines.Buffer(nil, maxEvent)
		for lines.Scan() {
			data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data:"))
			data = bytes.TrimSpace(data)
			if !ok || len(data) == 0 || string(data) == "[DONE]" {
				continue
			}
			if !json.Valid(data) {
				yield(nil, fmt.Errorf("palimpsest: an event is no JSON: %w", errors.Join(lines.Err(), io.ErrUnexpectedEOF)))
				return
			}
			if !yield(bytes.Clone(data), nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(nil, err)
		}
	}
}
