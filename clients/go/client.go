package palimpsest

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// largestReply is as many bytes as a sidecar answers with at most.
const largestReply = 64 << 20

// Palimpsest is a sidecar, over one channel: keep it for the life of the
// process. It is safe for concurrent use.
type Palimpsest struct {
	// Raw are the generated stubs, for all that has no shorter form. The
	// token, and the deadline where a call has none, go with each call;
	// nothing is tried again.
	Raw Stubs

	conn    *grpc.ClientConn
	timeout time.Duration
	health  healthpb.HealthClient
	local   *process // nil if the sidecar is somebody else's
	passes  bool
	version string // the release that the package belongs to

	greeting sync.Mutex
	greeted  bool
}

// Stubs are those of all services.
type Stubs struct {
	Context       pb.ContextServiceClient
	Conversations pb.ConversationServiceClient
	Contents      pb.ContentServiceClient
	Memories      pb.MemoryServiceClient
	Policies      pb.PolicyServiceClient
}

// options are what callers choose.
type options struct {
	token     string
	timeout   time.Duration
	tls       *tls.Config
	binary    string
	dataDir   string
	arguments []string

	onUnavailable OnUnavailable
}

// Option is a choice for New or Local.
type Option func(*options)

// WithToken sends a token with each call. Beyond this machine it takes TLS.
func WithToken(token string) Option { return func(o *options) { o.token = token } }

// WithTimeout sets the deadline of a call, all tries together; 10 s by default.
func WithTimeout(d time.Duration) Option { return func(o *options) { o.timeout = d } }

// WithTLS speaks TLS.
func WithTLS(config *tls.Config) Option { return func(o *options) { o.tls = config } }

// New returns a client of the sidecar at an address: host:port, or
// unix:///path. It connects with the first call.
func New(address string, choices ...Option) (*Palimpsest, error) {
	o := newOptions(choices)
	if o.token != "" && o.tls == nil && !staysHere(address) {
		return nil, errors.New("palimpsest: without TLS the token could be read along: choose WithTLS")
	}
	transport := insecure.NewCredentials()
	if o.tls != nil {
		transport = credentials.NewTLS(o.tls)
	}
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(transport), grpc.WithNoProxy(),
		grpc.WithPerRPCCredentials(bearer(o.token)),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(largestReply)),
		grpc.WithUnaryInterceptor(deadline(o.timeout)),
		// A sidecar that starts again is found again within a call's deadline.
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second},
			MinConnectTimeout: time.Second,
		}))
	if err != nil {
		return nil, err
	}
	return &Palimpsest{
		Raw: Stubs{
			Context: pb.NewContextServiceClient(conn), Conversations: pb.NewConversationServiceClient(conn),
			Contents: pb.NewContentServiceClient(conn), Memories: pb.NewMemoryServiceClient(conn), Policies: pb.NewPolicyServiceClient(conn),
		},
		conn: conn, timeout: o.timeout, health: healthpb.NewHealthClient(conn), version: release(), passes: o.onUnavailable == UnavailablePass,
	}, nil
}

func newOptions(choices []Option) *options {
	o := &options{timeout: 10 * time.Second}
	for _, choose := range choices {
		choose(o)
	}
	return o
}

// Close closes the channel, and ends the sidecar that Local started.
func (p *Palimpsest) Close() error {
	err := p.conn.Close()
	if p.local != nil {
		err = errors.Join(err, p.local.stop())
	}
	return err
}

// staysHere says whether what is sent to an address stays on this machine.
func staysHere(address string) bool {
	if strings.HasPrefix(address, "unix:") {
		return true
	}
	host, _, err := net.SplitHostPort(address)
	ip := net.ParseIP(host)
	return err == nil && (host == "localhost" || ip != nil && ip.IsLoopback())
}

// bearer is a token as a credential of calls.
type bearer string

// GetRequestMetadata implements credentials.PerRPCCredentials.
func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	if b == "" {
		return nil, nil
	}
	return map[string]string{"authorization": "Bearer " + string(b)}, nil
}

// RequireTransportSecurity implements credentials.PerRPCCredentials: New has seen to it.
func (bearer) RequireTransportSecurity() bool { return false }

// deadline gives one to calls without.
func deadline(timeout time.Duration) grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, o ...grpc.CallOption) error {
		if _, ok := ctx.Deadline(); !ok {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, timeout)
			defer cancel()
		}
		return invoke(ctx, method, request, reply, conn, o...)
	}
}
