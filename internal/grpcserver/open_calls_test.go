package grpcserver

import (
	"bytes"
	"slices"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// TestServer_BuildContext_CallsOneAMessage: parallel calls that come one message each are refused by their ids while they wait,
// built with close_open_calls, and come through an export.
func TestServer_BuildContext_CallsOneAMessage(t *testing.T) {
	s, ctx := start(t, realEngine(t)), t.Context()
	say := func(role pb.Role, p *pb.Part, tags ...string) {
		mustAppend(t, s, &pb.AppendMessageRequest{ConversationId: "c", Message: &pb.Message{Role: role, Parts: []*pb.Part{p}, Tags: tags}})
	}
	say(pb.Role_ROLE_USER, textPart("go"))
	say(pb.Role_ROLE_ASSISTANT, callPart("never", "read"), "aborted")
	for _, id := range []string{"k1", "k2", "k3"} {
		say(pb.Role_ROLE_ASSISTANT, callPart(id, "read"))
	}
	say(pb.Role_ROLE_TOOL, resultPart(&pb.ToolResult{CallId: "k2", Output: &pb.ToolResult_Text{Text: "two"}}))

	_, err := s.contexts.BuildContext(ctx, &pb.BuildContextRequest{ConversationId: "c"})
	wantReason(t, err, codes.FailedPrecondition, "PENDING_TOOL_CALLS")
	if got := waitingCalls(err); !slices.Equal(got, []string{"k1", "k3"}) {
		t.Errorf("the refusal names %v", got)
	}
	built := mustBuild(t, s, &pb.BuildContextRequest{ConversationId: "c", CloseOpenCalls: true})
	if m := built.GetMessages()[3]; m.GetOrigin().GetMessageIndex() != 2 || m.GetEndIndex() != 5 || len(m.GetParts()) != 3 {
		t.Errorf("the calls are shown as %v", m)
	}
	first := export(t, s, "c")
	if _, err := importAs(ctx, s, "copy", first, 1000); err != nil {
		t.Fatal(err)
	}
	if second := export(t, s, "copy"); !bytes.Equal(first, second) {
		t.Errorf("the copy exports to other bytes:\n%s", firstDifference(first, second))
	}
}

// waitingCalls are the ids of the calls that a refusal names.
func waitingCalls(err error) []string {
	var out []string
	for _, d := range status.Convert(err).Details() {
		if b, ok := d.(*errdetails.BadRequest); ok {
			for _, v := range b.GetFieldViolations() {
				if v.GetField() == "call_id" {
					out = append(out, v.GetDescription())
				}
			}
		}
	}
	return out
}
