// Package agentcore keeps memories in Amazon Bedrock AgentCore Memory.
//
// A batch is one event of a session. The strategies of the memory resource draw records from events, later, without a signal and without
// saying from which messages. Notes, and batches that are kept as they are, are records that this package makes itself and knows again.
package agentcore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	ac "github.com/aws/aws-sdk-go-v2/service/bedrockagentcore"

	"github.com/palimpsest-context/palimpsest/internal/endpoint"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
)

// What the service takes, and what is left to it by default.
const (
	maxMessages = 100
	maxChars    = 100_000 // of a message in an event
	maxRecord   = 16_000  // characters of a record
	maxQuery    = 10_000
	maxFound    = 100

	// DefaultNamespace is where strategies put an actor's records, if the operator says nothing else.
	DefaultNamespace = "/actors/{actorId}"
	// DefaultInterval keeps to the rate that is reported for the events of one session: 0.25 a second.
	DefaultInterval = 4 * time.Second
	// DefaultTimeout bounds a call of the service.
	DefaultTimeout = 10 * time.Second

	concurrency = 8
)

// Options configures a Target. All of it is the operator's.
type Options struct {
	// MemoryID is the id of the memory resource, such as palimpsest-Ab3dE5fG7h. Required.
	MemoryID string
	// Region is AWS's, such as eu-central-1; by default that of the environment or of AWS's configuration files.
	Region string
	// BaseEndpoint is another address than AWS's own, such as that of a VPC endpoint: https, or a loopback address.
	BaseEndpoint string
	// Credentials sign requests; by default AWS's chain: environment, files, web identity, the role of a pod, a task or an instance.
	Credentials aws.CredentialsProvider
	// Namespace is the template of the namespaces into which the strategies of the memory put records: segments of letters, digits, hyphens
	// and underscores, one of which is {actorId}, and a later one {sessionId} if all strategies have it. DefaultNamespace by default.
	Namespace string
	// Timeout bounds a call of the service; DefaultTimeout by default.
	Timeout time.Duration
	// Interval is between events of one session; DefaultInterval by default.
	Interval time.Duration
}

// Target is a memory resource. It implements memory.Target.
type Target struct {
	memoryID *string
	api      operations
	http     *http.Client
	layout   layout
	timeout  time.Duration
	interval time.Duration
}

var _ memory.Target = (*Target)(nil)

// New returns a target, or an error that says which option is wrong without quoting it. Nothing is asked of the service. Close closes its
// idle connections.
func New(ctx context.Context, o Options) (*Target, error) {
	l, err := newLayout(cmp.Or(o.Namespace, DefaultNamespace))
	if err != nil {
		return nil, err
	}
	if err := o.complete(ctx); err != nil {
		return nil, err
	}
	t := &Target{
		memoryID: &o.MemoryID, http: endpoint.NewClient(endpoint.Options{Parallel: concurrency}), layout: l,
		timeout: cmp.Or(o.Timeout, DefaultTimeout), interval: cmp.Or(o.Interval, DefaultInterval),
	}
	// The outbox tries again, so that the SDK must not.
	settings := ac.Options{Region: o.Region, Credentials: o.Credentials, HTTPClient: sender{t.http}, Retryer: aws.NopRetryer{}}
	if o.BaseEndpoint != "" {
		settings.BaseEndpoint = &o.BaseEndpoint
	}
	t.api = operationsOf(ac.New(settings))
	return t, nil
}

// complete checks options, and fills in the region and the credentials that AWS's environment and files name. Endpoints are not taken from
// there: what is not checked here is not spoken to.
func (o *Options) complete(ctx context.Context) error {
	if !regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_-]{0,99}-[a-zA-Z0-9]{10}$`).MatchString(o.MemoryID) {
		return errors.New("agentcore: the memory's id must be a name, a hyphen, and ten letters and digits")
	}
	if o.BaseEndpoint != "" {
		u, err := endpoint.Parse(o.BaseEndpoint, true)
		if err != nil {
			return fmt.Errorf("agentcore: the endpoint %w", err)
		}
		if u.RawQuery != "" {
			return errors.New("agentcore: the endpoint must be without a query")
		}
	}
	if o.Credentials == nil {
		c, err := config.LoadDefaultConfig(ctx, config.WithRegion(o.Region))
		if err != nil {
			return errors.New("agentcore: AWS's configuration cannot be read")
		}
		o.Credentials, o.Region = c.Credentials, c.Region
	}
	if !regexp.MustCompile(`^[a-z0-9-]{1,40}$`).MatchString(o.Region) {
		return errors.New("agentcore: the region is missing or is none")
	}
	return nil
}

// Close closes idle connections.
func (t *Target) Close() { t.http.CloseIdleConnections() }

// Name implements memory.Target.
func (t *Target) Name() string { return "agentcore" }

// Limits implements memory.Target. Receipts name no memories, since the service does not say what it draws from an event.
func (t *Target) Limits() memory.Limits {
	return memory.Limits{
		MaxMessages: maxMessages, MaxChars: maxChars, MaxNote: maxRecord,
		Interval: t.interval, Concurrency: concurrency,
		Idempotent: true, Async: true, ReturnsIDs: false, ForgetsOne: true,
	}
}
