package grpcserver

import (
	"context"
	"errors"
	"io"

	"google.golang.org/grpc"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// registrar registers services whose calls all receive by admission. Unary calls become streams of one message each way, which are the
// same on the wire.
type registrar struct {
	*grpc.Server
	service *service
}

// RegisterService implements grpc.ServiceRegistrar.
func (r registrar) RegisterService(d *grpc.ServiceDesc, impl any) {
	out := *d
	out.Methods, out.Streams = nil, nil
	for _, m := range d.Methods {
		name := "/" + d.ServiceName + "/" + m.MethodName
		out.Streams = append(out.Streams, grpc.StreamDesc{StreamName: m.MethodName, Handler: r.service.unaryCall(name, m)})
	}
	for _, s := range d.Streams {
		s.Handler = r.service.streamCall("/"+d.ServiceName+"/"+s.StreamName, s)
		out.Streams = append(out.Streams, s)
	}
	r.Server.RegisterService(&out, impl)
}

func (s *service) unaryCall(name string, m grpc.MethodDesc) grpc.StreamHandler {
	around := chainUnary(s.aroundUnary())
	return func(impl any, stream grpc.ServerStream) error {
		in := &receiver{ServerStream: stream, admission: s.admission}
		defer in.release()
		info := &grpc.UnaryServerInfo{Server: impl, FullMethod: name}
		resp, err := around(stream.Context(), in, info, func(ctx context.Context, _ any) (any, error) {
			leave, err := s.enter(name)
			if err != nil {
				return nil, err
			}
			defer leave()
			return m.Handler(impl, ctx, in.first, s.validateUnary)
		})
		if err != nil {
			return err
		}
		return stream.SendMsg(resp)
	}
}

func (s *service) streamCall(name string, d grpc.StreamDesc) grpc.StreamHandler {
	around := chainStream(s.aroundStream())
	info := &grpc.StreamServerInfo{FullMethod: name, IsClientStream: d.ClientStreams, IsServerStream: d.ServerStreams}
	return func(impl any, stream grpc.ServerStream) error {
		in := &receiver{ServerStream: stream, admission: s.admission}
		defer in.release()
		return around(impl, in, info, func(impl any, stream grpc.ServerStream) error {
			leave, err := s.enter(name)
			if err != nil {
				return err
			}
			defer leave()
			return d.Handler(impl, stream)
		})
	}
}

// enter admits a call. Probes always enter: a full sidecar must not be taken for a dead one.
func (s *service) enter(name string) (leave func(), err error) {
	if name == healthpb.Health_Check_FullMethodName {
		return func() {}, nil
	}
	return s.admission.enter()
}

// first receives the message of a call that has one.
func (r *receiver) first(m any) error {
	err := r.RecvMsg(m)
	if errors.Is(err, io.EOF) {
		return conversation.Errorf(conversation.InvalidField, "the call has no request")
	}
	return err
}

func chainUnary(outermostFirst []grpc.UnaryServerInterceptor) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		for i := len(outermostFirst) - 1; i >= 0; i-- {
			around, inner := outermostFirst[i], handler
			handler = func(ctx context.Context, req any) (any, error) { return around(ctx, req, info, inner) }
		}
		return handler(ctx, req)
	}
}

func chainStream(outermostFirst []grpc.StreamServerInterceptor) grpc.StreamServerInterceptor {
	return func(impl any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
		for i := len(outermostFirst) - 1; i >= 0; i-- {
			around, inner := outermostFirst[i], handler
			handler = func(impl any, stream grpc.ServerStream) error { return around(impl, stream, info, inner) }
		}
		return handler(impl, stream)
	}
}
