package grpcserver

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync"

	"go.uber.org/zap"
	"golang.org/x/net/netutil"
	"google.golang.org/grpc"
	channelz "google.golang.org/grpc/channelz/service"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/access"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/admission"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/contentservice"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/contextservice"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/conversationservice"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/memoryservice"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/policyservice"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
)

// Options is what a Server is made of.
type Options struct {
	Engine Engine
	Log    *zap.Logger
	// Authenticator says who calls.
	Authenticator *access.Authenticator
	// TLS, if set, is spoken on every listener but Unix sockets.
	TLS *tls.Config
	// Reflection offers the API's descriptors, and Channelz the state of connections, to operators.
	Reflection, Channelz bool
	// Version is told in the header of every answer.
	Version string
	// RequestLimit is how many requests of a namespace may be in flight, asked with every one; 0 is no limit, and so is nil.
	RequestLimit func(namespace string) int64
	// MemoryLimit is how many bytes the process may take; 0 is no limit. Requests in flight may take a share of it.
	MemoryLimit int64
	// Observers see every call, and the statuses that callers get. Their contexts have a [Call].
	Observers Observers
	// TraceID, if set, is the id of the trace that a context belongs to, for the log; empty if it belongs to none.
	TraceID func(context.Context) string
}

// Observers are interceptors, outermost first. They change nothing.
type Observers struct {
	Unary  []grpc.UnaryServerInterceptor
	Stream []grpc.StreamServerInterceptor
}

// Server serves the API and its health on any number of listeners.
type Server struct {
	grpc           *grpc.Server
	health         *drainedHealth
	maxConnections int // of a listener
	admission      *admission.Controller
	inFlight       *admission.InFlight
}

// edge is what every call passes before and after its handler.
type edge struct {
	log           *zap.Logger
	authenticator *access.Authenticator
	rules         rules.Book
	admission     *admission.Controller
	inFlight      *admission.InFlight
	version       string
	observers     Observers
	traceID       func(context.Context) string
}

// allRules are the rules of every request of the API.
func allRules() rules.Book {
	return rules.NewBook(contextservice.Rules(), conversationservice.Rules(), contentservice.Rules(), memoryservice.Rules(), policyservice.Rules())
}

// New returns a server that does not listen yet.
func New(o Options) *Server {
	health := newDrainedHealth()
	e := &edge{
		log: o.Log, authenticator: o.Authenticator, rules: allRules(), admission: admission.New(o.MemoryLimit), inFlight: admission.NewInFlight(o.RequestLimit), version: o.Version,
		observers: o.Observers, traceID: o.TraceID,
	}
	out := &Server{
		grpc:   grpc.NewServer(append(limits(o.TLS), grpc.UnknownServiceHandler(e.unknownCall()))...),
		health: health, maxConnections: e.admission.MaxCalls, admission: e.admission, inFlight: e.inFlight,
	}
	services := registrar{out.grpc, e}
	pb.RegisterContentServiceServer(services, contentservice.New(o.Engine, e.admission))
	pb.RegisterContextServiceServer(services, contextservice.New(o.Engine, e.admission))
	pb.RegisterConversationServiceServer(services, conversationservice.New(health.drained, o.Engine, e.admission))
	pb.RegisterMemoryServiceServer(services, memoryservice.New(o.Engine))
	pb.RegisterPolicyServiceServer(services, policyservice.New(o.Engine))
	healthpb.RegisterHealthServer(services, out.health)
	if o.Reflection {
		reflection.Register(services)
	}
	if o.Channelz {
		channelz.RegisterChannelzServiceToServer(services)
	}
	out.SetServing(true)
	return out
}

// limits bounds what a client can make the server hold. gRPC's own bounds on sending and on streams are practically none, those on headers
// 16 MiB; and its windows grow until a stream that nobody reads can hold as much.
func limits(config *tls.Config) []grpc.ServerOption {
	return append(admission.ServerOptions(newTransport(config)),
		grpc.MaxRecvMsgSize(admission.MaxReceiveBytes),
		grpc.MaxHeaderListSize(maxHeaderBytes),
		grpc.StaticStreamWindowSize(admission.SmallMessageBytes),
		grpc.MaxSendMsgSize(maxSendBytes),
		grpc.MaxConcurrentStreams(maxConcurrentStreams),
		grpc.ConnectionTimeout(connectionTimeout),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: keepaliveMinTime, PermitWithoutStream: true}),
		grpc.KeepaliveParams(keepaliveOf(config)),
		grpc.WaitForHandlers(true),
	)
}

// keepaliveOf bounds how long a connection lasts without calls and, where clients have certificates, with them: one that has expired is refused,
// and nothing else would make a busy client show the next.
func keepaliveOf(config *tls.Config) keepalive.ServerParameters {
	out := keepalive.ServerParameters{Time: keepaliveTime, Timeout: keepaliveTimeout, MaxConnectionIdle: connectionIdle}
	if verifiesClients(config) {
		out.MaxConnectionAge, out.MaxConnectionAgeGrace = certifiedAge, certifiedAgeGrace
	}
	return out
}

// Serve answers calls on all listeners until Shutdown, and returns nil then, or the first listener's failure. It closes the
// listeners.
func (s *Server) Serve(listeners ...net.Listener) error {
	var serving sync.WaitGroup
	failures := make([]error, len(listeners))
	for i, l := range listeners {
		serving.Go(func() {
			if err := s.grpc.Serve(netutil.LimitListener(l, s.maxConnections)); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
				failures[i] = err
				s.grpc.Stop()
			}
		})
	}
	serving.Wait()
	return errors.Join(failures...)
}

// Admission says what is in flight.
func (s *Server) Admission() admission.Stats { return s.admission.Stats() }

// RequestsInFlight tells of the namespaces that have requests in flight and a limit of them.
func (s *Server) RequestsInFlight() []admission.RequestUse { return s.inFlight.Use() }

// SetServing says on the health service whether the store takes writes. A server begins as one that serves.
func (s *Server) SetServing(serving bool) {
	status := healthpb.HealthCheckResponse_NOT_SERVING
	if serving {
		status = healthpb.HealthCheckResponse_SERVING
	}
	s.health.SetServingStatus("", status)
	for name := range s.grpc.GetServiceInfo() {
		s.health.SetServingStatus(name, status)
	}
}

// Drain answers NOT_SERVING on the health service from now on, and goes on serving: so that callers leave before they are refused.
func (s *Server) Drain() { s.health.Shutdown() }

// Shutdown answers NOT_SERVING, takes no new calls, and waits for those in flight. When ctx ends it cuts them off and returns
// its error.
func (s *Server) Shutdown(ctx context.Context) error {
	s.health.drain()
	done := make(chan struct{})
	go func() {
		s.grpc.GracefulStop()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		s.grpc.Stop()
		<-done
		return ctx.Err()
	}
}
