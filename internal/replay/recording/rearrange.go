package recording

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// join makes one conversation of every n in a row, as of somebody who gives one
// task after the other. What is left over at the end is left out: a shorter
// session is another kind.
func join(recordings []Recording, n int) ([]Recording, error) {
	var out []Recording
	for some := range slices.Chunk(recordings, n) {
		if len(some) < n {
			break
		}
		joined := Recording{File: some[0].File, Name: fmt.Sprintf("%s and %d more", some[0].Name, n-1), Tools: some[0].Tools, continued: map[int]bool{}}
		for i := range some {
			if some[i].Tools != joined.Tools {
				return nil, fmt.Errorf("%s has other tools than %s: they cannot be joined", some[i].Name, some[0].Name)
			}
			joined.append(&some[i], some[0].leading())
		}
		out = append(out, joined)
	}
	return out, nil
}

// leading are the system messages that a recording begins with.
func (r *Recording) leading() []*pb.Message {
	n := slices.IndexFunc(r.Messages, func(m *pb.Message) bool { return m.GetRole() != pb.Role_ROLE_SYSTEM })
	if n < 0 {
		n = len(r.Messages)
	}
	return r.Messages[:n]
}

// append adds another recording's messages, without its system prompt if the
// first one began with the same.
func (r *Recording) append(o *Recording, prompt []*pb.Message) {
	skip := 0
	if len(r.Messages) > 0 && slices.EqualFunc(prompt, o.leading(), func(a, b *pb.Message) bool { return proto.Equal(a, b) }) {
		skip = len(prompt)
	}
	for i := range o.continued {
		r.continued[len(r.Messages)+i-skip] = true
	}
	r.Messages = append(r.Messages, o.Messages[skip:]...)
}

// splitCalls takes a recording apart as agents do that append each call by
// itself: a message of the assistant's with several calls becomes one for each,
// a tool message with several results one for each. What stands before the
// first call stays with it.
func (r *Recording) splitCalls() {
	var messages []*pb.Message
	r.continued = map[int]bool{}
	for _, m := range r.Messages {
		for i, parts := range apart(m.GetParts()) {
			if i > 0 {
				r.continued[len(messages)] = true
			}
			messages = append(messages, withParts(m, parts))
		}
	}
	r.Messages = messages
}

// apart cuts parts behind each call and each result that another one follows.
func apart(parts []*pb.Part) (out [][]*pb.Part) {
	start, seen := 0, false
	for i, p := range parts {
		if p.GetToolCall() == nil && p.GetToolResult() == nil {
			continue
		}
		if seen {
			out, start = append(out, parts[start:i]), i
		}
		seen = true
	}
	return append(out, parts[start:])
}

func withParts(m *pb.Message, parts []*pb.Part) *pb.Message {
	if len(parts) == len(m.GetParts()) {
		return m
	}
	out := proto.CloneOf(m)
	out.Parts = parts
	return out
}
