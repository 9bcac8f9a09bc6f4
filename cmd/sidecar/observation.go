package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"go.uber.org/zap"

	"github.com/palimpsest-context/palimpsest/internal/ops"
)

// observation is what operators see of a program: its health, and the listener that tells of it. Without flags for it there is the health
// alone, and nothing is measured.
type observation struct {
	health *ops.Health
	server *ops.Server // nil without --ops
	served chan error
}

// observe opens the operations listener before anything that may take long: a process that reads a large store lives, and is not ready.
func observe(ctx context.Context, s *settings, sockets socketOptions, log *zap.Logger) (*observation, error) {
	o := &observation{health: ops.NewHealth()}
	if s.Ops == "" {
		return o, nil
	}
	l, err := listen(ctx, s.Ops, sockets)
	if err != nil {
		return nil, fmt.Errorf("--ops: cannot listen on %s: %w", s.Ops, plain(err))
	}
	o.server, o.served = ops.NewServer(o.health, http.NotFoundHandler()), make(chan error, 1)
	go func() { o.served <- o.server.Serve(l) }()
	log.Info("operations", zap.String("address", addressOf(l)))
	return o, nil
}

// lastAnswers is how long answers on their way to a prober have when everything else has ended.
const lastAnswers = time.Second

// close ends the operations listener.
func (o *observation) close(ctx context.Context) error {
	if o.server == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, lastAnswers)
	defer cancel()
	if err := errors.Join(o.server.Close(ctx), <-o.served); err != nil {
		return fmt.Errorf("the operations listener: %w", err)
	}
	return nil
}
