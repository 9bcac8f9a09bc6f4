package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"go.uber.org/zap"

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
	"github.com/palimpsest-context/palimpsest/pkg/summarize/extractive/span"

	anthropicmodels "github.com/palimpsest-context/palimpsest/pkg/summarize/anthropic"
	"github.com/palimpsest-context/palimpsest/pkg/summarize/extractive"

	openaimodels "github.com/palimpsest-context/palimpsest/pkg/summarize/openai"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
	"github.com/palimpsest-context/palimpsest/pkg/tokens/bpe"
	"github.com/palimpsest-context/palimpsest/pkg/tokens/chars4"
)

// This file, stores.go and memories.go are the places that name implementations.

// The flags that name folders of a store.
const (
	dataDirFlag = "--data-dir"
	newDirFlag  = "--to"
)

// elsewhere is what every sentence about a folder that cannot be used ends with.
func elsewhere(flag string) string { return flag + " names another folder" }

func makeDataDir(flag, folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("cannot make the data directory %s: %s; %s", folder, refusalOf(err), elsewhere(flag))
	}
	return nil
}

// refusalOf says in words why a folder cannot be made.
func refusalOf(err error) string {
	switch {
	case errors.Is(err, syscall.ENOTDIR):
		return "a part of the name is a file"
	case errors.Is(err, fs.ErrPermission):
		return "this user may not write there: change the owner or the mode of the folder above it"
	case errors.Is(err, syscall.EROFS):
		return "the file system is read-only: mount it for writing"
	case errors.Is(err, syscall.ENOSPC):
		return "the disk is full"
	default:
		return err.Error()
	}
}

func newEngine(s *settings, warm caches, kept store.Store, summaries *summarize.Service, memory *remembering, authenticator *access.Authenticator, observer engine.Observer, log *zap.Logger) (*engine.Engine, error) {
	counters, err := newCounters()
	if err != nil {
		return nil, err
	}
	policy, err := s.policy()
	if err != nil {
		return nil, err
	}
	known, err := models.Profiles()
	if err != nil {
		return nil, err
	}
	tools, err := s.tools()
	if err != nil {
		return nil, err
	}
	recallTools, err := newRecallTools()
	if err != nil {
		return nil, err
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
		Quotas:            s.quotas(authenticator),
		OnError:           func(err error) { log.Error("background work failed", zap.String("cause", causeOf(err))) },
	}), nil
}

// connection is a client of a provider.
type connection interface {
	summarize.Model
	Close()
}

func newConnection(a providerAccess, key string) (connection, error) {
	userAgent := "palimpsest/" + version
	switch a.provider {
	case providerOpenAI:
		return openaimodels.New(openaimodels.Options{URL: a.url, Key: key, UserAgent: userAgent})
	case providerAnthropic:
		return anthropicmodels.New(anthropicmodels.Options{URL: a.url, Key: key, UserAgent: userAgent})
	default:
		return nil, fmt.Errorf("there is no provider of the name %q", a.provider)
	}
}

// summaries is what makes summaries, with its connections to providers.
type summaries struct {
	service     *summarize.Service
	connections []connection
}

// close ends the work, then the connections.
func (s *summaries) close() {
	s.service.Close()
	for _, c := range s.connections {
		c.Close()
	}
}

func newSummaries(s *settings, warm caches, seen *observation, log *zap.Logger) (*summaries, error) {
	made, providers := &summaries{}, map[string]summarize.Model{}
	for _, a := range s.accesses() {
		if a.url == "" {
			continue
		}
		key, err := a.key()
		if err != nil {
			return nil, err
		}
		c, err := newConnection(a, key)
		if err != nil {
			return nil, fmt.Errorf("--%s-url %w", a.provider, err)
		}
		providers[a.provider], made.connections = seen.model(a.provider, c), append(made.connections, c)
	}
	made.service = newSummaryService(s, warm, providers, seen.modelCalled(), log)
	return made, nil
}

func newSummaryService(s *settings, warm caches, providers map[string]summarize.Model, onCall func(summarize.CallReport), log *zap.Logger) *summarize.Service {
	return summarize.New(summarize.Options{
		Providers: providers,
		Live: map[conversation.Format]string{
			conversation.FormatOpenAIChat: providerOpenAI, conversation.FormatOpenAIResponses: providerOpenAI, conversation.FormatAnthropic: providerAnthropic,
		},
		Models:                s.SummaryModels,
		Extract:               extractive.Extract,
		ExtractSpan:           span.Extract,
		Deadline:              s.SummaryDeadline,
		TokensPerMinute:       s.SummaryTokensPerMinute,
		CacheBytes:            int(warm.summaries),
		TokensPerConversation: s.SummaryTokensPerConversation,
		OnCall:                onCall,
		OnFailure:             func(f *summarize.Failure) { logFailure(log, f) },
	})
}

// logFailure names models at debug alone: prompts, which name them, are callers' texts.
func logFailure(log *zap.Logger, f *summarize.Failure) {
	log.Warn("no model wrote a summary", zap.String("reason", string(f.Reason)), zap.Int("http_status", f.Status))
	log.Debug("no model wrote a summary", zap.String("models", f.Error()))
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
