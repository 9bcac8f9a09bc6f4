package main

import (
	"crypto/rand"
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/palimpsest-context/palimpsest/cmd/sidecar/internal/config"
	"github.com/palimpsest-context/palimpsest/internal/access"
	"github.com/palimpsest-context/palimpsest/internal/models"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/provider/anthropic"
	"github.com/palimpsest-context/palimpsest/pkg/provider/gemini"
	"github.com/palimpsest-context/palimpsest/pkg/provider/neutral"
	"github.com/palimpsest-context/palimpsest/pkg/provider/openaichat"
	"github.com/palimpsest-context/palimpsest/pkg/provider/openairesponses"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
	"github.com/palimpsest-context/palimpsest/pkg/tokens/bpe"
	"github.com/palimpsest-context/palimpsest/pkg/tokens/chars4"
)

func newEngine(s *config.Settings, warm caches, kept store.Store, summaries *summarize.Service, memory *remembering, authenticator *access.Authenticator, observer engine.Observer, log *zap.Logger) (*engine.Engine, error) {
	counters, err := newCounters()
	if err != nil {
		return nil, err
	}
	policy, err := s.Policy()
	if err != nil {
		return nil, err
	}
	known, err := models.Profiles()
	if err != nil {
		return nil, err
	}
	tools, err := s.Tools()
	if err != nil {
		return nil, err
	}
	recallTools, err := newRecallTools()
	if err != nil {
		return nil, err
	}
	if log.Core().Enabled(zap.DebugLevel) {
		observer.Passes = func(namespace string, passes []engine.BuildPass) { logPasses(log, namespace, passes) }
	}
	return engine.New(engine.Options{
		Store:             kept,
		Counters:          counters,
		Formats:           formats(),
		Readers:           readers(),
		Clock:             time.Now,
		IDs:               newID,
		Defaults:          policy,
		Models:            known,
		Tools:             tools,
		CacheBytes:        warm.windows,
		ContentCacheBytes: warm.contents,
		Summaries:         summaries,
		Memory:            memory.made,
		MemoryBackfill:    s.MemoryBackfill,
		MemoryObserver:    memory.observer,
		Observer:          observer,
		RecallTools:       recallTools,
		Quotas:            s.Quotas(authenticator),
		OnError:           func(err error) { log.Error("background work failed", zap.String("cause", causeOf(err))) },
	}), nil
}

func newCounters() ([]tokens.Counter, error) {
	o200k, err := bpe.New(bpe.O200k)
	if err != nil {
		return nil, err
	}
	cl100k, err := bpe.New(bpe.Cl100k)
	if err != nil {
		return nil, err
	}
	go o200k.Count("x") // loads the default vocabulary, so that the first append need not wait for it
	return []tokens.Counter{o200k, cl100k, chars4.New()}, nil
}

func formats() []provider.Format {
	return []provider.Format{neutral.New(), openaichat.New(), openairesponses.New(), anthropic.New(), gemini.New()}
}

func newID() conversation.ID {
	var id conversation.ID
	_, _ = rand.Read(id[:]) // never fails: it ends the process instead
	return id
}

// causeOf is what the log says of a domain error: its cause too.
func causeOf(err error) string {
	var e *conversation.Error
	if errors.As(err, &e) && e.Cause != nil {
		return e.Text + ": " + e.Cause.Error()
	}
	return err.Error()
}

// readers read providers' JSON.
func readers() []provider.Reader {
	return []provider.Reader{openaichat.NewReader(), openairesponses.NewReader(), anthropic.NewReader(), gemini.NewReader()}
}

// logPasses says what each pass of a build's plan did.
func logPasses(log *zap.Logger, namespace string, passes []engine.BuildPass) {
	fields := make([]zap.Field, len(passes))
	for i := range passes {
		p := &passes[i]
		fields[i] = zap.Dict(p.Name, zap.Int64("took_us", p.Took.Microseconds()), zap.Int("edits", p.Edits), zap.Int64("tokens", p.Tokens))
	}
	log.Debug("build", zap.String("namespace", namespace), zap.Dict("passes", fields...))
}
