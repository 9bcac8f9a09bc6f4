package main

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	"go.uber.org/zap"
)

// serveCommand is `sidecar serve`.
type serveCommand struct {
	settings
}

// BeforeResolve loads the configuration file, once kong knows its name and before it needs its values.
func (s *settings) BeforeResolve(ctx *kong.Context, file *configFile) error {
	flags := ctx.Selected().Flags
	i := slices.IndexFunc(flags, func(f *kong.Flag) bool { return f.Name == "config" })
	path, _ := ctx.FlagValue(flags[i]).(string)
	return file.load(path, func(key string) bool {
		return key != "config" && slices.ContainsFunc(flags, func(f *kong.Flag) bool { return f.Name == key })
	})
}

// Run serves until a signal.
func (c *serveCommand) Run(ctx context.Context, line *commandLine) error {
	if err := c.check(); err != nil {
		return err
	}
	log, err := newLogger(line.stderr, c.LogLevel, c.LogFormat)
	if err != nil {
		return err
	}
	defer func() { _ = log.Sync() }()
	ctx, stop := untilSignal(ctx, log)
	defer stop()
	return (&program{log: log, memoryLimit: limitMemory(log)}).Run(ctx, &c.settings)
}

// lastResort is when a shutdown that hangs is cut off. Kubernetes gives 30 s by default and docker stop 10.
const lastResort = 9500 * time.Millisecond

// untilSignal returns a context that ends with the first SIGTERM or SIGINT. The second signal, or a shutdown that hangs, ends
// the process: what was acknowledged is durable already.
func untilSignal(parent context.Context, log *zap.Logger) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	done := make(chan struct{})
	go func() {
		select {
		case s := <-signals:
			log.Info("shutting down", zap.String("signal", s.String()))
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
