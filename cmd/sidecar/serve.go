package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"go.uber.org/zap"

	"github.com/palimpsest-context/palimpsest/cmd/sidecar/internal/command"
	"github.com/palimpsest-context/palimpsest/cmd/sidecar/internal/config"
	"github.com/palimpsest-context/palimpsest/cmd/sidecar/internal/memorylimit"
)

// serveCommand is `sidecar serve`.
type serveCommand struct {
	config.Settings
	UntilStdinEnds bool `help:"End when standard input ends, as after a signal: for programs that start a sidecar for themselves." env:"PALIMPSEST_UNTIL_STDIN_ENDS"`
}

// Run serves until a signal, or until standard input ends if that was asked for.
func (c *serveCommand) Run(ctx context.Context, out *command.Output) error {
	if err := c.Check(); err != nil {
		return err
	}
	log, err := newLogger(out.Stderr, c.LogLevel, c.LogFormat)
	if err != nil {
		return err
	}
	defer func() { _ = log.Sync() }()
	var orphaned <-chan struct{}
	if c.UntilStdinEnds {
		orphaned = endOf(os.Stdin)
	}
	ctx, stop := untilSignal(ctx, log, orphaned)
	defer stop()
	return (&program{log: log, memoryLimit: memorylimit.Set(log)}).Run(ctx, &c.Settings)
}

// lastResort is when a shutdown that hangs is cut off. Kubernetes gives 30 s by default and docker stop 10.
const lastResort = 9500 * time.Millisecond

// endOf returns a channel that closes when nothing more can be read. What can be read is nothing to us.
func endOf(r io.Reader) <-chan struct{} {
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, r)
		close(ended)
	}()
	return ended
}

// untilSignal returns a context that ends with the first SIGTERM or SIGINT, or when the process is orphaned. The second signal, or a
// shutdown that hangs, ends the process: what was acknowledged is durable already.
func untilSignal(parent context.Context, log *zap.Logger, orphaned <-chan struct{}) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	done := make(chan struct{})
	go func() {
		select {
		case s := <-signals:
			log.Info("shutting down", zap.String("signal", s.String()))
			cancel()
		case <-orphaned:
			log.Info("shutting down: standard input ended")
			cancel()
		case <-done:
			return
		}
		select {
		case <-signals:
			log.Warn("a second signal: exiting at once")
		case <-time.After(lastResort):
			log.Error("the shutdown hangs: exiting")
		case <-done:
			return
		}
		os.Exit(exitFailed)
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel()
	}
}
