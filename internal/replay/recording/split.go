package recording

import (
	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

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
