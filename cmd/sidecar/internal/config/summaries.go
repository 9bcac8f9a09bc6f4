package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

// SummaryFlags say which models write summaries. Without any, the sidecar calls nobody and makes extracts itself. Keys are
// no flags, because lists of processes show flags; and no keys of the configuration file, which `config print` shows.
type SummaryFlags struct {
	OpenAIURL        string `name:"openai-url" help:"Base URL of an OpenAI-compatible API for summaries, such as http://localhost:11434/v1; its models are openai/MODEL." env:"PALIMPSEST_OPENAI_URL" placeholder:"URL"`
	OpenAIKeyFile    string `name:"openai-key-file" help:"File with its key, if it needs one; or PALIMPSEST_OPENAI_KEY." env:"PALIMPSEST_OPENAI_KEY_FILE" type:"path" placeholder:"FILE"`
	AnthropicURL     string `help:"Base URL of Anthropic's API for summaries: https://api.anthropic.com; its models are anthropic/MODEL." env:"PALIMPSEST_ANTHROPIC_URL" placeholder:"URL"`
	AnthropicKeyFile string `help:"File with its key; or PALIMPSEST_ANTHROPIC_KEY." env:"PALIMPSEST_ANTHROPIC_KEY_FILE" type:"path" placeholder:"FILE"`

	SummaryModels                []string      `help:"Models that write summaries, as provider/model: the next is asked where one fails. Prompts may name others of these providers." env:"PALIMPSEST_SUMMARY_MODELS" placeholder:"MODEL"`
	SummaryDeadline              time.Duration `help:"How long one summary may take in all, 1s to 10m. No build waits for it longer than --default-max-wait." env:"PALIMPSEST_SUMMARY_DEADLINE" default:"${summary_deadline}"`
	SummaryTokensPerMinute       int64         `help:"The most tokens that all summaries may take in a minute; 0: no limit." env:"PALIMPSEST_SUMMARY_TOKENS_PER_MINUTE" default:"${summary_tokens_per_minute}" placeholder:"TOKENS"`
	SummaryTokensPerConversation int64         `help:"The most that one conversation's may take while the sidecar runs; 0: no limit." env:"PALIMPSEST_SUMMARY_TOKENS_PER_CONVERSATION" default:"${summary_tokens_per_conversation}" placeholder:"TOKENS"`
}

// The defaults of the flags above. A result of 400,000 characters, the most that is sent of one, costs about 100,000 tokens;
// an ordinary one of 10,000 about 4,000.
const (
	defaultSummaryDeadline              = summarize.DefaultDeadline
	defaultSummaryTokensPerMinute       = 500_000
	defaultSummaryTokensPerConversation = 2_000_000
)

// The providers, as models are named after them.
const (
	ProviderOpenAI    = "openai"
	ProviderAnthropic = "anthropic"
)

// maxKeyBytes bounds a key's file: a longer one is another file.
const maxKeyBytes = 4096

// Provider is how a provider is reached.
type Provider struct {
	Name     string
	URL      string
	KeyFile  string
	Variable string // of the environment, with the key
}

// Providers are the providers of models, with an empty URL where a flag sets none.
func (s *SummaryFlags) Providers() []Provider {
	return []Provider{
		{ProviderOpenAI, s.OpenAIURL, s.OpenAIKeyFile, "PALIMPSEST_OPENAI_KEY"},
		{ProviderAnthropic, s.AnthropicURL, s.AnthropicKeyFile, "PALIMPSEST_ANTHROPIC_KEY"},
	}
}

func (s *SummaryFlags) checkSummaries() error {
	err := errors.Join(
		// 0 is the default, which is what settings made in the program have.
		unless(s.SummaryDeadline == 0 || between(&s.SummaryDeadline, time.Second, 10*time.Minute), "--summary-deadline must be 1s to 10m"),
		unless(min(s.SummaryTokensPerMinute, s.SummaryTokensPerConversation) >= 0,
			"--summary-tokens-per-minute and --summary-tokens-per-conversation must be 0 or more"),
	)
	for _, a := range s.Providers() {
		err = errors.Join(err, a.check())
	}
	for _, model := range s.SummaryModels {
		err = errors.Join(err, s.checkModel(model))
	}
	return err
}

func (a Provider) check() error {
	if a.URL == "" {
		if a.KeyFile != "" {
			return fmt.Errorf("--%s-key-file needs --%s-url: there is nobody to show the key to", a.Name, a.Name)
		}
		return nil
	}
	if err := summarize.CheckEndpoint(a.URL, a.HasKey()); err != nil {
		return fmt.Errorf("--%s-url %w", a.Name, err)
	}
	if a.KeyFile != "" && lookup(a.Variable) != "" {
		return fmt.Errorf("--%s-key-file and %s are both set: which is the key?", a.Name, a.Variable)
	}
	return nil
}

// HasKey says whether there is a key, be it empty.
func (a Provider) HasKey() bool { return a.KeyFile != "" || lookup(a.Variable) != "" }

func (s *SummaryFlags) checkModel(model string) error {
	provider, name, _ := strings.Cut(model, "/")
	accesses := s.Providers()
	at := slices.IndexFunc(accesses, func(a Provider) bool { return a.Name == provider })
	switch {
	case at < 0 || name == "" || len(model) > 256:
		return fmt.Errorf("--summary-models: %q is no model: name it openai/MODEL or anthropic/MODEL", model)
	case accesses[at].URL == "":
		return fmt.Errorf("--summary-models: %s needs --%s-url", model, provider)
	default:
		return nil
	}
}

// Key reads the file, or the environment. What is wrong is said without the key.
func (a Provider) Key() (string, error) {
	source, text := a.Variable, lookup(a.Variable)
	if a.KeyFile != "" {
		read, err := readKey(a.KeyFile)
		if err != nil {
			return "", fmt.Errorf("--%s-key-file: %w", a.Name, err)
		}
		source, text = a.KeyFile, read
	}
	key := strings.TrimSpace(text)
	if key == "" && a.HasKey() {
		return "", fmt.Errorf("%s is empty: it should hold a key", source)
	}
	if strings.ContainsFunc(key, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return "", fmt.Errorf("%s should hold a key and nothing else: one line of printable ASCII", source)
	}
	return key, nil
}

func readKey(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, maxKeyBytes+1))
	if err == nil && len(text) > maxKeyBytes {
		err = fmt.Errorf("%s has more than %d bytes: that is no key", path, maxKeyBytes)
	}
	return string(text), err
}
