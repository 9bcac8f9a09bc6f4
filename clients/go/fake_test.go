package palimpsest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// fake is a sidecar that says what the test wants, and remembers what it was asked.
type fake struct {
	pb.UnimplementedContextServiceServer
	pb.UnimplementedConversationServiceServer
	pb.UnimplementedContentServiceServer
	healthpb.UnimplementedHealthServer

	version string
	mu      sync.Mutex
	fails   []error // of the next appends and builds, before they are carried out
	ids     []string
	tokens  []string
	items   []*pb.BatchAppendItem // on record
	done    map[string]bool       // by request id
	builds  []*pb.BuildContextRequest
	lost    bool // answers are lost: what is asked is carried out, and fails
	calls   []*pb.AppendedCall
	forgets bool   // what it knew of a list
	goesOn  string // where lists go on
	parts   []*pb.ProviderInput
	view    []*pb.ViewPiece
	stored  []string // texts
	first   int32    // index of what is appended next
}

func newFake(t *testing.T, choices ...Option) (*fake, *Palimpsest) {
	t.Helper()
	f := &fake{version: "dev", done: map[string]bool{}}
	server := grpc.NewServer(grpc.UnaryInterceptor(f.intercept))
	pb.RegisterContextServiceServer(server, f)
	pb.RegisterConversationServiceServer(server, f)
	pb.RegisterContentServiceServer(server, f)
	healthpb.RegisterHealthServer(server, f)
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	p, err := New(listener.Addr().String(), choices...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		server.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return f, p
}

func (f *fake) intercept(ctx context.Context, request any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	given, _ := metadata.FromIncomingContext(ctx)
	f.mu.Lock()
	f.tokens = append(f.tokens, given.Get("authorization")...)
	f.mu.Unlock()
	_ = grpc.SetHeader(ctx, metadata.Pairs(versionKey, f.version))
	return handle(ctx, request)
}

func (f *fake) Check(context.Context, *healthpb.HealthCheckRequest) (*healthpb.HealthCheckResponse, error) {
	return &healthpb.HealthCheckResponse{Status: healthpb.HealthCheckResponse_SERVING}, nil
}

// carryOut puts items on record once for each request id.
func (f *fake) carryOut(id string, items []*pb.BatchAppendItem) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ids = append(f.ids, id)
	if len(f.fails) > 0 && !f.lost {
		err := f.fails[0]
		f.fails = f.fails[1:]
		return err
	}
	if !f.done[id] {
		f.done[id], f.items = true, append(f.items, items...)
	}
	if len(f.fails) > 0 {
		err := f.fails[0]
		f.fails = f.fails[1:]
		return err
	}
	return nil
}

func (f *fake) BatchAppendMessages(_ context.Context, r *pb.BatchAppendMessagesRequest) (*pb.BatchAppendMessagesResponse, error) {
	if err := f.carryOut(r.GetRequestId(), r.GetItems()); err != nil {
		return nil, err
	}
	return &pb.BatchAppendMessagesResponse{Calls: f.calls, Receipts: []*pb.Receipt{{Index: f.first}}}, nil
}

// AppendMessage takes a part of a list.
func (f *fake) AppendMessage(_ context.Context, r *pb.AppendMessageRequest) (*pb.AppendMessageResponse, error) {
	f.parts = append(f.parts, r.GetProviderInput())
	return &pb.AppendMessageResponse{History: f.listed(r.GetProviderInput()).GetHistory()}, nil
}

func (f *fake) StoreContent(stream grpc.ClientStreamingServer[pb.StoreContentRequest, pb.StoreContentResponse]) error {
	var text []byte
	for {
		r, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		text = append(text, r.GetChunk()...)
	}
	f.stored = append(f.stored, string(text))
	id := fmt.Sprintf("c%d-aaaaaaaa", len(f.stored))
	return stream.SendAndClose(&pb.StoreContentResponse{Citation: &pb.Citation{ContentId: id, Text: "[" + id + "]"}})
}

func (f *fake) BuildContext(_ context.Context, r *pb.BuildContextRequest) (*pb.BuildContextResponse, error) {
	f.mu.Lock()
	f.builds = append(f.builds, r)
	f.mu.Unlock()
	if err := f.carryOut(r.GetRequestId(), r.GetAppend().GetItems()); err != nil {
		return nil, err
	}
	input := r.GetAppend().GetProviderInput()
	if f.forgets && input.GetHistory().GetKnownCount() > 0 && len(f.parts) == 0 {
		return nil, refusal(codes.FailedPrecondition, "HISTORY_PREFIX_UNKNOWN")
	}
	if input != nil {
		return f.listed(input), nil
	}
	return &pb.BuildContextResponse{Rendered: &pb.Rendered{RequestJson: `{"messages":[{"role":"user","content":"<b>"}],"store":false}`}}, nil
}

// listed reads a whole list, as the sidecar counts it.
func (f *fake) listed(input *pb.ProviderInput) *pb.BuildContextResponse {
	var elements []json.RawMessage
	if err := json.Unmarshal([]byte(input.GetJson()), &elements); err != nil {
		panic(err)
	}
	state, _ := hex.DecodeString(input.GetHistory().GetKnownSha256())
	if len(state) == 0 {
		state = make([]byte, sha256.Size)
	}
	for _, element := range elements {
		sum := sha256.Sum256(slices.Concat(state, element))
		state = sum[:]
	}
	count := int(input.GetHistory().GetKnownCount()) + len(elements)
	return &pb.BuildContextResponse{
		Rendered: &pb.Rendered{RequestJson: `{}`},
		History:  &pb.HistoryResult{KnownCount: int32(count), KnownSha256: hex.EncodeToString(state), ConversationId: f.goesOn, View: f.view},
	}
}

func (f *fake) AnswerToolCall(_ context.Context, r *pb.AnswerToolCallRequest) (*pb.AnswerToolCallResponse, error) {
	call := r.GetToolCall()
	return &pb.AnswerToolCallResponse{ToolResult: &pb.ToolResult{
		CallId: call.GetCallId(), Output: &pb.ToolResult_Text{Text: "recalled"},
		RecalledFrom: &pb.RecalledFrom{Source: &pb.RecalledFrom_ContentId{ContentId: "c1-aaaaaaaa"}},
	}}, nil
}

func (f *fake) CreateConversation(context.Context, *pb.CreateConversationRequest) (*pb.CreateConversationResponse, error) {
	return nil, refusal(codes.AlreadyExists, "CONVERSATION_EXISTS")
}

// refusal is an error as the sidecar makes it.
func refusal(code codes.Code, reason string, more ...protoadapt.MessageV1) error {
	info := &errdetails.ErrorInfo{Reason: reason, Domain: "palimpsest.dev", Metadata: map[string]string{"list_index": "3"}}
	s, err := status.New(code, "refused").WithDetails(append([]protoadapt.MessageV1{info}, more...)...)
	if err != nil {
		panic(err)
	}
	return s.Err()
}
