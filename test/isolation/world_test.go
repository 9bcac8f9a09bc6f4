package isolation

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/access"
	"github.com/palimpsest-context/palimpsest/internal/dbtest"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	remembering "github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/memory/memorytest"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/provider/neutral"
	"github.com/palimpsest-context/palimpsest/pkg/provider/openaichat"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/bolt"
	"github.com/palimpsest-context/palimpsest/pkg/store/memory"
	"github.com/palimpsest-context/palimpsest/pkg/store/postgres"
	"github.com/palimpsest-context/palimpsest/pkg/store/redis"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
	"github.com/palimpsest-context/palimpsest/pkg/summarize/extractive"
	"github.com/palimpsest-context/palimpsest/pkg/summarize/extractive/span"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
	"github.com/palimpsest-context/palimpsest/pkg/tokens/bpe"
	"github.com/palimpsest-context/palimpsest/pkg/tokens/chars4"
)

// Who calls. Alice and bob are agents of one namespace that speak for one actor each.
const (
	agent    = "pal_agent"
	alice    = "pal_alice"
	bob      = "pal_bob"
	operator = "pal_operator"
	stranger = "pal_stranger" // operates another namespace
	expired  = "pal_expired"
	wrong    = "pal_wrong"
	nobody   = ""
)

func credentials() string {
	entry := func(name, namespace, token, more string) string {
		return "  - {name: " + name + ", namespace: " + namespace + ", sha256: " + access.HashOf(token).String() + more + "}\n"
	}
	return "tokens:\n" +
		entry("agent", "team-a", agent, "") +
		entry("alice", "team-a", alice, ", actors: [alice]") +
		entry("bob", "team-a", bob, ", actors: [bob]") +
		entry("operator", "team-a", operator, ", role: operator") +
		entry("stranger", "team-b", stranger, ", role: operator") +
		entry("expired", "team-a", expired, ", role: operator, expires: 2020-01-01T00:00:00Z")
}

// world is a sidecar in this process whose time and ids are told to it.
type world struct {
	conn   *grpc.ClientConn
	engine *engine.Engine
	file   string // of credentials
	now    atomic.Int64
	ids    atomic.Uint64
}

var o200k = sync.OnceValue(func() tokens.Counter {
	counter, err := bpe.New(bpe.O200k)
	if err != nil {
		panic(err) // it is embedded
	}
	return counter
})

