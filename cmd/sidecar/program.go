package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"go.uber.org/zap"

	"github.com/palimpsest-context/palimpsest/cmd/sidecar/internal/config"
	"github.com/palimpsest-context/palimpsest/cmd/sidecar/internal/observation"
	"github.com/palimpsest-context/palimpsest/cmd/sidecar/internal/security"
	"github.com/palimpsest-context/palimpsest/cmd/sidecar/internal/stores"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver"
	"github.com/palimpsest-context/palimpsest/internal/listen"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// drainTime is how long calls in flight may take to finish after a signal, --drain-delay included.
const drainTime = 7 * time.Second

// program is a sidecar in this process: what `sidecar serve` runs, and what whole-process tests run on port 0.
type program struct {
	log *zap.Logger
	// memoryLimit is how many bytes the process may take; 0 is no limit.
	memoryLimit int64
	// ready, if set, is told where the program listens once it does.
	ready func(addresses []string)
}

// Run serves until ctx ends; then it finishes the calls in flight and closes the store last.
func (p *program) Run(ctx context.Context, s *config.Settings) error {
	secured, err := security.New(s)
	if err != nil {
		return err
	}
	listeners, err := listen.All(ctx, s.Listen, secured.Sockets)
	if err != nil {
		return err
	}
	seen, err := observation.New(ctx, s, secured.Sockets, version, p.log)
	if err != nil {
		return errors.Join(err, listen.Close(listeners))
	}
	err = p.run(ctx, s, secured, seen, listeners)
	return errors.Join(err, seen.Close(context.WithoutCancel(ctx))) // last, so that whoever looks sees the process end
}

// run opens the store, serves, and closes the store. It closes the listeners.
func (p *program) run(ctx context.Context, s *config.Settings, secured *security.Security, seen *observation.Observation, listeners []net.Listener) error {
	state := stores.NewState(p.log)
	kept, err := stores.Open(ctx, s, seen.Store(stores.Hooks{State: state.Set}), p.log)
	if err != nil {
		return errors.Join(err, listen.Close(listeners))
	}
	warm := p.caches(s)
	summaries, err := newSummaries(s, warm, seen, p.log) //nolint:contextcheck // its calls have deadlines of their own
	if err != nil {
		return errors.Join(err, listen.Close(listeners), stores.Close(kept))
	}
	defer summaries.close() // the server has stopped by then: nobody asks any more
	memory, err := newMemory(ctx, &s.MemoryFlags)
	if err != nil {
		return errors.Join(err, listen.Close(listeners), stores.Close(kept))
	}
	defer memory.close() // as above
	memory.observer = seen.Memory(s.Memory)
	e, err := newEngine(s, warm, seen.Traced(kept), summaries.service, memory, secured.Authenticator, seen.Builds(), p.log)
	if err == nil {
		seen.Follow(kept, e, summaries.service)
		err = p.serve(ctx, s, e, secured, seen, state, listeners)
	}
	return errors.Join(err, stores.Close(kept))
}

// serve runs the engine's background work and the server, and returns when both have ended.
func (p *program) serve(ctx context.Context, s *config.Settings, e *engine.Engine, secured *security.Security, seen *observation.Observation, state *stores.State, listeners []net.Listener) error {
	stopDoor, err := secured.Open(context.WithoutCancel(ctx), s.Pprof, p.log)
	if err != nil {
		return err
	}
	defer stopDoor()
	sweeping, stopSweeping := context.WithCancel(context.WithoutCancel(ctx))
	swept := make(chan error, 1)
	go func() { swept <- e.Run(sweeping) }()

	server := grpcserver.New(grpcserver.Options{
		Engine: e, Log: p.log, Authenticator: secured.Authenticator, TLS: secured.Config(), Reflection: s.Reflection, Channelz: s.Channelz,
		RequestLimit: s.RequestLimit(secured.Authenticator), Version: version, MemoryLimit: p.memoryLimit,
		Observers: seen.Calls(), TraceID: seen.TraceID(),
	})
	seen.FollowServer(server, e)
	state.Follow(func(serving bool) {
		server.SetServing(serving)
		seen.Health.SetWritable(serving)
	})
	served := make(chan error, 1)
	go func() { served <- server.Serve(listeners...) }()
	seen.Health.Serve()
	p.announce(s, e, listeners)

	select {
	case err = <-served:
	case <-ctx.Done():
		seen.Health.Drain()
		err = p.drain(context.WithoutCancel(ctx), s.DrainDelay, server, served)
	}
	stopSweeping()
	if background := <-swept; background != nil && !errors.Is(background, context.Canceled) {
		err = errors.Join(err, fmt.Errorf("background work: %w", background))
	}
	e.Close()
	return err
}

// drain says that the server ends, goes on serving for the delay, and then finishes the calls in flight.
func (p *program) drain(ctx context.Context, delay time.Duration, server *grpcserver.Server, served <-chan error) error {
	deadline, cancel := context.WithTimeout(ctx, drainTime)
	defer cancel()
	server.Drain()
	time.Sleep(delay)
	if server.Shutdown(deadline) != nil {
		p.log.Warn("calls in flight were cut off", zap.Duration("after", drainTime))
	}
	err := <-served
	p.log.Info("stopped")
	return err
}

func (p *program) announce(s *config.Settings, e *engine.Engine, listeners []net.Listener) {
	addresses := make([]string, len(listeners))
	for i, l := range listeners {
		addresses[i] = listen.Address(l)
	}
	fields := []zap.Field{
		zap.Strings("addresses", addresses),
		zap.String("store", s.Store),
		zap.String("durability", string(e.Durability())),
		zap.String("version", version),
	}
	if s.Memory != "" {
		fields = append(fields, zap.String("memory", s.Memory))
	}
	if s.Store == config.StoreBolt {
		fields = append(fields, zap.String("data_dir", s.DataDir))
	}
	p.log.Info("ready", fields...)
	if p.ready != nil {
		p.ready(addresses)
	}
}
