package main

import (
	"fmt"

	"go.uber.org/zap"

	"github.com/palimpsest-context/palimpsest/cmd/sidecar/internal/config"
	"github.com/palimpsest-context/palimpsest/cmd/sidecar/internal/observation"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
	"github.com/palimpsest-context/palimpsest/pkg/summarize/anthropic"
	"github.com/palimpsest-context/palimpsest/pkg/summarize/extractive"
	"github.com/palimpsest-context/palimpsest/pkg/summarize/extractive/span"
	"github.com/palimpsest-context/palimpsest/pkg/summarize/openai"
)

// connection is a client of a provider.
type connection interface {
	summarize.Model
	Close()
}

func newConnection(a config.Provider, key string) (connection, error) {
	userAgent := "palimpsest/" + version
	switch a.Name {
	case config.ProviderOpenAI:
		return openai.New(openai.Options{URL: a.URL, Key: key, UserAgent: userAgent})
	case config.ProviderAnthropic:
		return anthropic.New(anthropic.Options{URL: a.URL, Key: key, UserAgent: userAgent})
	default:
		return nil, fmt.Errorf("there is no provider of the name %q", a.Name)
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

func newSummaries(s *config.Settings, warm caches, seen *observation.Observation, log *zap.Logger) (*summaries, error) {
	made, providers := &summaries{}, map[string]summarize.Model{}
	for _, a := range s.Providers() {
		if a.URL == "" {
			continue
		}
		key, err := a.Key()
		if err != nil {
			return nil, err
		}
		c, err := newConnection(a, key)
		if err != nil {
			return nil, fmt.Errorf("--%s-url %w", a.Name, err)
		}
		providers[a.Name], made.connections = seen.Model(a.Name, c), append(made.connections, c)
	}
	made.service = newSummaryService(s, warm, providers, seen.ModelCalled(), log)
	return made, nil
}

func newSummaryService(s *config.Settings, warm caches, providers map[string]summarize.Model, onCall func(summarize.CallReport), log *zap.Logger) *summarize.Service {
	return summarize.New(summarize.Options{
		Providers: providers,
		Live: map[conversation.Format]string{
			conversation.FormatOpenAIChat: config.ProviderOpenAI, conversation.FormatOpenAIResponses: config.ProviderOpenAI, conversation.FormatAnthropic: config.ProviderAnthropic,
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
