package grpcserver

import (
	"context"

	"google.golang.org/grpc"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
)

// limit holds a call's namespace to its share of calls. Probes are of none, and streams that only wait have a share of their own: they are
// not requests in flight.
func (e *edge) limit(ctx context.Context, method string) (leave func(), err error) {
	switch {
	case isProbe(method):
		return func() {}, nil
	case method == pb.ConversationService_WatchEvents_FullMethodName:
		return e.admission.EnterWatch(convert.Namespace(ctx), len(e.authenticator.Namespaces()) > 1)
	default:
		return e.inFlight.Enter(convert.Namespace(ctx))
	}
}

func (e *edge) limitUnary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	leave, err := e.limit(ctx, info.FullMethod)
	if err != nil {
		return nil, err
	}
	defer leave()
	return handler(ctx, req)
}

func (e *edge) limitStream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	leave, err := e.limit(stream.Context(), info.FullMethod)
	if err != nil {
		return err
	}
	defer leave()
	return handler(srv, stream)
}
