package grpcserver

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/palimpsest-context/palimpsest/internal/grpcserver/admission"
)

// registrar registers services whose calls all receive by admission. Unary calls become streams of one message each way, which are the
// same on the wire.
type registrar struct {
	*grpc.Server
	edge *edge
}

// RegisterService implements grpc.ServiceRegistrar.
func (r registrar) RegisterService(d *grpc.ServiceDesc, impl any) {
	out := *d
	out.Methods, out.Streams = nil, nil
	for _, m := range d.Methods {
		name := "/" + d.ServiceName + "/" + m.MethodName
		out.Streams = append(out.Streams, grpc.StreamDesc{StreamName: m.MethodName, Handler: r.edge.unaryCall(name, m)})
	}
	for _, s := range d.Streams {
		s.Handler = r.edge.streamCall("/"+d.ServiceName+"/"+s.StreamName, s)
		out.Streams = append(out.Streams, s)
	}
	r.Server.RegisterService(&out, impl)
}

func (e *edge) unaryCall(name string, m grpc.MethodDesc) grpc.StreamHandler {
	around := chainUnary(e.aroundUnary())
	return func(impl any, stream grpc.ServerStream) error {
		in := e.exchange(stream, name)
		in.Unary = true
		defer in.End()
		leave := func() {}
		defer func() { leave() }()
		info := &grpc.UnaryServerInfo{Server: impl, FullMethod: name}
		resp, err := around(in.Context(), in, info, func(ctx context.Context, _ any) (resp any, err error) {
			if leave, err = e.enter(name); err != nil {
				return nil, err
			}
			return m.Handler(impl, ctx, in.First, e.prepareUnary)
		})
		if err != nil {
			return err
		}
		in.Release()
		return in.SendMsg(resp)
	}
}

func (e *edge) streamCall(name string, d grpc.StreamDesc) grpc.StreamHandler {
	around := chainStream(e.aroundStream())
	info := &grpc.StreamServerInfo{FullMethod: name, IsClientStream: d.ClientStreams, IsServerStream: d.ServerStreams}
	return func(impl any, stream grpc.ServerStream) error {
		in := e.exchange(stream, name)
		defer in.End()
		return around(impl, in, info, func(impl any, stream grpc.ServerStream) error {
			leave, err := e.enter(name)
			if err != nil {
				return err
			}
			defer leave()
			return d.Handler(impl, stream)
		})
	}
}

// unknownMethod stands for methods that do not exist: their names are callers' texts.
const unknownMethod = "/unknown/unknown"

// unknownCall answers calls of methods that do not exist, where whoever observes calls sees them.
func (e *edge) unknownCall() grpc.StreamHandler {
	around := chainStream(e.aroundUnknown())
	info := &grpc.StreamServerInfo{FullMethod: unknownMethod, IsClientStream: true, IsServerStream: true}
	return func(impl any, stream grpc.ServerStream) error {
		return around(impl, stream, info, func(any, grpc.ServerStream) error {
			return status.Error(codes.Unimplemented, "there is no such method")
		})
	}
}

func (e *edge) exchange(stream grpc.ServerStream, name string) *admission.Exchange {
	out := admission.NewExchange(stream, e.admission)
	if isProbe(name) {
		out.ForProbe()
	}
	return out
}

// enter admits a call. Probes take no call's room: a full sidecar must not be taken for a dead one, nor be filled by who has no credential.
func (e *edge) enter(name string) (leave func(), err error) {
	switch {
	case name == healthpb.Health_Watch_FullMethodName:
		return e.admission.EnterProbeWatch()
	case isProbe(name):
		return func() {}, nil
	default:
		return e.admission.Enter()
	}
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
