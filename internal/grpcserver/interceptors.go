package grpcserver

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"

	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/recovery"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/admission"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// aroundUnary and aroundStream are the interceptors, outermost first: the call's id, observers, logging, recovery, errors, authentication, limits.
// Observers see what the log sees. Nobody's request is received, let alone looked into, before it is known whose it is. Inside of them a
// call is admitted, its request received and validated, and its answer admitted.
func (e *edge) aroundUnary() []grpc.UnaryServerInterceptor {
	log, _ := logging(e.log, e.traceID)
	return slices.Concat([]grpc.UnaryServerInterceptor{identifyUnary}, e.observers.Unary, []grpc.UnaryServerInterceptor{
		log, recovery.UnaryServerInterceptor(recovery.WithRecoveryHandlerContext(e.recovered)), e.mapUnary, e.authenticateUnary, e.limitUnary,
	})
}

func (e *edge) aroundStream() []grpc.StreamServerInterceptor {
	return append(e.aroundUnknown(),
		recovery.StreamServerInterceptor(recovery.WithRecoveryHandlerContext(e.recovered)), e.mapStream, e.authenticateStream, e.limitStream, e.validateStream)
}

// aroundUnknown are the interceptors around calls of methods that do not exist.
func (e *edge) aroundUnknown() []grpc.StreamServerInterceptor {
	_, log := logging(e.log, e.traceID)
	return slices.Concat([]grpc.StreamServerInterceptor{identifyStream}, e.observers.Stream, []grpc.StreamServerInterceptor{log})
}

// recovered answers a panic with fixed words; the stack is for the log. A panic's own text may hold a conversation's, so only
// the runtime's is logged.
func (e *edge) recovered(ctx context.Context, p any) error {
	what := fmt.Sprintf("%T", p)
	if err, ok := p.(runtime.Error); ok {
		what = err.Error()
	}
	e.log.Error("a call panicked", zap.String("request_id", requestID(ctx)), zap.String("panic", what), zap.String("stack", string(debug.Stack())))
	return withInfo(codes.Internal, internalText, conversation.Internal).Err()
}

func (e *edge) mapUnary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	_ = grpc.SetHeader(ctx, e.versionHeader()) // a stream that is gone needs none
	resp, err := handler(ctx, req)
	if err != nil {
		return nil, e.edgeError(ctx, info.FullMethod, err)
	}
	return resp, nil
}

func (e *edge) mapStream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	_ = stream.SetHeader(e.versionHeader())
	if err := handler(srv, stream); err != nil {
		return e.edgeError(stream.Context(), info.FullMethod, err)
	}
	return nil
}

// versionKey names the sidecar's version in the header of answers.
const versionKey = "palimpsest-version"

func (e *edge) versionHeader() metadata.MD { return metadata.Pairs(versionKey, e.version) }

// edgeError is the one place where an error becomes a status. Its cause is for the log alone.
func (e *edge) edgeError(ctx context.Context, method string, err error) error {
	mapped, unexpected := toStatus(err)
	if unexpected {
		e.log.Error("a call failed", zap.String("request_id", requestID(ctx)), zap.String("method", method), zap.String("reason", ReasonOf(mapped.Err())), zap.String("cause", causeOf(err)))
	}
	return mapped.Err()
}

// validate holds a request to its rules. What is no request of the API (health, reflection) is not its business.
func validate(rules rules.Book, req any) error {
	m, ok := req.(proto.Message)
	if !ok || m.ProtoReflect().Descriptor().ParentFile().Package() != pb.File_palimpsest_v1_error_proto.Package() {
		return nil
	}
	return rules.Validate(m)
}

// prepareUnary validates a request, and admits its answer before anything is done for it.
func (e *edge) prepareUnary(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if err := validate(e.rules, req); err != nil {
		return nil, err
	}
	if err := admission.ExchangeOf(ctx).AdmitReply(req); err != nil {
		return nil, err
	}
	return handler(ctx, req)
}

func (e *edge) validateStream(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	return handler(srv, &validatedStream{ServerStream: stream, rules: e.rules})
}

// validatedStream validates every message that a handler receives.
type validatedStream struct {
	grpc.ServerStream
	rules rules.Book
}

// RecvMsg receives the next message and validates it.
func (s *validatedStream) RecvMsg(m any) error {
	if err := s.ServerStream.RecvMsg(m); err != nil {
		return err
	}
	return validate(s.rules, m)
}
