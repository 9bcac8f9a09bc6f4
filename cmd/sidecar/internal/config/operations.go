package config

import (
	"errors"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/palimpsest-context/palimpsest/internal/listen"
)

// OperationsFlags say what operators see of a sidecar, and how it ends.
type OperationsFlags struct {
	Ops          string  `name:"ops" help:"Where to answer GET /livez, /readyz and /metrics: host:port or unix:///path; by default nowhere. No credentials, no conversation data, but namespaces' names and use." env:"PALIMPSEST_OPS" placeholder:"ADDRESS"`
	OTLPEndpoint string  `name:"otlp-endpoint" help:"Collector of traces, OTLP over gRPC: http://host:port, or https://host:port for TLS; by default none." env:"PALIMPSEST_OTLP_ENDPOINT" placeholder:"URL"`
	OTLPSample   float64 `name:"otlp-sample" help:"Share of traces kept, 0 to 1, of those that begin here. A caller's trace (traceparent) is kept if the caller keeps it." env:"PALIMPSEST_OTLP_SAMPLE" default:"1" placeholder:"RATIO"`

	DrainDelay time.Duration `help:"How long to go on serving after SIGTERM, 0s to 5s, while readiness and health already say no; part of the ten seconds in which the process ends." env:"PALIMPSEST_DRAIN_DELAY" default:"0s"`
}

const longestDrainDelay = 5 * time.Second

func (s *OperationsFlags) checkOperations() error {
	return errors.Join(s.checkOps(), unless(between(&s.DrainDelay, 0, longestDrainDelay), "--drain-delay must be 0s to 5s"), s.checkTraces())
}

func (s *OperationsFlags) checkOps() error {
	_, _, err := net.SplitHostPort(s.Ops)
	return unless(s.Ops == "" || strings.HasPrefix(s.Ops, listen.UnixScheme) || err == nil, "--ops must be host:port or unix:///path")
}

func (s *OperationsFlags) checkTraces() error {
	if !(s.OTLPSample >= 0 && s.OTLPSample <= 1) { // nor what is no number
		return errors.New("--otlp-sample must be 0 to 1")
	}
	if s.OTLPEndpoint == "" {
		return nil
	}
	at, err := url.Parse(s.OTLPEndpoint)
	if err != nil || at.Port() == "" || s.OTLPEndpoint != at.Scheme+"://"+at.Host || at.Scheme != "http" && at.Scheme != "https" {
		return errors.New("--otlp-endpoint must be http://host:port or https://host:port")
	}
	return nil
}
