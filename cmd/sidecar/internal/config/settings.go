// Package config is the configuration of a sidecar: flags, the environment and a file.
package config

import (
	"errors"
	"fmt"
	"time"

	"github.com/palimpsest-context/palimpsest/cmd/sidecar/internal/command"
	"github.com/palimpsest-context/palimpsest/internal/bytesize"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/policyservice"
	"github.com/palimpsest-context/palimpsest/internal/policies"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// Settings is the configuration of a sidecar. Each is a flag, an environment variable and a key of the configuration file, in
// this order of precedence.
type Settings struct {
	Config string `help:"Configuration file: YAML, keyed by the flags' names." env:"PALIMPSEST_CONFIG" type:"path" placeholder:"FILE"`

	Listen []string `help:"Where to listen: host:port or unix:///path. Repeatable." env:"PALIMPSEST_LISTEN" default:"127.0.0.1:7171" placeholder:"ADDRESS"`
	AccessFlags

	Store   string `help:"Where conversations are kept: bolt (a file in --data-dir), postgres or redis (which several sidecars can share), or memory (gone with the process)." env:"PALIMPSEST_STORE" enum:"bolt,memory,postgres,redis" default:"bolt"`
	DataDir string `help:"Folder of the store's file, made if it is missing; by default in $XDG_STATE_HOME, where that is set." env:"PALIMPSEST_DATA_DIR" type:"path" default:"${state_dir}" placeholder:"DIR"`
	DatabaseFlags
	MaxStoreSize bytesize.Size `help:"The most bytes that the store's file may have, such as 10GiB; 0: no limit." env:"PALIMPSEST_MAX_STORE_SIZE" default:"0" placeholder:"SIZE"`
	CacheSize    bytesize.Size `help:"Memory for conversations in use; 0: each call reads the store. At most an eighth of the memory limit." env:"PALIMPSEST_CACHE_SIZE" default:"${cache_size}" placeholder:"SIZE"`

	ContentCacheBytes bytesize.Size `help:"Memory for what searches have prepared; 0: each search prepares anew. At most an eighth of the memory limit." env:"PALIMPSEST_CONTENT_CACHE_BYTES" default:"${content_cache_bytes}" placeholder:"SIZE"`

	LogLevel  string `help:"Least level that is logged: debug shows every call, and which models wrote no summary." env:"PALIMPSEST_LOG_LEVEL" enum:"debug,info,warn,error" default:"info"`
	LogFormat string `help:"Form of log lines, on standard error: json or console." env:"PALIMPSEST_LOG_FORMAT" enum:"json,console" default:"json"`

	DefaultPolicy      string         `help:"Policy of conversations that set none: a name (${policies}) or a YAML file (docs/policies.md). Other --default flags win over it. By default old results are pruned, and what outgrows the budget is summarized." env:"PALIMPSEST_DEFAULT_POLICY" placeholder:"NAME|FILE"`
	DefaultWindow      *int32         `help:"Context window in tokens, where the policy sets none; wins over model profiles." env:"PALIMPSEST_DEFAULT_WINDOW" placeholder:"TOKENS"`
	DefaultReserve     *int32         `help:"Tokens of the window left for the answer, where the policy sets none; wins over model profiles." env:"PALIMPSEST_DEFAULT_RESERVE" placeholder:"TOKENS"`
	DefaultMaxContext  *int32         `help:"The most tokens that a context may weigh, where the policy sets none." env:"PALIMPSEST_DEFAULT_MAX_CONTEXT" placeholder:"TOKENS"`
	DefaultTarget      *int32         `help:"Percent of the budget that summaries and cuts of the window aim at; by default ${target}." env:"PALIMPSEST_DEFAULT_TARGET" placeholder:"PERCENT"`
	DefaultResultShare *int32         `help:"Percent of the budget that one tool result may take when it first enters a view; by default ${result_share}." env:"PALIMPSEST_DEFAULT_RESULT_SHARE" placeholder:"PERCENT"`
	DefaultTTL         *time.Duration `help:"How long a conversation lives after its last append, such as 720h, where its policy does not say; by default, or with 0, forever." env:"PALIMPSEST_DEFAULT_TTL" placeholder:"DURATION"`

	LifecycleFlags
	SummaryFlags
	MemoryFlags
	OperationsFlags
	QuotaFlags
}

// The defaults of flags that a sidecar without flags needs too.
const (
	defaultCacheSize         bytesize.Size = 64 << 20
	defaultContentCacheBytes bytesize.Size = 64 << 20
)

// Private are the settings of a sidecar for one's own use: on a free port, with a store in a folder.
func Private(folder string) *Settings {
	return &Settings{
		Listen: []string{"127.0.0.1:0"}, AccessFlags: AccessFlags{Namespace: defaultNamespace, SocketMode: defaultSocketMode},
		Store: StoreBolt, DataDir: folder, CacheSize: defaultCacheSize, ContentCacheBytes: defaultContentCacheBytes,
	}
}

// Check finds what the flags' types cannot say.
func (s *Settings) Check() error {
	faults := []error{
		within("default-window", s.DefaultWindow, 1, 100_000_000),
		within("default-reserve", s.DefaultReserve, 0, 100_000_000),
		within("default-max-context", s.DefaultMaxContext, 1, 100_000_000),
		within("default-target", s.DefaultTarget, 10, 90),
		within("default-result-share", s.DefaultResultShare, 1, 100),
		unless(s.DefaultReserve == nil || s.DefaultWindow == nil || *s.DefaultReserve < *s.DefaultWindow, "--default-reserve must be less than --default-window"),
		unless(between(s.DefaultTTL, time.Minute, longestTTL) || *s.DefaultTTL == 0, "--default-ttl must be 1 minute to 10 years (87600h), or 0"),
		s.checkStore(),
		s.checkAccess(),
		s.checkPolicy(),
		s.checkLifecycle(),
		s.checkSummaries(),
		s.CheckMemory(),
		s.checkOperations(),
		s.checkQuotas(),
	}
	if err := errors.Join(faults...); err != nil {
		return command.Usage(err)
	}
	return nil
}

// unless is an error that says what flags must be, unless they are.
func unless(good bool, format string, args ...any) error {
	if good {
		return nil
	}
	return fmt.Errorf(format, args...)
}

// between says whether a setting is not set, or in a range.
func between[T int32 | time.Duration](v *T, least, most T) bool {
	return v == nil || least <= *v && *v <= most
}

func within(flag string, n *int32, least, most int32) error {
	return unless(between(n, least, most), "--%s must be %d to %d", flag, least, most)
}

// longestTTL is how long a conversation can be told to live.
const longestTTL = 10 * 365 * 24 * time.Hour

// Policy is the server's default policy: what single settings say, and then the named policy.
func (s *Settings) Policy() (conversation.Policy, error) {
	single := conversation.Policy{
		Expiration: conversation.ExpirationPolicy{Results: s.expiration()},
		Rewrite:    conversation.RewritePolicy{Mode: s.rewriteMode()},
		MaxWait:    s.DefaultMaxWait,
		Fit: conversation.FitPolicy{
			MaxContextTokens:     s.DefaultMaxContext,
			ContextWindowTokens:  s.DefaultWindow,
			ReservedOutputTokens: s.DefaultReserve,
			TargetPercent:        s.DefaultTarget,
			MaxResultPercent:     s.DefaultResultShare,
		},
		TTL: s.DefaultTTL,
	}
	named, err := s.named()
	if err != nil {
		return single, err
	}
	policy, err := policyservice.PolicyOf(named.Conversation)
	if s.DefaultTarget != nil { // it is that of summaries too, which take over that of the window
		policy.Compaction.TargetPercent = nil
	}
	return single.Or(policy), err
}

// Tools is what the named policy says of single tools.
func (s *Settings) Tools() (map[string]conversation.ActionPolicy, error) {
	named, err := s.named()
	if err != nil {
		return nil, err
	}
	return policyservice.ToolsOf(named.Tools)
}

// named is the policy that --default-policy names; an empty one without it.
func (s *Settings) named() (*policies.File, error) {
	if s.DefaultPolicy == "" {
		return &policies.File{}, nil
	}
	return policies.Load(s.DefaultPolicy)
}

func (s *Settings) checkPolicy() error {
	_, err := s.Policy()
	if err == nil {
		_, err = s.Tools()
	}
	if err != nil {
		return fmt.Errorf("--default-policy: %w", s.inFile(err))
	}
	return nil
}

// inFile says of settings beyond their limits where they stand: there is no request that breaks rules.
func (s *Settings) inFile(err error) error {
	var e *conversation.Error
	if !errors.As(err, &e) || len(e.Violations) == 0 {
		return err
	}
	faults := make([]error, len(e.Violations))
	for i, v := range e.Violations {
		faults[i] = fmt.Errorf("%s: %s %s", s.DefaultPolicy, v.Field, v.Text)
	}
	return errors.Join(faults...)
}
