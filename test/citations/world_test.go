package citations

import (
	"context"
	"crypto/rand"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

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
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/bolt"
	"github.com/palimpsest-context/palimpsest/pkg/store/memory"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
	"github.com/palimpsest-context/palimpsest/pkg/summarize/extractive"
	"github.com/palimpsest-context/palimpsest/pkg/summarize/extractive/span"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
	"github.com/palimpsest-context/palimpsest/pkg/tokens/bpe"
	"github.com/palimpsest-context/palimpsest/test/faults/process"
)

// maxMessage lets the sidecar's limits be met, instead of gRPC's own at the client.
const maxMessage = 256 << 20

// o200k is the default's counter. It is shared: its vocabulary takes half a second to load.
var o200k = sync.OnceValue(func() tokens.Counter {
	counter, err := bpe.New(bpe.O200k)
	if err != nil {
		panic(err) // it is embedded
	}
	return counter
})

// weigh is what a text weighs, in tokens.
func weigh(text string) int {
	n, _ := o200k().Count(text)
	return n
}

// world is the whole sidecar in this process, where it can be swept, and watched by the race detector.
type world struct {
	*client
	engine *engine.Engine
	kept   store.Store
}

func dial(t testing.TB, address string) *client {
	t.Helper()
	connection, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage), grpc.MaxCallSendMsgSize(maxMessage)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connection.Close() })
	return newClient(connection)
}

func newWorld(t testing.TB) *world { return worldOver(t, memory.New(memory.Options{})) }

func boltWorld(t testing.TB) *world {
	s, err := bolt.Open(filepath.Join(t.TempDir(), "citations.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return worldOver(t, s)
}

// worldOver serves a store, and closes it in the end.
func worldOver(t testing.TB, s store.Store) *world {
	t.Helper()
	service := summarize.New(summarize.Options{Extract: extractive.Extract, ExtractSpan: span.Extract})
	e := engine.New(engine.Options{
		Store: s, Counters: []tokens.Counter{o200k()}, Clock: time.Now, CacheBytes: 64 << 20, ContentCacheBytes: 64 << 20,
		Formats: []provider.Format{openaichat.New(), openairesponses.New(), anthropic.New(), gemini.New(), neutral.New()},
		IDs:     func() (id conversation.ID) { _, _ = rand.Read(id[:]); return id },
		OnError: func(err error) { t.Errorf("background work failed: %v", err) }, Summaries: service,
	})
	server := grpcserver.New(grpcserver.Options{Engine: e, Authenticator: access.AllowAll("default"), Log: zap.NewNop()})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	t.Cleanup(func() {
		_ = server.Shutdown(t.Context()) // that is over by now: whoever is still there is cut off
		if err := <-served; err != nil {
			t.Error(err)
		}
		e.Close()
		service.Close()
		_ = s.Close()
	})
	return &world{client: dial(t, l.Addr().String()), engine: e, kept: s}
}

// sweep does what the background does now and then, until nothing is due.
func (w *world) sweep(t testing.TB) {
	t.Helper()
	if err := w.engine.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// started is the sidecar that ships, with a folder of its own.
func started(t testing.TB, flags ...string) (*client, *process.Sidecar) {
	t.Helper()
	return startedOver(t, t.TempDir(), flags...)
}

func startedOver(t testing.TB, folder string, flags ...string) (*client, *process.Sidecar) {
	t.Helper()
	sidecar, err := process.Start(binary, folder, flags...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sidecar.Kill)
	return dial(t, sidecar.Address()), sidecar
}

// contended says whether work met others that were quicker.
func contended(err error) bool { return conversation.KindOf(err) == conversation.Contention }

// failer is a test, a fuzzed one or one of rapid's.
type failer interface {
	Errorf(format string, args ...any)
}

// ctx is for calls whose test has no context of its own.
func (*world) ctx() context.Context { return context.Background() }

// farFuture is when everything is due that ever will be.
func farFuture() time.Time { return time.Now().Add(1000 * time.Hour) }

// eventually waits until something is so.
func eventually(t testing.TB, what string, so func() error) {
	t.Helper()
	deadline := time.Now().Add(5 * time.Second)
	for {
		err := so()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("%s: %v", what, err)
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}
