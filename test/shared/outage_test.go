package shared

import (
	"context"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/dbtest"
	"github.com/palimpsest-context/palimpsest/test/faults/process"
)

// TestShared_DatabaseGone_IsSaidAndPasses: while the database is away calls end within their deadlines and say so, and health does; once it
// is back, all goes on without a restart, and nothing that was acknowledged is lost.
func TestShared_DatabaseGone_IsSaidAndPasses(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(*testing.T) (flags []string, stop func(), start func() error){
		"postgres": func(t *testing.T) ([]string, func(), func() error) {
			server := dbtest.StartPostgres(t)
			return []string{"--store", "postgres", "--store-dsn", server.DSN}, server.Immediate, server.Start
		},
		"redis": func(t *testing.T) ([]string, func(), func() error) {
			server := dbtest.StartRedis(t, "--appendfsync", "always")
			return []string{"--store", "redis", "--store-dsn", "redis://" + server.Address}, server.Kill, server.Start
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			flags, stop, start := begin(t)
			sidecar, err := process.Start(sidecarBinary, t.TempDir(), flags...)
			if err != nil {
				t.Fatal(err)
			}
			defer sidecar.Kill()
			client, err := sidecar.Dial()
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			o := outage{t, client}
			o.append("before", codes.OK)
			stop()
			o.append("meanwhile", codes.Unavailable)
			o.health(healthpb.HealthCheckResponse_NOT_SERVING)
			if err := start(); err != nil {
				t.Fatal(err)
			}
			o.health(healthpb.HealthCheckResponse_SERVING)
			o.append("meanwhile", codes.OK)
			messages, err := client.Messages(t.Context(), "c", pb.ListView_LIST_VIEW_ORIGINAL)
			if got := textsOf(messages); err != nil || got != "before meanwhile " {
				t.Errorf("on record is %q, %v", got, err)
			}
		})
	}
}

type outage struct {
	*testing.T
	client *process.Client
}

// deadline is that of the calls, and slack how much later they may end.
const deadline, slack = 3 * time.Second, time.Second

func (o outage) append(text string, want codes.Code) {
	o.Helper()
	ctx, cancel := context.WithTimeout(o.Context(), deadline)
	defer cancel()
	began := time.Now()
	_, err := o.client.Context.AppendMessage(ctx, &pb.AppendMessageRequest{
		ConversationId: "c", RequestId: text, Message: &pb.Message{Role: pb.Role_ROLE_USER, Parts: []*pb.Part{{Content: &pb.Part_Text{Text: text}}}},
	})
	if status.Code(err) != want || want == codes.Unavailable && process.Reason(err) != "STORE_UNAVAILABLE" || time.Since(began) > deadline+slack {
		o.Fatalf("after %s: %v, want %s", time.Since(began), err, want)
	}
}

// health waits until the health service says what it must.
func (o outage) health(want healthpb.HealthCheckResponse_ServingStatus) {
	o.Helper()
	var got healthpb.HealthCheckResponse_ServingStatus
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		reply, err := healthpb.NewHealthClient(o.client.Connection).Check(o.Context(), &healthpb.HealthCheckRequest{})
		if err != nil {
			o.Fatal(err)
		}
		if got = reply.GetStatus(); got == want {
			return
		}
	}
	o.Fatalf("health says %s, not %s", got, want)
}
