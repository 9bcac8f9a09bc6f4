package main

import (
	"context"
	"fmt"
	"time"

	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/palimpsest-context/palimpsest/internal/dial"
)

// healthcheckCommand is `sidecar healthcheck`: what a container's health check runs.
type healthcheckCommand struct {
	dial.Flags
	Timeout time.Duration `help:"How long to wait for an answer." default:"3s"`
}

// Run asks once.
func (c *healthcheckCommand) Run(ctx context.Context, line *commandLine) error {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	conn, err := c.Dial()
	if err != nil {
		return usageError{err}
	}
	defer func() { _ = conn.Close() }()
	answer, err := healthpb.NewHealthClient(conn).Check(ctx, &healthpb.HealthCheckRequest{})
	if err != nil {
		return fmt.Errorf("%s does not answer: %s", c.Address, status.Convert(err).Message())
	}
	if s := answer.GetStatus(); s != healthpb.HealthCheckResponse_SERVING {
		return fmt.Errorf("%s answers %s", c.Address, s)
	}
	_, err = fmt.Fprintf(line.stdout, "%s serves\n", c.Address)
	return err
}
