package doors

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// proxy stands before a sidecar and does harm to calls. It takes calls of one request and one answer.
type proxy struct {
	sidecar *grpc.ClientConn
	version string // that the sidecar is said to have, if any
	harm    bool   // of three calls, the first does not arrive, and the second's answer is lost

	mu    sync.Mutex
	calls int
}

// bytesCodec lets messages pass as they are.
type bytesCodec struct{}

func (bytesCodec) Marshal(v any) ([]byte, error) {
	b, ok := v.(*[]byte)
	if !ok {
		return nil, fmt.Errorf("%T is not bytes", v)
	}
	return *b, nil
}

func (bytesCodec) Unmarshal(data []byte, v any) error {
	b, ok := v.(*[]byte)
	if !ok {
		return fmt.Errorf("%T is not bytes", v)
	}
	*b = append([]byte(nil), data...)
	return nil
}

func (bytesCodec) Name() string { return "proto" }

// startProxy runs a proxy until the test ends, and returns its address.
func startProxy(t *testing.T, p *proxy, sidecar string) string {
	t.Helper()
	soon := grpc.ConnectParams{Backoff: backoff.Config{BaseDelay: 20 * time.Millisecond, Multiplier: 1.5, MaxDelay: time.Second}}
	conn, err := grpc.NewClient(sidecar, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithConnectParams(soon))
	if err != nil {
		t.Fatal(err)
	}
	p.sidecar = conn
	folder, err := os.MkdirTemp("", "doors") // a socket's path may have about a hundred bytes
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(folder, "p.sock")
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(grpc.ForceServerCodec(bytesCodec{}), grpc.UnknownServiceHandler(p.pass))
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
		_ = conn.Close()
		_ = os.RemoveAll(folder)
	})
	return "unix://" + socket
}

func (p *proxy) pass(_ any, stream grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(stream)
	before, after := p.harms()
	var request, answer []byte
	if err := stream.RecvMsg(&request); err != nil {
		return err
	}
	if before {
		return status.Error(codes.Unavailable, "the call did not arrive")
	}
	var header metadata.MD
	err := p.sidecar.Invoke(outgoing(stream.Context()), method, &request, &answer, grpc.ForceCodec(bytesCodec{}), grpc.Header(&header))
	if err != nil {
		return err
	}
	if after {
		return status.Error(codes.Unavailable, "the answer was lost")
	}
	version := p.version
	if given := header.Get("palimpsest-version"); version == "" && len(given) > 0 {
		version = given[0]
	}
	if err := stream.SetHeader(metadata.Pairs("palimpsest-version", version)); err != nil {
		return err
	}
	return stream.SendMsg(&answer)
}

func (p *proxy) harms() (before, after bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls++
	return p.harm && p.calls%3 == 1, p.harm && p.calls%3 == 2
}

func outgoing(ctx context.Context) context.Context {
	given, _ := metadata.FromIncomingContext(ctx)
	return metadata.NewOutgoingContext(ctx, metadata.MD{"authorization": given.Get("authorization")})
}
