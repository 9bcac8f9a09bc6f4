package main

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
)

// healthcheckCommand is `sidecar healthcheck`: what a container's health check runs.
type healthcheckCommand struct {
	Address string        `help:"The sidecar: host:port, or unix:///path." env:"PALIMPSEST_ADDRESS" default:"127.0.0.1:7171"`
	Timeout time.Duration `help:"How long to wait for an answer." default:"3s"`
}

// Run asks once.
func (c *healthcheckCommand) Run(ctx context.Context, line *commandLine) error {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	conn, err := grpc.NewClient(c.Address, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithNoProxy())
	if err != nil {
		return usageError{fmt.Errorf("--address %s: %w", c.Address, err)}
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
