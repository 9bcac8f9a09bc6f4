package grpcserver

import (
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// TestServer_Names_ComeBackAsTheyWere: of who speaks, in a message and in a neutral context.
func TestServer_Names_ComeBackAsTheyWere(t *testing.T) {
	s, ctx := start(t, realEngine(t)), t.Context()
	said := userText("hi")
	said.Name = "Zoë <\u2028>"
	_, err := s.contexts.AppendMessage(ctx, &pb.AppendMessageRequest{ConversationId: "c", Message: said})
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.conversations.GetMessage(ctx, &pb.GetMessageRequest{ConversationId: "c", MessageIndex: 0})
	if err != nil {
		t.Fatal(err)
	}
	list, err := s.conversations.ListMessages(ctx, &pb.ListMessagesRequest{ConversationId: "c"})
	if err != nil {
		t.Fatal(err)
	}
	built, err := s.contexts.BuildContext(ctx, &pb.BuildContextRequest{ConversationId: "c", Format: pb.ContextFormat_CONTEXT_FORMAT_NEUTRAL})
	if err != nil {
		t.Fatal(err)
	}
	for what, name := range map[string]string{
		"get":  got.GetMessage().GetName(),
		"list": list.GetMessages()[0].GetName(), "build": built.GetMessages()[0].GetName(),
	} {
		if name != said.Name {
			t.Errorf("%s: %q", what, name)
		}
	}
}

// TestServer_Names_OutsideTheirRules_AreRefused: too long, of several lines, or of a tool.
func TestServer_Names_OutsideTheirRules_AreRefused(t *testing.T) {
	s, ctx := start(t, realEngine(t)), t.Context()
	for name, want := range map[string]string{
		strings.Repeat("x", 257): "at most 256 bytes",
		"a\nb":                   "no control characters",
		"grep":                   "tool",
	} {
		m := userText("x")
		if m.Name = name; name == "grep" {
			m = &pb.Message{Role: pb.Role_ROLE_TOOL, Name: name, Parts: []*pb.Part{{Content: &pb.Part_ToolResult{ToolResult: &pb.ToolResult{CallId: "1"}}}}}
		}
		_, err := s.contexts.AppendMessage(ctx, &pb.AppendMessageRequest{ConversationId: "c", Message: m})
		if got := wantReason(t, err, codes.InvalidArgument, "INVALID_FIELD"); !strings.Contains(got["message.name"], want) || len(got) != 1 {
			t.Errorf("%.10q: %q", name, got)
		}
	}
}

// TestServer_BuildContext_WithoutAMessage_SaysSo, apart from a conversation in which the system alone speaks.
func TestServer_BuildContext_WithoutAMessage_SaysSo(t *testing.T) {
	s, ctx := start(t, realEngine(t)), t.Context()
	build := func() error {
		_, err := s.contexts.BuildContext(ctx, &pb.BuildContextRequest{ConversationId: "c"})
		return err
	}
	if _, err := s.conversations.CreateConversation(ctx, &pb.CreateConversationRequest{Conversation: &pb.Conversation{Id: "c"}}); err != nil {
		t.Fatal(err)
	}
	wantReason(t, build(), codes.FailedPrecondition, "NO_MESSAGES")
	system := userText("s")
	system.Role = pb.Role_ROLE_SYSTEM
	if _, err := s.contexts.AppendMessage(ctx, &pb.AppendMessageRequest{ConversationId: "c", Message: system}); err != nil {
		t.Fatal(err)
	}
	wantReason(t, build(), codes.FailedPrecondition, "EMPTY_CONTEXT")
}