func openBolt(t testing.TB) store.Store {
	t.Helper()
	s, err := bolt.Open(filepath.Join(t.TempDir(), "palimpsest.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func openPostgres(t testing.TB) store.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), postgres.Options{DSN: dbtest.SharedPostgres(t).DSN, Schema: fmt.Sprint("world", worlds.Add(1))})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func openRedis(t testing.TB) store.Store {
	t.Helper()
	s, err := redis.Open(t.Context(), redis.Options{URL: "redis://" + dbtest.SharedRedis(t).Address, Prefix: fmt.Sprint("world", worlds.Add(1), ":")})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// worlds counts schemas and prefixes: each world has its own.
var worlds atomic.Int64

func TestMain(m *testing.M) { dbtest.Main(m) }

func openMemory(testing.TB) store.Store { return memory.New(memory.Options{}) }

func newWorld(t testing.TB, kept store.Store) *world {
	t.Helper()
	w := &world{file: filepath.Join(t.TempDir(), "credentials.yaml")}
	if err := os.WriteFile(w.file, []byte(credentials()), 0o600); err != nil {
		t.Fatal(err)
	}
	w.now.Store(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano())
	clock := func() time.Time { return time.Unix(0, w.now.Load()).UTC() }
	authenticator, err := access.LoadAuthenticator(w.file, clock)
	if err != nil {
		t.Fatal(err)
	}
	summaries := summarize.New(summarize.Options{Extract: extractive.Extract, ExtractSpan: span.Extract})
	w.engine = engine.New(engine.Options{
		Store: kept, Counters: []tokens.Counter{o200k(), chars4.New()}, Formats: []provider.Format{neutral.New(), openaichat.New()},
		Clock: clock, CacheBytes: 8 << 20, ContentCacheBytes: 8 << 20, Summaries: summaries, Memory: engine.MemoryOf(newTarget()), OnError: func(err error) { t.Error(err) },
		IDs: func() (id conversation.ID) {
			n := w.ids.Add(1)
			for i := range 8 {
				id[15-i] = byte(n >> (8 * i))
			}
			return id
		},
	})
	server := grpcserver.New(grpcserver.Options{Engine: w.engine, Log: zap.NewNop(), Authenticator: authenticator, Version: "test"})
	watching, stopWatching := context.WithCancel(context.Background())
	var background sync.WaitGroup
	background.Go(func() { authenticator.Run(watching, func(err error) { logReload(t, err) }) })
	listener := bufconn.Listen(1 << 20)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	w.conn, err = grpc.NewClient("passthrough:///bufconn",
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = w.conn.Close()
		stopWatching()
		background.Wait()
		_ = server.Shutdown(t.Context())
		if err := <-served; err != nil {
			t.Error(err)
		}
		w.engine.Close()
		summaries.Close()
		_ = kept.Close()
	})
	return w
}

// newTarget is a memory that keeps scopes apart and nothing else: whose memories a caller reaches is decided before it is asked.
func newTarget() remembering.Target {
	return memorytest.NewReference(remembering.Limits{
		MaxMessages: 20, MaxChars: 1000, MaxNote: 16_000, Concurrency: 1, Idempotent: true, ReturnsIDs: true, ForgetsOne: true,
	})
}

func logReload(t testing.TB, err error) {
	if err != nil {
		t.Errorf("the file of credentials cannot be read again: %v", err)
	}
}

// as is the context of a caller's calls.
func as(ctx context.Context, token string) context.Context {
	if token == nobody {
		return ctx
	}
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token)
}

// answer is everything that a caller learns from a call.
type answer struct {
	status  *status.Status
	replies []proto.Message
}

func (a *answer) equal(b *answer) bool {
	if !proto.Equal(a.status.Proto(), b.status.Proto()) || len(a.replies) != len(b.replies) {
		return false
	}
	for i := range a.replies {
		if !proto.Equal(a.replies[i], b.replies[i]) {
			return false
		}
	}
	return true
}

func (a *answer) String() string {
	var out strings.Builder
	out.WriteString(protojson.Format(a.status.Proto()))
	for _, r := range a.replies {
		out.WriteString("\n" + protojson.Format(r))
	}
	return out.String()
}

// call makes a call of a row.
func (w *world) call(t testing.TB, token, method string, r *row, fill *strings.Replacer) *answer {
	t.Helper()
	d := descriptor(t, method)
	ctx, cancel := context.WithTimeout(as(t.Context(), token), 20*time.Second)
	defer cancel()
	stream, err := w.conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, method)
	if err != nil {
		return &answer{status: status.Convert(err)}
	}
	for _, text := range r.requests {
		request := newMessage(t, d.Input())
		if err := protojson.Unmarshal([]byte(fill.Replace(text)), request); err != nil {
			t.Fatalf("%s: the row's request: %v", method, err)
		}
		if err := stream.SendMsg(request); err != nil && !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
	}
	_ = stream.CloseSend()
	out := &answer{status: status.New(0, "")}
	for {
		reply := newMessage(t, d.Output())
		err := stream.RecvMsg(reply)
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			out.status = status.Convert(err)
			return out
		}
		out.replies = append(out.replies, reply)
		if r.endless {
			return out
		}
	}
}

func descriptor(t testing.TB, path string) protoreflect.MethodDescriptor {
	t.Helper()
	name := strings.ReplaceAll(strings.TrimPrefix(path, "/"), "/", ".")
	d, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(name))
	if err != nil {
		t.Fatal(err)
	}
	method, ok := d.(protoreflect.MethodDescriptor)
	if !ok {
		t.Fatalf("%s is no method", name)
	}
	return method
}

func newMessage(t testing.TB, d protoreflect.MessageDescriptor) proto.Message {
	t.Helper()
	made, err := protoregistry.GlobalTypes.FindMessageByName(d.FullName())
	if err != nil {
		t.Fatal(err)
	}
	return made.New().Interface()
}

