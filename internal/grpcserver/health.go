package grpcserver

import (
	"context"
	"time"

	middleware "github.com/grpc-ecosystem/go-grpc-middleware/v2"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
)

// lastWord is how long watchers have to hear NOT_SERVING before their streams end.
const lastWord = 100 * time.Millisecond

// drainedHealth is the health service, whose watches end when the server drains: a graceful stop waits for every stream, and
// these would never end by themselves.
type drainedHealth struct {
	*health.Server
	drained context.Context
	end     context.CancelFunc
}

func newDrainedHealth() *drainedHealth {
	h := &drainedHealth{Server: health.NewServer()}
	h.drained, h.end = context.WithCancel(context.Background()) //nolint:gosec // drain calls it
	return h
}

// drain answers NOT_SERVING from now on, and ends the watches once they have said so.
func (h *drainedHealth) drain() {
	h.Shutdown()
	time.AfterFunc(lastWord, h.end)
}

// Watch streams the state of a service until the caller leaves or the server drains.
func (h *drainedHealth) Watch(req *healthpb.HealthCheckRequest, stream grpc.ServerStreamingServer[healthpb.HealthCheckResponse]) error {
	ctx, cancel := context.WithCancel(stream.Context())
	defer cancel()
	defer context.AfterFunc(h.drained, cancel)()
	return h.Server.Watch(req, &grpc.GenericServerStream[healthpb.HealthCheckRequest, healthpb.HealthCheckResponse]{
		ServerStream: &middleware.WrappedServerStream{ServerStream: stream, WrappedContext: ctx},
	})
}
