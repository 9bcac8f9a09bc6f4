package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/palimpsest-context/palimpsest/cmd/sidecar/internal/command"
	"github.com/palimpsest-context/palimpsest/internal/dial"
	"github.com/palimpsest-context/palimpsest/internal/ops"
)

// healthcheckCommand is `sidecar healthcheck`: what a container's health check runs.
type healthcheckCommand struct {
	dial.Flags
	Timeout time.Duration `help:"How long to wait for an answer." default:"3s"`
}

// Run asks once.
func (c *healthcheckCommand) Run(ctx context.Context, out *command.Output) error {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	if strings.HasPrefix(c.Address, httpScheme) {
		if err := c.askOperations(ctx); err != nil {
			return err
		}
		return c.serves(out)
	}
	conn, err := c.Dial()
	if err != nil {
		return command.Usage(err)
	}
	defer func() { _ = conn.Close() }()
	answer, err := healthpb.NewHealthClient(conn).Check(ctx, &healthpb.HealthCheckRequest{})
	if err != nil {
		return fmt.Errorf("%s does not answer: %s", c.Address, status.Convert(err).Message())
	}
	if s := answer.GetStatus(); s != healthpb.HealthCheckResponse_SERVING {
		return fmt.Errorf("%s answers %s", c.Address, s)
	}
	return c.serves(out)
}

func (c *healthcheckCommand) serves(out *command.Output) error {
	_, err := fmt.Fprintf(out.Stdout, "%s serves\n", c.Address)
	return err
}

const httpScheme = "http://"

// askOperations asks the operations listener, which answers in words why a sidecar is not ready.
func (c *healthcheckCommand) askOperations(ctx context.Context) error {
	if at, err := url.Parse(c.Address); err != nil || at.Port() == "" || c.Address != httpScheme+at.Host {
		return command.Usage(fmt.Errorf("--address %s must be http://host:port, without a path", c.Address))
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.Address+ops.ReadyPath, http.NoBody)
	if err != nil {
		return command.Usage(fmt.Errorf("--address %s: %w", c.Address, err))
	}
	client := &http.Client{ // without a proxy, and it follows nobody elsewhere
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	answer, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("%s does not answer: %w", c.Address, errors.Unwrap(err))
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxReason))
	if answer.StatusCode != http.StatusOK || err != nil {
		return fmt.Errorf("%s answers %q", c.Address, strings.TrimSpace(string(text)))
	}
	return nil
}

// maxReason bounds what is read of an answer, in bytes.
const maxReason = 256
