package inspect

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/dial"
)

func TestMain(m *testing.M) {
	flag.Parse()
	goleak.VerifyTestMain(m)
}

// fake is a sidecar that answers with what it was given.
type fake struct {
	pb.UnimplementedContextServiceServer
	pb.UnimplementedConversationServiceServer
	pb.UnimplementedContentServiceServer
	pb.UnimplementedMemoryServiceServer

	conversation  *pb.Conversation
	conversations []*pb.ListConversationsResponse // pages
	messages      []*pb.ListMessagesResponse      // pages
	message       *pb.Message
	build         *pb.BuildContextResponse
	manifests     []*pb.Manifest
	manifest      *pb.GetManifestResponse
	expansions    []*pb.ExpandMessageResponse // pages
	events        []*pb.WatchEventsResponse
	fault         error                         // of builds
	refused       error                         // of expansions
	missing       error                         // of everything about the conversation
	sources       []*pb.ListSourcesResponse     // pages
	contents      []*pb.RetrieveContentResponse // pages
	found         *pb.SearchContentResponse
	absent        error                      // of contents
	memories      []*pb.ListMemoriesResponse // pages
	recalled      *pb.SearchMemoriesResponse
	sync          []*pb.MemorySync
	forgets       []*pb.Forget // one after the other

	built    []*pb.BuildContextRequest
	listed   []*pb.ListMessagesRequest
	expanded []*pb.ExpandMessageRequest
	watched  *pb.WatchEventsRequest
	sourced  []*pb.ListSourcesRequest
	read     []*pb.RetrieveContentRequest
	searched *pb.SearchContentRequest
	asked    []proto.Message // about memories
}

func (f *fake) ListSources(_ context.Context, r *pb.ListSourcesRequest) (*pb.ListSourcesResponse, error) {
	f.sourced = append(f.sourced, r)
	return page(f.sources, r.GetPageToken()), f.missing
}

func (f *fake) RetrieveContent(_ context.Context, r *pb.RetrieveContentRequest) (*pb.RetrieveContentResponse, error) {
	f.read = append(f.read, r)
	if f.absent != nil {
		return nil, f.absent
	}
	return page(f.contents, r.GetPageToken()), nil
}

func (f *fake) SearchContent(_ context.Context, r *pb.SearchContentRequest) (*pb.SearchContentResponse, error) {
	f.searched = r
	return f.found, f.absent
}

func (f *fake) GetConversation(context.Context, *pb.GetConversationRequest) (*pb.GetConversationResponse, error) {
	return &pb.GetConversationResponse{Conversation: f.conversation}, f.missing
}

// page is the page that a token names: its number, as a character.
func page[M any](pages []M, token string) M {
	if token == "" {
		return pages[0]
	}
	return pages[token[0]-'0']
}

func (f *fake) ListConversations(_ context.Context, r *pb.ListConversationsRequest) (*pb.ListConversationsResponse, error) {
	return page(f.conversations, r.GetPageToken()), nil
}

func (f *fake) ListMessages(_ context.Context, r *pb.ListMessagesRequest) (*pb.ListMessagesResponse, error) {
	f.listed = append(f.listed, r)
	return page(f.messages, r.GetPageToken()), nil
}

func (f *fake) GetMessage(context.Context, *pb.GetMessageRequest) (*pb.GetMessageResponse, error) {
	return &pb.GetMessageResponse{Message: f.message}, f.missing
}

func (f *fake) ListManifests(context.Context, *pb.ListManifestsRequest) (*pb.ListManifestsResponse, error) {
	return &pb.ListManifestsResponse{Manifests: f.manifests}, f.missing
}

func (f *fake) GetManifest(context.Context, *pb.GetManifestRequest) (*pb.GetManifestResponse, error) {
	return f.manifest, nil
}

