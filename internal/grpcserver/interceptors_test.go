package grpcserver

import (
	"context"
	"slices"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

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

// TestServer_EveryRPC_TellsTheVersion: of one message and of streams, where a request breaks the rules, holds a field that nobody knows,
// or is refused because too many are in flight; and the probe that is answered all the same.
func TestServer_EveryRPC_TellsTheVersion(t *testing.T) {
	s, ctx := start(t, realEngine(t), limitedTo(1)), t.Context()
	for _, service := range services() {
		for i := range service.Methods().Len() {
			m := service.Methods().Get(i)
			_ = tellsVersion(t, s, m, nil) // some take it
			if err := tellsVersion(t, s, m, newerField()); status.Code(err) != codes.InvalidArgument {
				t.Errorf("%s takes a field that nobody knows: %v", m.FullName(), err)
			}
		}
	}
	wantReason(t, s.fill(ctx, t), codes.ResourceExhausted, "OVERLOADED")
	for _, service := range services() {
		for i := range service.Methods().Len() {
			if err := tellsVersion(t, s, service.Methods().Get(i), nil); status.Code(err) != codes.ResourceExhausted {
				t.Errorf("%s is admitted: %v", service.Methods().Get(i).FullName(), err)
			}
		}
	}
	var header metadata.MD
	if _, err := healthpb.NewHealthClient(s.conn).Check(ctx, &healthpb.HealthCheckRequest{}, grpc.Header(&header)); err != nil || len(header.Get(versionKey)) != 1 {
		t.Errorf("a probe: %v, %v", header, err)
	}
}

// TestServer_Answers_TellTheVersion_WherePanicsAndStreamsEnd: of a handler that panics, and of a stream that gives what it was asked for.
func TestServer_Answers_TellTheVersion_WherePanicsAndStreamsEnd(t *testing.T) {
	broken, ctx := start(t, panicking{}), t.Context()
	var header metadata.MD
	_, err := broken.conversations.GetConversation(ctx, &pb.GetConversationRequest{ConversationId: "c"}, grpc.Header(&header))
	if status.Code(err) != codes.Internal || !slices.Equal(header.Get(versionKey), []string{"v0.0.0-test"}) {
		t.Errorf("a panic: %v, %v", header, err)
	}
	s := start(t, realEngine(t))
	if _, err := s.contexts.AppendMessage(ctx, &pb.AppendMessageRequest{ConversationId: "c", Message: userText("x")}); err != nil {
		t.Fatal(err)
	}
	stream, err := s.conversations.ExportConversation(ctx, &pb.ExportConversationRequest{ConversationId: "c"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); err != nil {
		t.Fatal(err)
	}
	if header, err = stream.Header(); err != nil || !slices.Equal(header.Get(versionKey), []string{"v0.0.0-test"}) {
		t.Errorf("a stream: %v, %v", header, err)
	}
}

// newerField is a field that no request has.
func newerField() protoreflect.RawFields {
	return protowire.AppendVarint(protowire.AppendTag(nil, 9000, protowire.VarintType), 1)
}

// tellsVersion calls a method with a request that says nothing, or what nobody knows, and gives what it ends with.
func tellsVersion(t *testing.T, s *sidecar, m protoreflect.MethodDescriptor, unknown protoreflect.RawFields) error {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	name := "/" + string(m.Parent().FullName()) + "/" + string(m.Name())
	stream, err := s.conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, name)
	if err != nil {
		t.Fatal(err)
	}
	request := dynamicpb.NewMessage(m.Input())
	request.SetUnknown(unknown)
	_ = stream.SendMsg(request) // a call that is refused reads nothing
	_ = stream.CloseSend()
	for err == nil && ctx.Err() == nil {
		err = stream.RecvMsg(dynamicpb.NewMessage(m.Output()))
	}
	header, headerErr := stream.Header()
	if headerErr != nil || !slices.Equal(header.Get(versionKey), []string{"v0.0.0-test"}) {
		t.Errorf("%s, which ends with %v: the header is %v (%v)", name, err, header, headerErr)
	}
	return err
}
