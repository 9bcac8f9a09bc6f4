package grpcserver

import (
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

func TestServer_WatchEvents_ResumesAndEndsWithTheServer(t *testing.T) {
	s, ctx := start(t, realEngine(t)), t.Context()
	add := func(text string) {
		t.Helper()
		if _, err := s.contexts.AppendMessage(ctx, &pb.AppendMessageRequest{ConversationId: "c", Message: userText(text)}); err != nil {
			t.Fatal(err)
		}
	}
	add("one")
	add("two")
	stream, err := s.conversations.WatchEvents(ctx, &pb.WatchEventsRequest{ConversationId: "c"})
	if err != nil {
		t.Fatal(err)
	}
	first, err := stream.Recv()
	if err != nil || first.GetEvent().GetMessageIndex() != 0 || first.GetEvent().GetType() != pb.EventType_EVENT_TYPE_ADDED {
		t.Fatalf("%v, %v", first, err)
	}
	resumed, err := s.conversations.WatchEvents(ctx, &pb.WatchEventsRequest{ConversationId: "c", ResumeToken: first.GetResumeToken()})
	if err != nil {
		t.Fatal(err)
	}
	if second, err := resumed.Recv(); err != nil || second.GetEvent().GetMessageIndex() != 1 {
		t.Fatalf("%v, %v", second, err)
	}
	add("three")
	if third, err := resumed.Recv(); err != nil || third.GetEvent().GetMessageIndex() != 2 || time.Since(third.GetEventTime().AsTime()) > time.Minute {
		t.Fatalf("%v, %v", third, err)
	}
	go func() { _ = s.server.Shutdown(ctx) }()
	_, err = resumed.Recv()
	wantReason(t, err, codes.Unavailable, "STORE_UNAVAILABLE")
}

func TestServer_WatchEvents_BadToken_SaysSo(t *testing.T) {
	s, ctx := start(t, realEngine(t)), t.Context()
	if _, err := s.contexts.AppendMessage(ctx, &pb.AppendMessageRequest{ConversationId: "c", Message: userText("one")}); err != nil {
		t.Fatal(err)
	}
	stream, err := s.conversations.WatchEvents(ctx, &pb.WatchEventsRequest{ConversationId: "c", ResumeToken: "!"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = stream.Recv()
	wantReason(t, err, codes.InvalidArgument, "INVALID_FIELD")
}
