package dialects

import (
	"context"
	"crypto/rand"
	"net"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/access"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/provider/anthropic"
	"github.com/palimpsest-context/palimpsest/pkg/provider/gemini"
	"github.com/palimpsest-context/palimpsest/pkg/provider/neutral"
	"github.com/palimpsest-context/palimpsest/pkg/provider/openaichat"
	"github.com/palimpsest-context/palimpsest/pkg/provider/openairesponses"
	"github.com/palimpsest-context/palimpsest/pkg/store/bolt"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
	"github.com/palimpsest-context/palimpsest/pkg/summarize/extractive"
	"github.com/palimpsest-context/palimpsest/pkg/summarize/extractive/span"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
	"github.com/palimpsest-context/palimpsest/pkg/tokens/bpe"
)

// o200k is shared: its vocabulary takes half a second to load.
var o200k = sync.OnceValue(func() tokens.Counter {
	counter, err := bpe.New(bpe.O200k)
	if err != nil {
		panic(err) // it is embedded
	}
	return counter
})

// world is a sidecar in this process, over a file that outlives it.
type world struct {
	pb.ContextServiceClient
	close func()
}

func start(t *testing.T, file string) *world {
	t.Helper()
	kept, err := bolt.Open(file, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	summaries := summarize.New(summarize.Options{Extract: extractive.Extract, ExtractSpan: span.Extract})
	e := engine.New(engine.Options{
		Store: kept, Counters: []tokens.Counter{o200k()}, Clock: time.Now, CacheBytes: 8 << 20, ContentCacheBytes: 8 << 20,
		Formats: []provider.Format{openaichat.New(), openairesponses.New(), anthropic.New(), gemini.New(), neutral.New()},
		Readers: []provider.Reader{openaichat.NewReader(), openairesponses.NewReader(), anthropic.NewReader(), gemini.NewReader()},
		IDs:     func() (id conversation.ID) { _, _ = rand.Read(id[:]); return id },
		OnError: func(err error) { t.Errorf("background work failed: %v", err) }, Summaries: summaries,
	})
	server := grpcserver.New(grpcserver.Options{Engine: e, Authenticator: access.AllowAll("default"), Log: zap.NewNop()})
	listener := bufconn.Listen(1 << 20)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	conn, err := grpc.NewClient("passthrough:///bufconn",
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	return &world{pb.NewContextServiceClient(conn), sync.OnceFunc(func() {
		_ = conn.Close()
		_ = server.Shutdown(context.Background())
		if err := <-served; err != nil {
			t.Error(err)
		}
		e.Close()
		summaries.Close()
		_ = kept.Close()
	})}
}

// append puts a step on record, as a client in any language does.
func (w *world) append(t *testing.T, id string, f *fixture, s step) {
	t.Helper()
	in := &pb.ProviderInput{Format: formats[f.Format].number, Model: f.Model}
	in.Json, in.Shape = string(s.Message), pb.ProviderInputShape_PROVIDER_INPUT_SHAPE_MESSAGE
	if s.Response != nil {
		in.Json, in.Shape = string(s.Response), pb.ProviderInputShape_PROVIDER_INPUT_SHAPE_RESPONSE
	}
	if _, err := w.AppendMessage(t.Context(), &pb.AppendMessageRequest{ConversationId: id, ProviderInput: in}); err != nil {
		t.Fatalf("append of %.80s…: %v", in.Json, err)
	}
}

func (w *world) build(t *testing.T, id, format, model string) *pb.BuildContextResponse {
	t.Helper()
	built, err := w.BuildContext(t.Context(), &pb.BuildContextRequest{
		ConversationId: id, Format: formats[format].number, Model: model, SameTurn: true,
		Budget: &pb.Budget{MaxContextTokens: proto.Int32(200_000)},
	})
	if err != nil {
		t.Fatalf("build for %s: %v", format, err)
	}
	return built
}
