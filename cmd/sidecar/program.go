package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"go.uber.org/zap"

	"github.com/palimpsest-context/palimpsest/internal/grpcserver"
	"github.com/palimpsest-context/palimpsest/internal/listen"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
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
func (p *program) Run(ctx context.Context, s *settings) error {
	security, err := newSecurity(s)
	if err != nil {
		return err
	}
	listeners, err := listen.All(ctx, s.Listen, security.sockets)
	if err != nil {
		return err
	}
	seen, err := observe(ctx, s, security.sockets, p.log)
	if err != nil {
		return errors.Join(err, listen.Close(listeners))
	}
	err = p.run(ctx, s, security, seen, listeners)
	return errors.Join(err, seen.close(context.WithoutCancel(ctx))) // last, so that whoever looks sees the process end
}

// run opens the store, serves, and closes the store. It closes the listeners.
func (p *program) run(ctx context.Context, s *settings, security *security, seen *observation, listeners []net.Listener) error {
	state := &storeState{log: p.log}
	kept, err := openStore(ctx, s, seen.store(storeHooks{state: state.set}), p.log)
	if err != nil {
		return errors.Join(err, listen.Close(listeners))
	}
	warm := p.caches(s)
	summaries, err := newSummaries(s, warm, seen, p.log) //nolint:contextcheck // its calls have deadlines of their own
	if err != nil {
		return errors.Join(err, listen.Close(listeners), closeStore(kept))
	}
	defer summaries.close() // the server has stopped by then: nobody asks any more
	memory, err := newMemory(ctx, &s.memorySettings)
	if err != nil {
		return errors.Join(err, listen.Close(listeners), closeStore(kept))
	}
	defer memory.close() // as above
	memory.observer = seen.memory(s.Memory)
	e, err := newEngine(s, warm, seen.traced(kept), summaries.service, memory, security.authenticator, seen.builds(), p.log)
	if err == nil {
		seen.follow(kept, e, summaries.service)
		err = p.serve(ctx, s, e, security, seen, state, listeners)
	}
	return errors.Join(err, closeStore(kept))
}

func (p *program) caches(s *settings) caches {
	warm := cachesWithin(s, p.memoryLimit)
	if warm.windows < int64(s.CacheSize) || warm.contents < int64(s.ContentCacheBytes) {
		p.log.Info("the memory limit makes caches smaller than they are set",
			zap.Int64("cache_size", warm.windows), zap.Int64("content_cache_bytes", warm.contents))
	}
	return warm
}

func closeStore(kept store.Store) error {
	if err := kept.Close(); err != nil {
		return fmt.Errorf("closing the store: %w", err)
	}
	return nil
}

// serve runs the engine's background work and the server, and returns when both have ended.
func (p *program) serve(ctx context.Context, s *settings, e *engine.Engine, security *security, seen *observation, state *storeState, listeners []net.Listener) error {
	stopDoor, err := security.open(context.WithoutCancel(ctx), s.Pprof, p.log)
	if err != nil {
		return err
	}
	defer stopDoor()
	sweeping, stopSweeping := context.WithCancel(context.WithoutCancel(ctx))
	swept := make(chan error, 1)
	go func() { swept <- e.Run(sweeping) }()

	server := grpcserver.New(grpcserver.Options{
		Engine: e, Log: p.log, Authenticator: security.authenticator, TLS: security.config(), Reflection: s.Reflection, Channelz: s.Channelz,
		RequestLimit: s.requestLimit(security.authenticator), Version: version, MemoryLimit: p.memoryLimit,
		Observers: seen.calls(), TraceID: seen.traceID(),
	})
	seen.followServer(server, e)
	state.follow(func(serving bool) {
		server.SetServing(serving)
		seen.health.SetWritable(serving)
	})
	served := make(chan error, 1)
	go func() { served <- server.Serve(listeners...) }()
	seen.health.Serve()
	p.announce(s, e, listeners)

	select {
	case err = <-served:
	case <-ctx.Done():
		seen.health.Drain()
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

func (p *program) announce(s *settings, e *engine.Engine, listeners []net.Listener) {
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
	if s.Store == storeBolt {
		fields = append(fields, zap.String("data_dir", s.DataDir))
	}
	p.log.Info("ready", fields...)
	if p.ready != nil {
		p.ready(addresses)
	}
}
