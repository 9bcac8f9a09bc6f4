package grpcserver

import (
	"context"
	"crypto/rand"
	"regexp"

	middleware "github.com/grpc-ecosystem/go-grpc-middleware/v2"

	"google.golang.org/grpc"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/access"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/admission"
)

// callerIDKey names a call's id in a caller's metadata, and requestIDKey in the header of the answer.
const (
	callerIDKey  = "x-request-id"
	requestIDKey = "palimpsest-request-id"
)

// callerID is what a caller's id must be to be taken: it goes into the log.
var callerID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// Call is what is known of a call beside what it asks for.
type Call struct {
	// ID names the call in the log and to the caller. It is not the request_id of the API.
	ID string
	// Caller is whose call it is; empty before that is known.
	Caller   access.Caller
	exchange *admission.Exchange
}

type callKey struct{}

// Methods are the full names of all methods that a server has, reflection's apart.
func Methods() (full []string) {
	for _, d := range []grpc.ServiceDesc{
		pb.ContentService_ServiceDesc, pb.ContextService_ServiceDesc, pb.ConversationService_ServiceDesc, pb.MemoryService_ServiceDesc,
		pb.PolicyService_ServiceDesc,
		healthpb.Health_ServiceDesc,
	} {
		for i := range d.Methods {
			full = append(full, "/"+d.ServiceName+"/"+d.Methods[i].MethodName)
		}
		for i := range d.Streams {
			full = append(full, "/"+d.ServiceName+"/"+d.Streams[i].StreamName)
		}
	}
	return full
}

// CallOf is the call of a context, nil if it has none.
func CallOf(ctx context.Context) *Call {
	c, _ := ctx.Value(callKey{}).(*Call)
	return c
}

// RequestBytes is how many bytes were received of the call's messages, without their headers.
func (c *Call) RequestBytes() int64 {
	if c.exchange == nil {
		return 0
	}
	return c.exchange.Received
}

// requestID is the id of a context's call; empty if it has none.
func requestID(ctx context.Context) string {
	if c := CallOf(ctx); c != nil {
		return c.ID
	}
	return ""
}

func newCall(ctx context.Context) (context.Context, *Call) {
	c := &Call{ID: idFor(ctx), exchange: admission.ExchangeOf(ctx)}
	return context.WithValue(ctx, callKey{}, c), c
}

// idFor is the id that a caller gives, if it can be taken, or a fresh one.
func idFor(ctx context.Context) string {
	if given := metadata.ValueFromIncomingContext(ctx, callerIDKey); len(given) == 1 && callerID.MatchString(given[0]) {
		return given[0]
	}
	return rand.Text()
}

// identifyUnary gives a call its id, before anybody looks at it.
func identifyUnary(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	ctx, call := newCall(ctx)
	_ = grpc.SetHeader(ctx, metadata.Pairs(requestIDKey, call.ID)) // a stream that is gone needs none
	return handler(ctx, req)
}

func identifyStream(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	ctx, call := newCall(stream.Context())
	_ = stream.SetHeader(metadata.Pairs(requestIDKey, call.ID))
	return handler(srv, &middleware.WrappedServerStream{ServerStream: stream, WrappedContext: ctx})
}
