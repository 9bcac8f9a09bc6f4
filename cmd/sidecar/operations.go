package main

import (
	"errors"
	"net"
	"strings"
	"time"
)

// operationsSettings say what operators see of a sidecar, and how it ends.
type operationsSettings struct {
	Ops        string        `name:"ops" help:"Where to answer GET /livez, /readyz and /metrics: host:port, or unix:///path; nowhere if it is not set. It holds no conversation data and asks for no credentials, so it may listen on addresses that others reach." env:"PALIMPSEST_OPS" placeholder:"ADDRESS"`
	DrainDelay time.Duration `help:"How long to go on serving after SIGTERM, once readiness and health say that the sidecar ends, 0s to 5s: for callers that need a moment to leave. It is part of the ten seconds in which the process ends." env:"PALIMPSEST_DRAIN_DELAY" default:"0s"`
}

const longestDrainDelay = 5 * time.Second

func (s *operationsSettings) checkOperations() error {
	return errors.Join(s.checkOps(), s.checkDrainDelay())
}

func (s *operationsSettings) checkOps() error {
	if s.Ops == "" || strings.HasPrefix(s.Ops, unixScheme) {
		return nil
	}
	if _, _, err := net.SplitHostPort(s.Ops); err != nil {
		return errors.New("--ops must be host:port or unix:///path")
	}
	return nil
}

func (s *operationsSettings) checkDrainDelay() error {
	if s.DrainDelay < 0 || s.DrainDelay > longestDrainDelay {
		return errors.New("--drain-delay must be 0s to 5s")
	}
	return nil
}
