package grpcserver

import (
	"context"
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

// TestServer_WatchEvents_OneNamespace_LeavesRoomForOthers: and for its own calls where it is alone.
func TestServer_WatchEvents_OneNamespace_LeavesRoomForOthers(t *testing.T) {
	for name, c := range map[string]struct {
		authenticator func(*Options)
		who, also     context.Context
		share         int
	}{
		"alone":  {func(*Options) {}, t.Context(), t.Context(), 2},
		"shared": {admitting(t, "a", "b"), bearing(t.Context(), "a"), bearing(t.Context(), "b"), 4},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, realEngine(t), limitedTo(1), c.authenticator)
			watch := func(ctx context.Context) error {
				stream, err := s.conversations.WatchEvents(ctx, &pb.WatchEventsRequest{ConversationId: "c"})
				if err == nil {
					_, err = stream.Recv()
				}
				return err
			}
			for _, ctx := range []context.Context{c.who, c.also} {
				if _, err := s.contexts.AppendMessage(ctx, &pb.AppendMessageRequest{ConversationId: "c", Message: userText("x")}); err != nil {
					t.Fatal(err)
				}
			}
			ctx, leave := context.WithCancel(c.who)
			defer leave()
			for range s.server.maxConnections / c.share {
				if err := watch(ctx); err != nil {
					t.Fatal(err)
				}
			}
			wantReason(t, watch(ctx), codes.ResourceExhausted, "OVERLOADED")
			if _, err := s.conversations.GetConversation(c.also, &pb.GetConversationRequest{ConversationId: "c"}); err != nil {
				t.Errorf("a call beside them: %v", err)
			}
			if err := watch(c.also); (err == nil) != (c.share == 4) {
				t.Errorf("another watcher: %v", err)
			}
			leave()
			for begin := time.Now(); watch(c.who) != nil; time.Sleep(time.Millisecond) {
				if time.Since(begin) > 10*time.Second {
					t.Fatal("watchers that have left are still counted")
				}
			}
		})
	}
}
