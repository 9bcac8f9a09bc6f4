package faults

import (
	"fmt"
	"math/rand/v2"
	"strings"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// words are what texts are made of: also what codecs, escapers and C programs like to change.
var words = []string{
	"the", "agent", "reads", "a", "file", "of", "forty", "lines", "and", "writes", "naïve", "日本語", "ไทย", "🙂", "e\u0301",
	"\x00", "\r\n", "\u2028", "</tool>", `{"k":1}`, `back\slash`, "\t", "\u200e", "0", "-1", "null", "\ufeff",
}

// written is a text of a length, about, that a seed decides.
func written(r *rand.Rand, length int) string {
	var b strings.Builder
	for b.Len() < length {
		b.WriteString(words[r.IntN(len(words))])
		b.WriteByte(' ')
	}
	return b.String()
}

func bytesOf(r *rand.Rand, length int) []byte {
	b := make([]byte, length)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func textPart(text string) *pb.Part { return &pb.Part{Content: &pb.Part_Text{Text: text}} }

func said(role pb.Role, r *rand.Rand, length int) *pb.Message {
	return &pb.Message{
		Role: role, Parts: []*pb.Part{textPart(written(r, length)), textPart("")},
		Tags: []string{"t", "日本"}, MetadataJson: "{ \"b\":1e0,\n\"a\" : [ ] }", RunId: "run",
	}
}

// picture is a user's message with media large enough to be stored as chunks.
func picture(r *rand.Rand) *pb.Message {
	media := &pb.Media{MimeType: "image/png", Source: &pb.Media_Data{Data: bytesOf(r, 33_000+r.IntN(40_000))}}
	m := said(pb.Role_ROLE_USER, r, 40)
	m.Parts = append(m.Parts, &pb.Part{Content: &pb.Part_Media{Media: media}})
	return m
}

// exchange is a call and its result, of a length; in one batch, so that no conversation is left with an open call.
func exchange(r *rand.Rand, id string, length int) []*pb.Message {
	call := said(pb.Role_ROLE_ASSISTANT, r, 30)
	call.Parts = append(call.Parts, &pb.Part{Content: &pb.Part_ToolCall{ToolCall: &pb.ToolCall{
		CallId: id, Name: "read", ArgumentsJson: fmt.Sprintf(`{ "seed" : %d}`, r.Uint64()),
	}}})
	result := &pb.Message{Role: pb.Role_ROLE_TOOL, Parts: []*pb.Part{{Content: &pb.Part_ToolResult{ToolResult: &pb.ToolResult{
		CallId: id, Name: "read", State: pb.ToolResultState_TOOL_RESULT_STATE_COMPLETED,
		Output: &pb.ToolResult_Text{Text: written(r, length)},
	}}}}}
	return []*pb.Message{call, result}
}
