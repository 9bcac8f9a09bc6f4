package main

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/palimpsest-context/palimpsest/cmd/sidecar/internal/config"
	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/listen"
)

// launch runs a program until its context ends, and returns a connection to it and what Run returns.
func launch(ctx context.Context, t *testing.T, s *config.Settings) (*grpc.ClientConn, <-chan error) {
	t.Helper()
	return launchLogged(ctx, t, s, zap.NewNop())
}

func launchLogged(ctx context.Context, t *testing.T, s *config.Settings, log *zap.Logger) (*grpc.ClientConn, <-chan error) {
	t.Helper()
	ready, ended := make(chan string, 1), make(chan error, 1)
	p := &program{log: log, ready: func(addresses []string) { ready <- addresses[0] }}
	go func() { ended <- p.Run(ctx, s) }()
	select {
	case address := <-ready:
		conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithNoProxy())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		return conn, ended
	case err := <-ended:
		t.Fatal(err)
		return nil, nil
	}
}

func message(text string) *pb.AppendMessageRequest {
	return &pb.AppendMessageRequest{ConversationId: "c", Message: &pb.Message{
		Role: pb.Role_ROLE_USER, Parts: []*pb.Part{{Content: &pb.Part_Text{Text: text}}},
	}}
}

func exported(t *testing.T, conn *grpc.ClientConn) []byte {
	t.Helper()
	stream, err := pb.NewConversationServiceClient(conn).ExportConversation(t.Context(), &pb.ExportConversationRequest{ConversationId: "c"})
	if err != nil {
		t.Fatal(err)
	}
	var out []byte
	for {
		piece, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, piece.GetChunk()...)
	}
}

func TestProgram_Run_CallsInFlightFinishAndWhatTheyDidIsKept(t *testing.T) {
	s := config.Private(t.TempDir())
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	conn, ended := launch(ctx, t, s)
	if _, err := pb.NewContextServiceClient(conn).AppendMessage(ctx, message("hello")); err != nil {
		t.Fatal(err)
	}
	data := exported(t, conn)
	inFlight, err := pb.NewConversationServiceClient(conn).ImportConversation(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	send(t, inFlight, &pb.ImportConversationRequest{Payload: &pb.ImportConversationRequest_ConversationId{ConversationId: "late"}})
	watch, err := healthpb.NewHealthClient(conn).Watch(t.Context(), &healthpb.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if first, err := watch.Recv(); err != nil || first.GetStatus() != healthpb.HealthCheckResponse_SERVING {
		t.Fatalf("%v, %v", first, err)
	}
	stop()
	if next, err := watch.Recv(); err != nil || next.GetStatus() != healthpb.HealthCheckResponse_NOT_SERVING {
		t.Errorf("%v, %v", next, err)
	}
	time.Sleep(50 * time.Millisecond)
	send(t, inFlight, &pb.ImportConversationRequest{Payload: &pb.ImportConversationRequest_Chunk{Chunk: data}})
	if _, err := inFlight.CloseAndRecv(); err != nil {
		t.Errorf("the call in flight: %v", err)
	}
	if err := <-ended; err != nil {
		t.Errorf("Run returned %v", err)
	}

	ctx, stop = context.WithCancel(t.Context())
	again, ended := launch(ctx, t, s)
	for _, id := range []string{"c", "late"} {
		got, err := pb.NewConversationServiceClient(again).GetMessage(ctx, &pb.GetMessageRequest{ConversationId: id})
		if err != nil || got.GetMessage().GetParts()[0].GetText() != "hello" {
			t.Errorf("%s after the restart: %v, %v", id, got, err)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("Run returned %v", err)
	}
}

// TestProgram_Run_ReadinessFallsBeforeCallsAreRefused: for the delay, callers are asked to leave and still answered.
func TestProgram_Run_ReadinessFallsBeforeCallsAreRefused(t *testing.T) {
	s := config.Private(t.TempDir())
	socket := socketPath(t)
	s.Ops, s.DrainDelay = listen.UnixScheme+socket, 300*time.Millisecond
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	conn, ended := launch(ctx, t, s)
	probe := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		},
	}}
	ready := func() int {
		answer, err := probe.Get("http://ops/readyz")
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		return answer.StatusCode
	}
	if code := ready(); code != http.StatusOK {
		t.Fatalf("while it serves, /readyz answers %d", code)
	}
	stop()
	for ready() != http.StatusServiceUnavailable {
		time.Sleep(time.Millisecond)
	}
	health, err := healthpb.NewHealthClient(conn).Check(t.Context(), &healthpb.HealthCheckRequest{})
	if err != nil || health.GetStatus() != healthpb.HealthCheckResponse_NOT_SERVING {
		t.Errorf("health answers %v, %v", health, err)
	}
	if _, err := pb.NewContextServiceClient(conn).AppendMessage(t.Context(), message("late")); err != nil {
		t.Errorf("a call within the delay: %v", err)
	}
	if err := <-ended; err != nil {
		t.Errorf("Run returned %v", err)
	}
	if _, err := os.Stat(socket); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the operations socket is left behind: %v", err)
	}
}

// socketPath is short enough for a socket, wherever tests have their folders.
func socketPath(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "s")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	return filepath.Join(folder, "s")
}

func send(t *testing.T, stream grpc.ClientStreamingClient[pb.ImportConversationRequest, pb.ImportConversationResponse], r *pb.ImportConversationRequest) {
	t.Helper()
	if err := stream.Send(r); err != nil {
		t.Fatal(err)
	}
}

func TestProgram_Run_FailedStartLeavesNothingBehind(t *testing.T) {
	folder := t.TempDir()
	notAFolder := filepath.Join(folder, "file")
	if err := os.WriteFile(notAFolder, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := config.Private(filepath.Join(notAFolder, "data"))
	s.Listen = []string{"unix://" + filepath.Join(folder, "s.sock")}
	if err := (&program{log: zap.NewNop()}).Run(t.Context(), s); err == nil {
		t.Fatal("started without a data directory")
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestStartPrivate_Stop_RemovesTheFolder(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	address, stop, err := startPrivate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := net.SplitHostPort(address); err != nil {
		t.Error(err)
	}
	stop()
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestProgram_Reflection_IsOffUnlessAskedFor(t *testing.T) {
	for asked, want := range map[bool]codes.Code{false: codes.Unimplemented, true: codes.OK} {
		s := config.Private(t.TempDir())
		s.Reflection, s.Store = asked, config.StoreMemory
		ctx, stop := context.WithCancel(t.Context())
		conn, ended := launch(ctx, t, s)
		stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo")
		if err != nil {
			t.Fatal(err)
		}
		if err := stream.CloseSend(); err != nil {
			t.Fatal(err)
		}
		if err := stream.RecvMsg(&healthpb.HealthCheckRequest{}); status.Code(err) != want && !(want == codes.OK && errors.Is(err, io.EOF)) {
			t.Errorf("asked for: %v, answers %v", asked, err)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}
