package grpcserver

import (
	"context"
	"crypto/x509"
	"errors"
	"strings"
	"time"

	middleware "github.com/grpc-ecosystem/go-grpc-middleware/v2"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/access"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/admission"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// isProbe says whether an RPC tells of the server's health: probes have no credentials, and a full sidecar must not be taken for a dead one.
func isProbe(method string) bool {
	return strings.HasPrefix(method, "/"+healthpb.Health_ServiceDesc.ServiceName+"/")
}

// isAgents says whether an RPC is for agents too. All others, what a later version adds among them, are for operators.
func isAgents(method string) bool {
	service, name, _ := strings.Cut(strings.TrimPrefix(method, "/"), "/")
	switch service {
	case pb.ContextService_ServiceDesc.ServiceName, pb.ConversationService_ServiceDesc.ServiceName, pb.ContentService_ServiceDesc.ServiceName:
		return true
	case pb.MemoryService_ServiceDesc.ServiceName:
		// A handler asks for an operator where it is a field that needs one.
		return name != "ForgetActor" && name != "GetForget"
	default:
		return false
	}
}

// authenticate finds out who makes a call, and whether that caller may make it.
func (e *edge) authenticate(ctx context.Context, method string) (access.Identity, error) {
	presented, err := presentedIn(ctx)
	if err != nil {
		return access.Identity{}, err
	}
	identity, err := e.authenticator.Authenticate(presented)
	if err == nil && identity.Caller.Role != access.Operator && !isAgents(method) {
		err = conversation.Errorf(conversation.PermissionDenied, "this call needs the credential of an operator")
	}
	return identity, err
}

// authenticateNoted authenticates a call, and tells whoever observes it whose it is, also where it is refused.
func (e *edge) authenticateNoted(ctx context.Context, method string) (access.Identity, error) {
	identity, err := e.authenticate(ctx, method)
	if call := CallOf(ctx); call != nil && identity.Caller != nil {
		call.Caller = *identity.Caller
	}
	return identity, err
}

// presentedIn is what a call comes with. A header of another kind than a token is no token that could be right.
func presentedIn(ctx context.Context) (access.Presented, error) {
	out := access.Presented{Certificate: certificateOf(ctx)}
	switch values := metadata.ValueFromIncomingContext(ctx, "authorization"); len(values) {
	case 0:
		return out, nil
	case 1:
		scheme, token, _ := strings.Cut(values[0], " ")
		if !strings.EqualFold(scheme, "bearer") {
			token = ""
		}
		out.Token = &token
		return out, nil
	default:
		return out, conversation.Errorf(conversation.Unauthenticated, "a call has one authorization header")
	}
}

func certificateOf(ctx context.Context) *x509.Certificate {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return nil
	}
	connection, ok := p.AuthInfo.(admission.Connection)
	if !ok {
		return nil
	}
	info, ok := connection.AuthInfo.(credentials.TLSInfo)
	if !ok || len(info.State.VerifiedChains) == 0 {
		return nil
	}
	return info.State.VerifiedChains[0][0]
}

func (e *edge) authenticateUnary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if isProbe(info.FullMethod) {
		return handler(ctx, req)
	}
	identity, err := e.authenticateNoted(ctx, info.FullMethod)
	if err != nil {
		return nil, err
	}
	if identity.Caller != nil && len(identity.Caller.Actors) > 0 {
		growStack(len(info.FullMethod))
	}
	return handler(convert.WithCaller(ctx, identity.Caller), req)
}

// growStack gives a call's goroutine the stack that reading a conversation takes. Otherwise it would grow where there is one, for 10 us, and
// not where there is none: a caller who may not know could tell by the time.
//
//go:noinline
func growStack(at int) byte {
	var room [12 << 10]byte
	return room[at%len(room)]
}

func (e *edge) authenticateStream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	if isProbe(info.FullMethod) {
		return handler(srv, stream)
	}
	identity, err := e.authenticateNoted(stream.Context(), info.FullMethod)
	if err != nil {
		return err
	}
	ctx, revoke := context.WithCancelCause(convert.WithCaller(stream.Context(), identity.Caller))
	defer revoke(nil)
	go e.watchIdentity(ctx, info.FullMethod, identity, revoke)
	if info.IsClientStream {
		admission.ExchangeOf(ctx).ReceiveUntil(ctx)
	}
	err = handler(srv, &authenticatedStream{middleware.WrappedServerStream{ServerStream: stream, WrappedContext: ctx}})
	// What a handler that was cut off answers may look like an end. What it has done for an upload stands.
	if refused := revocationOf(ctx); refused != nil && (err != nil || info.IsServerStream) {
		return refused
	}
	return err
}

// watchIdentity ends a stream whose credential is taken back or expires: a stream may outlive both by days.
func (e *edge) watchIdentity(ctx context.Context, method string, identity access.Identity, revoke context.CancelCauseFunc) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-identity.Changed:
		case <-expiry(identity.Expires):
		}
		again, err := e.authenticate(ctx, method)
		if err == nil && again.Caller.Sees(identity.Caller) {
			identity = again
			continue
		}
		revoke(errRevoked)
		return
	}
}

var errRevoked = errors.New("the credential does not hold any more")

// expiry tells when a credential expires; never, if it does not.
func expiry(until time.Time) <-chan time.Time {
	if until.IsZero() {
		return nil
	}
	return time.After(time.Until(until))
}

func revocationOf(ctx context.Context) error {
	if !errors.Is(context.Cause(ctx), errRevoked) {
		return nil
	}
	return conversation.Errorf(conversation.Unauthenticated, "a valid credential is needed")
}

// authenticatedStream is a stream of a caller's. It ends when the caller's credential does.
type authenticatedStream struct{ middleware.WrappedServerStream }

// RecvMsg receives the next message.
func (s *authenticatedStream) RecvMsg(m any) error {
	err := s.WrappedServerStream.RecvMsg(m)
	if refused := revocationOf(s.Context()); refused != nil {
		return refused
	}
	return err
}

// SendMsg sends a message.
func (s *authenticatedStream) SendMsg(m any) error {
	if err := revocationOf(s.Context()); err != nil {
		return err
	}
	return s.WrappedServerStream.SendMsg(m)
}
