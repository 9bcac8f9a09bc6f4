package grpcserver

import (
	"bytes"
	"context"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/access"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/provider/anthropic"
	"github.com/palimpsest-context/palimpsest/pkg/provider/gemini"
	"github.com/palimpsest-context/palimpsest/pkg/provider/neutral"
	"github.com/palimpsest-context/palimpsest/pkg/provider/openaichat"
	"github.com/palimpsest-context/palimpsest/pkg/provider/openairesponses"
	"github.com/palimpsest-context/palimpsest/pkg/store/memory"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
	"github.com/palimpsest-context/palimpsest/pkg/tokens/bpe"
	"github.com/palimpsest-context/palimpsest/pkg/tokens/chars4"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sidecar is a server in this process and clients of it.
type sidecar struct {
	contexts      pb.ContextServiceClient
	conversations pb.ConversationServiceClient
	policies      pb.PolicyServiceClient
	contents      pb.ContentServiceClient
	conn          *grpc.ClientConn
	dial          func(context.Context) (net.Conn, error)
	server        *Server
	log           *bytes.Buffer
}

func start(t testing.TB, e Engine, change ...func(*Options)) *sidecar {
	t.Helper()
	log := &bytes.Buffer{}
	core := zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), zapcore.Lock(zapcore.AddSync(log)), zap.DebugLevel)
	o := Options{Engine: e, Log: zap.New(core), Authenticator: access.AllowAll("default"), Reflection: true, Version: "v0.0.0-test"}
	for _, c := range change {
		c(&o)
	}
	server := New(o)
	listener := bufconn.Listen(1 << 20)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	conn, err := grpc.NewClient("passthrough:///bufconn",
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }),
		grpc.WithTransportCredentials(credentialsFor(o.TLS)),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(80<<20), grpc.MaxCallSendMsgSize(80<<20)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = conn.Close()
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := server.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return &sidecar{
		contexts: pb.NewContextServiceClient(conn), conversations: pb.NewConversationServiceClient(conn),
		policies: pb.NewPolicyServiceClient(conn), contents: pb.NewContentServiceClient(conn), conn: conn, dial: listener.DialContext, server: server, log: log,
	}
}

// o200k is the default's counter. It is shared, because its vocabulary takes long to load.
var o200k = sync.OnceValue(func() tokens.Counter {
	counter, err := bpe.New(bpe.O200k)
	if err != nil {
		panic(err) // it is embedded
	}
	return counter
})

func realEngine(t testing.TB, change ...func(*engine.Options)) *engine.Engine {
	t.Helper()
	kept := memory.New(memory.Options{})
	t.Cleanup(func() { _ = kept.Close() })
	var ids atomic.Uint32
	o := engine.Options{
		Store:    kept,
		Counters: []tokens.Counter{o200k(), chars4.New()},
		Formats:  []provider.Format{neutral.New(), openaichat.New(), openairesponses.New(), anthropic.New(), gemini.New()},
		Readers:  []provider.Reader{openaichat.NewReader(), openairesponses.NewReader(), anthropic.NewReader(), gemini.NewReader()},
		Clock:    time.Now,
		IDs: func() conversation.ID {
			n := ids.Add(1)
			return conversation.ID{15: byte(n), 14: byte(n >> 8), 13: byte(n >> 16)}
		},
		CacheBytes: 1 << 20,
		OnError:    func(err error) { t.Error(err) },
	}
	for _, c := range change {
		c(&o)
	}
	e := engine.New(o)
	t.Cleanup(e.Close)
	return e
}

func userText(s string) *pb.Message {
	return &pb.Message{Role: pb.Role_ROLE_USER, Parts: []*pb.Part{{Content: &pb.Part_Text{Text: s}}}}
}

