package grpcserver

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/admission"
)

// TestServer_HealthWatchers_TakeNoCallsRoom: as many as may watch do, more than the server takes calls or not, and room comes back.
func TestServer_HealthWatchers_TakeNoCallsRoom(t *testing.T) {
	s := start(t, realEngine(t), limitedTo(1))
	health := healthpb.NewHealthClient(s.conn)
	watch := func(ctx context.Context) error {
		stream, err := health.Watch(ctx, &healthpb.HealthCheckRequest{})
		if err == nil {
			_, err = stream.Recv()
		}
		return err
	}
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	for i := range admission.MaxProbeWatchers {
		if err := watch(ctx); err != nil {
			t.Fatalf("watcher %d: %v", i, err)
		}
	}
	wantReason(t, watch(ctx), codes.ResourceExhausted, "OVERLOADED")
	mustAppend(t, s, &pb.AppendMessageRequest{ConversationId: "c", Message: userText("x")})
	if calls := s.server.Admission().Calls; calls > 1 {
		t.Errorf("%d calls are in flight", calls) // the append may still leave
	}
	leave()
	for begin := time.Now(); watch(t.Context()) != nil; time.Sleep(time.Millisecond) {
		if time.Since(begin) > 10*time.Second {
			t.Fatal("watchers that have left are still counted")
		}
	}
}

// TestServer_Probe_LargeMessage_IsRefusedByItsHeader, and takes none of the memory of those who have a credential.
func TestServer_Probe_LargeMessage_IsRefusedByItsHeader(t *testing.T) {
	for _, method := range []string{healthpb.Health_Check_FullMethodName, healthpb.Health_Watch_FullMethodName, healthpb.Health_List_FullMethodName} {
		synctest.Test(t, func(t *testing.T) {
			s, begin := start(t, realEngine(t)), time.Now()
			if got := s.announce(t, method, admission.MaxReceiveBytes); got != codes.ResourceExhausted || time.Since(begin) > 0 {
				t.Errorf("%s is answered %s after %s", method, got, time.Since(begin))
			}
		})
	}
	s := start(t, realEngine(t))
	_, err := healthpb.NewHealthClient(s.conn).Check(t.Context(), &healthpb.HealthCheckRequest{Service: strings.Repeat("x", 5000)})
	if status.Code(err) != codes.ResourceExhausted {
		t.Errorf("a name of 5,000 bytes: %v", err)
	}
}

// TestServer_Probe_WithoutMessage_Ends: who has no credential keeps no call open by sending nothing.
func TestServer_Probe_WithoutMessage_Ends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, realEngine(t))
		if got := s.announce(t, healthpb.Health_Check_FullMethodName, 100); got != codes.ResourceExhausted {
			t.Errorf("it is answered %s", got)
		}
	})
}

// announce calls with the header of a message alone, and gives the code of the answer, which must come while nothing more is sent.
func (s *sidecar) announce(t *testing.T, method string, size uint32) codes.Code {
	t.Helper()
	protocols := &http.Protocols{}
	protocols.SetUnencryptedHTTP2(true)
	client := &http.Transport{Protocols: protocols, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return s.dial(ctx) }}
	defer client.CloseIdleConnections()
	rest, stop := io.Pipe()
	body := io.MultiReader(bytes.NewReader(binary.BigEndian.AppendUint32([]byte{0}, size)), rest)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://sidecar"+method, body)
	if err != nil {
		t.Fatal(err)
	}
	request.Header = http.Header{"Content-Type": {"application/grpc"}, "Te": {"trailers"}}
	response, err := client.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	defer stop.Close() // which it waits for
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		t.Fatal(err)
	}
	code, err := strconv.Atoi(response.Trailer.Get("Grpc-Status") + response.Header.Get("Grpc-Status"))
	if err != nil {
		t.Fatal(err)
	}
	return codes.Code(code)
}