// things are what a conversation has that requests can name.
type things struct{ content, manifest, resume string }

// converse makes a conversation with a call, a stored content of a run and a build.
func (w *world) converse(t testing.TB, token, id string, ttl bool) things {
	t.Helper()
	ctx := as(t.Context(), token)
	contexts, record, contents := pb.NewContextServiceClient(w.conn), pb.NewConversationServiceClient(w.conn), pb.NewContentServiceClient(w.conn)
	create := `{"conversation":{"id":"` + id + `"}}`
	if ttl {
		create = `{"conversation":{"id":"` + id + `","policy":{"ttl":"60s"}}}`
	}
	_, err := record.CreateConversation(ctx, parse(t, create, &pb.CreateConversationRequest{}))
	must(t, err)
	_, err = contexts.BatchAppendMessages(ctx, parse(t, `{"conversationId":"`+id+`","items":[
		{"message":{"role":"ROLE_USER","parts":[{"text":"canary question of `+id+`"}]}},
		{"message":{"role":"ROLE_ASSISTANT","parts":[{"toolCall":{"callId":"c","name":"read","argumentsJson":"{}"}}]}},
		{"message":{"role":"ROLE_TOOL","parts":[{"toolResult":{"callId":"c","text":"canary result"}}]}},
		{"message":{"role":"ROLE_ASSISTANT","parts":[{"text":"canary answer"}]}}]}`, &pb.BatchAppendMessagesRequest{}))
	must(t, err)
	_, err = pb.NewMemoryServiceClient(w.conn).AddMemory(ctx, parse(t, `{"conversationId":"`+id+`","scope":"MEMORY_SCOPE_SESSION","text":"canary memory"}`, &pb.AddMemoryRequest{}))
	must(t, err)
	built, err := contexts.BuildContext(ctx, &pb.BuildContextRequest{ConversationId: id, Format: pb.ContextFormat_CONTEXT_FORMAT_OPENAI_CHAT})
	must(t, err)
	upload, err := contents.StoreContent(ctx)
	must(t, err)
	must(t, upload.Send(parse(t, `{"header":{"conversationId":"`+id+`","runId":"run"}}`, &pb.StoreContentRequest{})))
	must(t, upload.Send(&pb.StoreContentRequest{Piece: &pb.StoreContentRequest_Chunk{Chunk: []byte(strings.Repeat("canary content\n", 200))}}))
	stored, err := upload.CloseAndRecv()
	must(t, err)
	watching, leave := context.WithCancel(ctx)
	defer leave()
	watch, err := record.WatchEvents(watching, &pb.WatchEventsRequest{ConversationId: id})
	must(t, err)
	event, err := watch.Recv()
	must(t, err)
	return things{content: stored.GetCitation().GetContentId(), manifest: built.GetManifestId(), resume: event.GetResumeToken()}
}

// configure makes a profile, a policy and a prompt of one name.
func (w *world) configure(t testing.TB, token, id string) {
	t.Helper()
	for _, name := range []string{"PutModelProfile", "PutActionPolicy", "PutPrompt"} {
		method := "/palimpsest.v1.PolicyService/" + name
		r := rows()[method]
		if a := w.call(t, token, method, &r, strings.NewReplacer("$ID", id)); a.status.Code() != 0 {
			t.Fatal(a)
		}
	}
}

// export is all that is on record of a conversation, as its owner sees it.
func (w *world) export(t testing.TB, token, id string) string {
	t.Helper()
	stream, err := pb.NewConversationServiceClient(w.conn).ExportConversation(as(t.Context(), token), &pb.ExportConversationRequest{ConversationId: id})
	must(t, err)
	var out strings.Builder
	for {
		piece, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return base64.StdEncoding.EncodeToString([]byte(out.String()))
		}
		must(t, err)
		out.Write(piece.GetChunk())
	}
}

func parse[M proto.Message](t testing.TB, text string, into M) M {
	t.Helper()
	must(t, protojson.Unmarshal([]byte(text), into))
	return into
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
