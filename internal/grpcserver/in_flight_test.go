package grpcserver

import (
	"testing"

	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// TestServer_RequestLimit_CountsWhatIsAtWork: a namespace's requests are limited by those that are at work, unary and streams alike. Who
// only watches takes no room, and neither do probes.
func TestServer_RequestLimit_CountsWhatIsAtWork(t *testing.T) {
	e := blocking{Engine: realEngine(t), entered: make(chan struct{}), leave: make(chan struct{})}
	s, ctx := start(t, e, func(o *Options) { o.RequestLimit = func(string) int64 { return 1 } }), t.Context()
	mustAppend(t, s, &pb.AppendMessageRequest{ConversationId: "c", Message: userText("x")})
	watched, err := s.conversations.WatchEvents(ctx, &pb.WatchEventsRequest{ConversationId: "c"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := watched.Recv(); err != nil {
		t.Fatal(err)
	}
	got := make(chan error, 1)
	go func() {
		_, err := s.conversations.GetConversation(ctx, &pb.GetConversationRequest{ConversationId: "c"})
		got <- err
	}()
	select {
	case <-e.entered:
	case err := <-got:
		t.Fatalf("beside a watcher: %v", err)
	}
	_, err = s.conversations.CountMessages(ctx, &pb.CountMessagesRequest{ConversationId: "c"})
	wantReason(t, err, codes.ResourceExhausted, "QUOTA_EXCEEDED")
	exported, err := s.conversations.ExportConversation(ctx, &pb.ExportConversationRequest{ConversationId: "c"})
	if err == nil {
		_, err = exported.Recv()
	}
	wantReason(t, err, codes.ResourceExhausted, "QUOTA_EXCEEDED")
	probe := healthpb.NewHealthClient(s.conn)
	watch, err := probe.Watch(ctx, &healthpb.HealthCheckRequest{})
	if err == nil {
		_, err = watch.Recv()
	}
	if _, second := probe.Check(ctx, &healthpb.HealthCheckRequest{}); err != nil || second != nil {
		t.Errorf("probes: %v, %v", err, second)
	}
	again, err := s.conversations.WatchEvents(ctx, &pb.WatchEventsRequest{ConversationId: "c"})
	if err == nil {
		_, err = again.Recv()
	}
	if err != nil {
		t.Errorf("a watcher: %v", err)
	}
	close(e.leave)
	if err := <-got; err != nil {
		t.Error(err)
	}
	if _, err := s.conversations.CountMessages(ctx, &pb.CountMessagesRequest{ConversationId: "c"}); err != nil {
		t.Errorf("once there is room: %v", err)
	}
}

// TestServer_Quota_RefusesByReason: what the engine refuses for a namespace's limit reaches the client with its reason, and counts what a
// conversation's stored_bytes says.
func TestServer_Quota_RefusesByReason(t *testing.T) {
	s, ctx := start(t, realEngine(t, func(o *engine.Options) {
		o.Quotas = func(string) engine.Quota { return engine.Quota{Bytes: 5} }
	})), t.Context()
	mustAppend(t, s, &pb.AppendMessageRequest{ConversationId: "c", Message: userText("12345")})
	_, err := s.contexts.AppendMessage(ctx, &pb.AppendMessageRequest{ConversationId: "c", Message: userText("6")})
	wantReason(t, err, codes.ResourceExhausted, "QUOTA_EXCEEDED")
	got, err := s.conversations.GetConversation(ctx, &pb.GetConversationRequest{ConversationId: "c"})
	if err != nil || got.GetConversation().GetStoredBytes() != 5 || got.GetConversation().GetMessageCount() != 1 {
		t.Errorf("%v (%v)", got, err)
	}
}