// wantReason fails unless err has the code and the reason, and returns its violations by field.
func wantReason(t *testing.T, err error, code codes.Code, reason string) map[string]string {
	t.Helper()
	if status.Code(err) != code || ReasonOf(err) != reason {
		t.Fatalf("got %v (reason %q), want %s %s", err, ReasonOf(err), code, reason)
	}
	fields := map[string]string{}
	for _, d := range status.Convert(err).Details() {
		if bad, ok := d.(*errdetails.BadRequest); ok {
			for _, v := range bad.GetFieldViolations() {
				fields[v.GetField()] = v.GetDescription()
			}
		}
	}
	return fields
}

func TestServer_Loop_AppendBuildReport(t *testing.T) {
	s, ctx := start(t, realEngine(t)), t.Context()
	appended, err := s.contexts.AppendMessage(ctx, &pb.AppendMessageRequest{ConversationId: "c", Message: userText("hello"), RequestId: "r1"})
	if err != nil {
		t.Fatal(err)
	}
	again, err := s.contexts.AppendMessage(ctx, &pb.AppendMessageRequest{ConversationId: "c", Message: userText("hello"), RequestId: "r1"})
	if err != nil || !again.GetReceipt().GetDuplicate() || again.GetReceipt().GetId() != appended.GetReceipt().GetId() {
		t.Fatalf("the retry: %v, %v", again, err)
	}
	_, err = s.contexts.AppendMessage(ctx, &pb.AppendMessageRequest{ConversationId: "c", Message: userText("other"), RequestId: "r1"})
	wantReason(t, err, codes.AlreadyExists, "REQUEST_ID_REUSED")

	built, err := s.contexts.BuildContext(ctx, &pb.BuildContextRequest{ConversationId: "c", Format: pb.ContextFormat_CONTEXT_FORMAT_OPENAI_CHAT})
	if err != nil {
		t.Fatal(err)
	}
	if built.GetTurn() != 1 || built.GetManifestId() != "b1" || !strings.Contains(string(built.GetRendered().GetMessagesJson()), "hello") || len(built.GetMessages()) != 0 {
		t.Errorf("built %v", built)
	}
	rebuilt, err := s.conversations.GetManifest(ctx, &pb.GetManifestRequest{ConversationId: "c", ManifestId: "b1"})
	if err != nil || rebuilt.GetRendered().GetContentSha256() != built.GetRendered().GetContentSha256() {
		t.Errorf("rebuilt %v, %v", rebuilt, err)
	}
	if got, want := rebuilt.GetManifest().GetTotalTokens(), built.GetTokens().GetTotal(); got != want {
		t.Errorf("the manifest has %d tokens, the build %d", got, want)
	}
	reported, err := s.contexts.ReportUsage(ctx, &pb.ReportUsageRequest{ConversationId: "c", ManifestId: "b1", Usage: &pb.Usage{InputTokens: 9}})
	if err != nil || !reported.GetCounted() {
		t.Errorf("reported %v, %v", reported, err)
	}
}

func TestServer_BuildContext_ReplyOverLimitCommitsNothing(t *testing.T) {
	s, ctx := start(t, realEngine(t)), t.Context()
	if _, err := s.contexts.AppendMessage(ctx, &pb.AppendMessageRequest{ConversationId: "c", Message: userText(strings.Repeat("x ", 5000))}); err != nil {
		t.Fatal(err)
	}
	small := int32(4000)
	_, err := s.contexts.BuildContext(ctx, &pb.BuildContextRequest{ConversationId: "c", MaxReplyBytes: &small})
	wantReason(t, err, codes.ResourceExhausted, "REPLY_TOO_LARGE")
	_, err = s.conversations.GetMessage(ctx, &pb.GetMessageRequest{ConversationId: "c", MaxReplyBytes: &small})
	wantReason(t, err, codes.ResourceExhausted, "REPLY_TOO_LARGE")
	got, err := s.conversations.GetConversation(ctx, &pb.GetConversationRequest{ConversationId: "c"})
	if err != nil || got.GetConversation().GetTurn() != 0 {
		t.Errorf("a refused build began a turn: %v, %v", got, err)
	}
}

