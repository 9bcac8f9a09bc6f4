package grpcserver

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/recovery"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// aroundUnary and aroundStream are the interceptors, outermost first: metrics, logging, recovery, errors, auth. Metrics and auth are
// places that are still empty: metrics must see what the log sees, and nobody's request is received, let alone looked into, before it is
// known whose it is. Inside of them a call is admitted, its request received, and then validated.
func (s *service) aroundUnary() []grpc.UnaryServerInterceptor {
	log, _ := logging(s.log)
	return []grpc.UnaryServerInterceptor{log, recovery.UnaryServerInterceptor(recovery.WithRecoveryHandlerContext(s.recovered)), s.mapUnary}
}

func (s *service) aroundStream() []grpc.StreamServerInterceptor {
	_, log := logging(s.log)
	return []grpc.StreamServerInterceptor{
		log, recovery.StreamServerInterceptor(recovery.WithRecoveryHandlerContext(s.recovered)), s.mapStream, s.validateStream,
	}
}

// recovered answers a panic with fixed words; the stack is for the log. A panic's own text may hold a conversation's, so only
// the runtime's is logged.
func (s *service) recovered(_ context.Context, p any) error {
	what := fmt.Sprintf("%T", p)
	if e, ok := p.(runtime.Error); ok {
		what = e.Error()
	}
	s.log.Error("a call panicked", zap.String("panic", what), zap.String("stack", string(debug.Stack())))
	return withInfo(codes.Internal, internalText, conversation.Internal).Err()
}

func (s *service) mapUnary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	_ = grpc.SetHeader(ctx, s.versionHeader()) // a stream that is gone needs none
	resp, err := handler(ctx, req)
	if err != nil {
		return nil, s.edgeError(info.FullMethod, err)
	}
	return resp, nil
}

func (s *service) mapStream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	_ = stream.SetHeader(s.versionHeader())
	if err := handler(srv, stream); err != nil {
		return s.edgeError(info.FullMethod, err)
	}
	return nil
}

// versionKey names the sidecar's version in the header of answers.
const versionKey = "palimpsest-version"

func (s *service) versionHeader() metadata.MD { return metadata.Pairs(versionKey, s.version) }

// edgeError is the one place where an error becomes a status. Its cause is for the log alone.
func (s *service) edgeError(method string, err error) error {
	mapped, unexpected := toStatus(err)
	if unexpected {
		s.log.Error("a call failed", zap.String("method", method), zap.String("reason", reasonOf(mapped.Err())), zap.String("cause", causeOf(err)))
	}
	return mapped.Err()
}

func (s *service) validateUnary(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if err := s.rules.validate(req); err != nil {
		return nil, err
	}
	return handler(ctx, req)
}

func (s *service) validateStream(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	return handler(srv, &validatedStream{ServerStream: stream, rules: s.rules})
}

// validatedStream validates every message that a handler receives.
type validatedStream struct {
	grpc.ServerStream
	rules *ruleBook
}

// RecvMsg receives the next message and validates it.
func (s *validatedStream) RecvMsg(m any) error {
	if err := s.ServerStream.RecvMsg(m); err != nil {
		return err
	}
	return s.rules.validate(m)
}
