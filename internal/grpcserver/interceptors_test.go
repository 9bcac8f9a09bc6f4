package grpcserver

import (
	"slices"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// TestServer_Answers_TellTheVersion: of calls that succeed and that fail, and of streams.
func TestServer_Answers_TellTheVersion(t *testing.T) {
	s, ctx := start(t, realEngine(t)), t.Context()
	told := func(what string, header metadata.MD) {
		if !slices.Equal(header.Get(versionKey), []string{"v0.0.0-test"}) {
			t.Errorf("%s: the header is %v", what, header)
		}
	}
	var header metadata.MD
	if _, err := s.conversations.ListConversations(ctx, &pb.ListConversationsRequest{}, grpc.Header(&header)); err != nil {
		t.Fatal(err)
	}
	told("a call", header)
	if _, err := s.conversations.GetConversation(ctx, &pb.GetConversationRequest{ConversationId: "none"}, grpc.Header(&header)); err == nil {
		t.Fatal("there is a conversation")
	}
	told("a call that fails", header)
	if _, err := s.conversations.GetConversation(ctx, &pb.GetConversationRequest{}, grpc.Header(&header)); err == nil {
		t.Fatal("a conversation without an id")
	}
	told("a call that is refused", header)
	stream, err := s.conversations.ExportConversation(ctx, &pb.ExportConversationRequest{ConversationId: "none"})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = stream.Recv()
	if header, err = stream.Header(); err != nil {
		t.Fatal(err)
	}
	told("a stream", header)
}
