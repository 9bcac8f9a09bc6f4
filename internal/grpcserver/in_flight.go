package grpcserver

import (
	"context"

	"google.golang.org/grpc"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
)

// isCounted says whether a call counts among its namespace's requests in flight: probes do not, nor do streams that only wait.
func isCounted(method string) bool {
	return !isProbe(method) && method != pb.ConversationService_WatchEvents_FullMethodName
}

func (e *edge) limitUnary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if !isCounted(info.FullMethod) {
		return handler(ctx, req)
	}
	leave, err := e.inFlight.Enter(convert.Namespace(ctx))
	if err != nil {
		return nil, err
	}
	defer leave()
	return handler(ctx, req)
}

func (e *edge) limitStream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	if !isCounted(info.FullMethod) {
		return handler(srv, stream)
	}
	leave, err := e.inFlight.Enter(convert.Namespace(stream.Context()))
	if err != nil {
		return err
	}
	defer leave()
	return handler(srv, stream)
}
