package recording

import (
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

func TestRecording_SplitCalls_KeepsWhatStandsBefore(t *testing.T) {
	text, call, result := textPart("so"), callPart("a", "read", []byte("{}")), &pb.Part{Content: &pb.Part_ToolResult{ToolResult: &pb.ToolResult{}}}
	r := &Recording{Messages: []*pb.Message{
		{Role: pb.Role_ROLE_USER, Parts: []*pb.Part{text, text}},
		{Role: pb.Role_ROLE_ASSISTANT, Model: "m", Parts: []*pb.Part{text, call, text, call, call}},
		{Role: pb.Role_ROLE_TOOL, Parts: []*pb.Part{result, result}},
		{Role: pb.Role_ROLE_ASSISTANT, Parts: []*pb.Part{text}},
	}}
	before := proto.CloneOf(r.Messages[1])
	first := r.Messages[1]
	r.splitCalls()
	var lengths []int
	var asked []int
	for i, m := range r.Messages {
		lengths = append(lengths, len(m.GetParts()))
		if r.Asks(i) {
			asked = append(asked, i)
		}
	}
	if !slices.Equal(lengths, []int{2, 3, 1, 1, 1, 1, 1}) || !slices.Equal(asked, []int{1, 6}) {
		t.Errorf("messages of %v parts, contexts asked for before %v", lengths, asked)
	}
	if !proto.Equal(first, before) || r.Messages[3].GetModel() != "m" {
		t.Error("what is appended is not what was recorded")
	}
}
