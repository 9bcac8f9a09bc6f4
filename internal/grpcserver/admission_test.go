package grpcserver

import (
	"context"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/admission"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
)

func limitedTo(bytes int64) func(*Options) { return func(o *Options) { o.MemoryLimit = bytes } }

func TestServer_ManyElements_AreRefusedByName(t *testing.T) {
	s := start(t, realEngine(t))
	parts := make([]*pb.Part, 200_000)
	for i := range parts {
		parts[i] = &pb.Part{}
	}
	_, err := s.contexts.AppendMessage(t.Context(), &pb.AppendMessageRequest{ConversationId: "c", Message: &pb.Message{Parts: parts}})
	if got := wantReason(t, err, codes.InvalidArgument, "INVALID_FIELD"); !strings.Contains(got["message.parts"], "200,000 elements") {
		t.Errorf("violations %q", got)
	}
}

func TestServer_ManyCalls_AreRefusedAndProbesAreNot(t *testing.T) {
	s := start(t, realEngine(t), limitedTo(1))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	get := func() error {
		_, err := s.conversations.GetConversation(t.Context(), &pb.GetConversationRequest{ConversationId: "c"})
		return err
	}
	err := s.fill(ctx, t)
	wantReason(t, err, codes.ResourceExhausted, "OVERLOADED")
	var retry *errdetails.RetryInfo
	for _, d := range status.Convert(err).Details() {
		if info, ok := d.(*errdetails.RetryInfo); ok {
			retry = info
		}
	}
	if retry.GetRetryDelay().AsDuration() != admission.RetryAfter {
		t.Errorf("retry after %s", retry.GetRetryDelay())
	}
	if _, err := healthpb.NewHealthClient(s.conn).Check(t.Context(), &healthpb.HealthCheckRequest{}); err != nil {
		t.Errorf("a probe: %v", err)
	}
	cancel()
	for begin := time.Now(); get() != nil; time.Sleep(time.Millisecond) {
		if time.Since(begin) > 10*time.Second {
			t.Fatal("calls that have ended are still counted")
		}
	}
}

// fill keeps calls in flight until ctx ends, as many as are admitted, and gives what the next one is told.
func (s *sidecar) fill(ctx context.Context, t *testing.T) error {
	t.Helper()
	if _, err := s.contexts.AppendMessage(ctx, &pb.AppendMessageRequest{ConversationId: "c", Message: userText("x")}); err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		if _, err := s.contents.StoreContent(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := s.conversations.GetConversation(ctx, &pb.GetConversationRequest{ConversationId: "c"}); err != nil {
			return err
		}
	}
	t.Fatal("every call is admitted")
	return nil
}

func TestServer_LargeHeaders_AreRefused(t *testing.T) {
	s := start(t, realEngine(t))
	for size, want := range map[int]codes.Code{maxHeaderBytes / 2: codes.NotFound, maxHeaderBytes: codes.Internal} {
		ctx := metadata.AppendToOutgoingContext(t.Context(), "x-large", strings.Repeat("x", size))
		_, err := s.conversations.GetConversation(ctx, &pb.GetConversationRequest{ConversationId: "c"})
		if status.Code(err) != want {
			t.Errorf("%d bytes: %v, want %s", size, err, want)
		}
	}
}

func TestServer_CallWithoutRequest_IsRefused(t *testing.T) {
	s := start(t, realEngine(t))
	stream, err := s.conn.NewStream(t.Context(), &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, pb.ConversationService_GetConversation_FullMethodName)
	if err == nil {
		err = stream.CloseSend()
	}
	if err != nil {
		t.Fatal(err)
	}
	wantReason(t, stream.RecvMsg(&pb.GetConversationResponse{}), codes.InvalidArgument, "INVALID_FIELD")
}

func TestServer_LargestText_IsReceivedInLittleMemory(t *testing.T) {
	s := start(t, realEngine(t), limitedTo(256<<20))
	text := strings.Repeat("x", schema.MaxContentBytes)
	if _, err := s.contexts.AppendMessage(t.Context(), &pb.AppendMessageRequest{ConversationId: "c", Message: userText(text)}); err != nil {
		t.Fatal(err)
	}
}