func (f *fake) BuildContext(_ context.Context, r *pb.BuildContextRequest) (*pb.BuildContextResponse, error) {
	f.built = append(f.built, r)
	if !r.GetDryRun() || !r.GetSameTurn() {
		return nil, errors.New("a look must commit nothing")
	}
	if f.fault == nil && r.GetFormat() != pb.ContextFormat_CONTEXT_FORMAT_NEUTRAL {
		rendered := proto.CloneOf(f.build)
		rendered.Messages = nil // a provider's format has its bytes alone
		return rendered, nil
	}
	return f.build, f.fault
}

func (f *fake) ExpandMessage(_ context.Context, r *pb.ExpandMessageRequest) (*pb.ExpandMessageResponse, error) {
	f.expanded = append(f.expanded, r)
	if f.refused != nil {
		return nil, f.refused
	}
	return page(f.expansions, r.GetPageToken()), nil
}

func (f *fake) WatchEvents(r *pb.WatchEventsRequest, stream grpc.ServerStreamingServer[pb.WatchEventsResponse]) error {
	f.watched = r
	if f.missing != nil {
		return f.missing
	}
	for _, e := range f.events {
		time.Sleep(quiet / 20) // events of the past come one by one
		if err := stream.Send(e); err != nil {
			return err
		}
	}
	<-stream.Context().Done()
	return stream.Context().Err()
}

// serve starts the fake and says where.
func (f *fake) serve(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	pb.RegisterContextServiceServer(server, f)
	pb.RegisterConversationServiceServer(server, f)
	pb.RegisterContentServiceServer(server, f)
	pb.RegisterMemoryServiceServer(server, f)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return listener.Addr().String()
}

// command is any of the commands.
type command interface {
	Run(ctx context.Context, env *Env) error
}

// flags are those that tests give all commands.
func (f *fake) flags(t *testing.T) Sidecar {
	t.Helper()
	return Sidecar{Flags: dial.Flags{Address: f.serve(t)}, Timeout: 10 * time.Second}
}

// run runs a command in a terminal's width.
func run(t *testing.T, c command, columns string) (stdout, stderr string, err error) {
	t.Helper()
	t.Setenv("COLUMNS", columns)
	t.Setenv("LC_ALL", "C.UTF-8")
	var out, remarks bytes.Buffer
	err = c.Run(t.Context(), &Env{Stdout: &out, Stderr: &remarks})
	return out.String(), remarks.String(), err
}

// golden compares with a file under testdata, which PALIMPSEST_REWRITE writes anew.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if os.Getenv("PALIMPSEST_REWRITE") != "" {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || got != string(want) {
		t.Errorf("%s (%v): got\n%s\nwant\n%s", path, err, got, want)
	}
}

// refusal is an error as the sidecar makes them.
func refusal(code codes.Code, reason, text string, fields ...*errdetails.BadRequest_FieldViolation) error {
	s, err := status.New(code, text).WithDetails(
		&errdetails.ErrorInfo{Domain: "palimpsest.dev", Reason: reason}, &errdetails.BadRequest{FieldViolations: fields})
	if err != nil {
		return err
	}
	return s.Err()
}

func at(minutes int) *timestamppb.Timestamp {
	return timestamppb.New(time.Date(2026, 3, 4, 5, 6+minutes, 7, 0, time.UTC))
}

func text(words string) []*pb.Part {
	return []*pb.Part{{Content: &pb.Part_Text{Text: words}}}
}

func result(tool, words string) []*pb.Part {
	return []*pb.Part{{Content: &pb.Part_ToolResult{ToolResult: &pb.ToolResult{
		CallId: "c", Name: tool, Output: &pb.ToolResult_Text{Text: words},
	}}}}
}

func call(tool, arguments string) []*pb.Part {
	return []*pb.Part{{Content: &pb.Part_ToolCall{ToolCall: &pb.ToolCall{CallId: "c", Name: tool, ArgumentsJson: arguments}}}}
}

func pointer[T any](v T) *T { return &v }