// TestServer_ListMessages_MaxTokens: the newest messages that fit, and the next page goes on.
func TestServer_ListMessages_MaxTokens(t *testing.T) {
	s, ctx := start(t, realEngine(t)), t.Context()
	var weight int32
	for range 5 {
		appended, err := s.contexts.AppendMessage(ctx, &pb.AppendMessageRequest{ConversationId: "c", Message: userText("hello")})
		if err != nil {
			t.Fatal(err)
		}
		weight = appended.GetReceipt().GetTokenCount()
	}
	req := &pb.ListMessagesRequest{ConversationId: "c", Order: pb.ListOrder_LIST_ORDER_DESCENDING, MaxTokens: 2 * weight}
	for _, want := range [][]int32{{4, 3}, {2, 1}, {0}} {
		page, err := s.conversations.ListMessages(ctx, req)
		if err != nil {
			t.Fatal(err)
		}
		var got []int32
		for _, m := range page.GetMessages() {
			got = append(got, m.GetIndex())
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		req.PageToken = page.GetNextPageToken()
	}
	_, err := s.conversations.ListMessages(ctx, &pb.ListMessagesRequest{ConversationId: "c", MaxTokens: -1})
	if v := wantReason(t, err, codes.InvalidArgument, "INVALID_FIELD"); v["max_tokens"] == "" {
		t.Errorf("violations %v", v)
	}
}

func TestServer_ListMessages_PagesTellTheirTokensApart(t *testing.T) {
	s, ctx := start(t, realEngine(t)), t.Context()
	for range 5 {
		if _, err := s.contexts.AppendMessage(ctx, &pb.AppendMessageRequest{ConversationId: "c", Message: userText("hello")}); err != nil {
			t.Fatal(err)
		}
	}
	req := &pb.ListMessagesRequest{ConversationId: "c", PageSize: 2}
	var indices []int32
	for {
		page, err := s.conversations.ListMessages(ctx, req)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range page.GetMessages() {
			indices = append(indices, m.GetIndex())
		}
		if req.PageToken = page.GetNextPageToken(); req.PageToken == "" {
			break
		}
		wrong := &pb.ListMessagesRequest{ConversationId: "c", PageToken: req.PageToken, Order: pb.ListOrder_LIST_ORDER_DESCENDING}
		_, err = s.conversations.ListMessages(ctx, wrong)
		if v := wantReason(t, err, codes.InvalidArgument, "INVALID_FIELD"); v["page_token"] == "" {
			t.Errorf("violations %v", v)
		}
		tampered := []byte(req.PageToken)
		tampered[len(tampered)-1] ^= 1
		_, err = s.conversations.ListMessages(ctx, &pb.ListMessagesRequest{ConversationId: "c", PageToken: string(tampered)})
		wantReason(t, err, codes.InvalidArgument, "INVALID_FIELD")
	}
	if len(indices) != 5 || indices[4] != 4 {
		t.Errorf("listed %v", indices)
	}
}

func TestServer_UpdateConversation_MaskNamesWhatChanges(t *testing.T) {
	s, ctx := start(t, realEngine(t)), t.Context()
	window, reserve := int32(1000), int32(100)
	_, err := s.conversations.CreateConversation(ctx, &pb.CreateConversationRequest{Conversation: &pb.Conversation{
		Id: "c", Title: "old", ActorId: "a", Policy: &pb.Policy{Fit: &pb.FitPolicy{ContextWindowTokens: &window, ReservedOutputTokens: &reserve}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	updated, err := s.conversations.UpdateConversation(ctx, update(&pb.Conversation{Id: "c", Title: "new", ActorId: "ignored"}, "title", "policy.fit.reserved_output_tokens"))
	if err != nil {
		t.Fatal(err)
	}
	c := updated.GetConversation()
	if c.GetTitle() != "new" || c.GetActorId() != "a" || c.GetPolicy().GetFit().ReservedOutputTokens != nil || c.GetPolicy().GetFit().GetContextWindowTokens() != 1000 {
		t.Errorf("updated to %v", c)
	}
	large := int32(5000)
	_, err = s.conversations.UpdateConversation(ctx, update(&pb.Conversation{
		Id: "c", Policy: &pb.Policy{Fit: &pb.FitPolicy{ReservedOutputTokens: &large}},
	}, "policy.fit.reserved_output_tokens"))
	if v := wantReason(t, err, codes.InvalidArgument, "INVALID_FIELD"); v["conversation.policy.fit.reserved_output_tokens"] == "" {
		t.Errorf("violations %v", v)
	}
}

// panicking is an engine whose Get panics with text, and whose Count fails with an error nobody knows.
type panicking struct{ Engine }

func (panicking) Get(context.Context, engine.Key) (*engine.Conversation, error) { panic(secret) }

func (panicking) Count(context.Context, engine.Key, conversation.Range, engine.Filter) (int32, int64, error) {
	return 0, 0, io.ErrUnexpectedEOF
}

func TestServer_Panic_AnswersFixedWordsAndServesOn(t *testing.T) {
	s, ctx := start(t, panicking{}), t.Context()
	for range 2 {
		_, err := s.conversations.GetConversation(ctx, &pb.GetConversationRequest{ConversationId: "c"})
		wantReason(t, err, codes.Internal, "INTERNAL")
		if status.Convert(err).Message() != internalText || strings.Contains(s.log.String(), secret) {
			t.Errorf("answered %v, logged %s", err, s.log)
		}
	}
	_, err := s.conversations.CountMessages(ctx, &pb.CountMessagesRequest{ConversationId: "c"})
	wantReason(t, err, codes.Internal, "INTERNAL")
	if !strings.Contains(s.log.String(), io.ErrUnexpectedEOF.Error()) || !strings.Contains(s.log.String(), `"stack"`) {
		t.Errorf("the log does not explain: %s", s.log)
	}
}

func TestServer_Shutdown_TellsWatchersAndWaitsForCalls(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	s := start(t, blocking{entered: entered, leave: leave})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	watching, err := healthpb.NewHealthClient(s.conn).Watch(ctx, &healthpb.HealthCheckRequest{Service: "palimpsest.v1.ContextService"})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := watching.Recv(); err != nil || r.GetStatus() != healthpb.HealthCheckResponse_SERVING {
		t.Fatalf("first %v, %v", r, err)
	}
	finished := make(chan error, 1)
	go func() {
		_, err := s.conversations.GetConversation(t.Context(), &pb.GetConversationRequest{ConversationId: "c"})
		finished <- err
	}()
	<-entered
	stopped := make(chan error, 1)
	go func() { stopped <- s.server.Shutdown(t.Context()) }()
	if r, err := watching.Recv(); err != nil || r.GetStatus() != healthpb.HealthCheckResponse_NOT_SERVING {
		t.Errorf("then %v, %v", r, err)
	}
	if _, err := watching.Recv(); err == nil || ctx.Err() != nil {
		t.Errorf("the watch goes on: %v", err)
	}
	select {
	case err := <-stopped:
		t.Errorf("stopped with a call in flight: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	close(leave)
	if err := <-finished; err != nil {
		t.Errorf("the call in flight: %v", err)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

// TestServer_SetServing_IsWhatHealthSays, of each service.
func TestServer_SetServing_IsWhatHealthSays(t *testing.T) {
	s := start(t, blocking{})
	for _, serving := range []bool{false, true} {
		s.server.SetServing(serving)
		for _, name := range []string{"", "palimpsest.v1.ContextService"} {
			r, err := healthpb.NewHealthClient(s.conn).Check(t.Context(), &healthpb.HealthCheckRequest{Service: name})
			if err != nil || (r.GetStatus() == healthpb.HealthCheckResponse_SERVING) != serving {
				t.Errorf("serving %v, and %q answers %v, %v", serving, name, r, err)
			}
		}
	}
}

// blocking is an engine whose Get takes its time.
type blocking struct {
	Engine
	entered, leave chan struct{}
}

func (b blocking) Get(context.Context, engine.Key) (*engine.Conversation, error) {
	close(b.entered)
	<-b.leave
	return &engine.Conversation{ID: "c"}, nil
}
