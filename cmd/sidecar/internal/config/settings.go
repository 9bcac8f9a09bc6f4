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
	Config string `help:"Configuration file: YAML, its keys are the flags' names." env:"PALIMPSEST_CONFIG" type:"path" placeholder:"FILE"`

	Listen []string `help:"Where to listen: host:port, or unix:///path. Repeatable, so that TCP and a Unix socket can be served together." env:"PALIMPSEST_LISTEN" default:"127.0.0.1:7171" placeholder:"ADDRESS"`
	AccessFlags

	Store   string `help:"Where conversations are kept: bolt (a file in the data directory), postgres or redis (a database that several sidecars share), or memory (gone with the process)." env:"PALIMPSEST_STORE" enum:"bolt,memory,postgres,redis" default:"bolt"`
	DataDir string `help:"Folder of the store's file, made if it is missing. By default $XDG_STATE_HOME/palimpsest, or ~/.local/state/palimpsest." env:"PALIMPSEST_DATA_DIR" type:"path" default:"${state_dir}" placeholder:"DIR"`
	DatabaseFlags
	MaxStoreSize bytesize.Size `help:"The most bytes the store's file may have, such as 10GiB; 0 sets no limit." env:"PALIMPSEST_MAX_STORE_SIZE" default:"0" placeholder:"SIZE"`
	CacheSize    bytesize.Size `help:"Memory for conversations in use, such as 64MiB; 0 keeps none, and each call reads the store. At most an eighth of the memory limit." env:"PALIMPSEST_CACHE_SIZE" default:"${cache_size}" placeholder:"SIZE"`

	ContentCacheBytes bytesize.Size `help:"Memory for contents and messages prepared for searches, such as 64MiB; 0 keeps none, and each search prepares them again. At most an eighth of the memory limit." env:"PALIMPSEST_CONTENT_CACHE_BYTES" default:"${content_cache_bytes}" placeholder:"SIZE"`

	LogLevel  string `help:"The least level that is logged: debug shows every call, and which models wrote no summary." env:"PALIMPSEST_LOG_LEVEL" enum:"debug,info,warn,error" default:"info"`
	LogFormat string `help:"How log lines are written, to standard error." env:"PALIMPSEST_LOG_FORMAT" enum:"json,console" default:"json"`

	DefaultPolicy      string         `help:"The policy of conversations that set none: a name (${policies}) or a YAML file, which may also say how long results of single tools live and which are cited (see docs/policies.md). Other --default flags come before it. If none is set, old results are pruned, and what outgrows the budget is summarized." env:"PALIMPSEST_DEFAULT_POLICY" placeholder:"NAME|FILE"`
	DefaultWindow      *int32         `help:"Context window in tokens, for conversations whose policy sets none; overrides model profiles." env:"PALIMPSEST_DEFAULT_WINDOW" placeholder:"TOKENS"`
	DefaultReserve     *int32         `help:"Tokens of the window left for the answer, for conversations whose policy sets none; overrides model profiles." env:"PALIMPSEST_DEFAULT_RESERVE" placeholder:"TOKENS"`
	DefaultMaxContext  *int32         `help:"The most tokens a context may weigh, for conversations whose policy sets none." env:"PALIMPSEST_DEFAULT_MAX_CONTEXT" placeholder:"TOKENS"`
	DefaultTarget      *int32         `help:"Where a summary and a cut of the window aim, in percent of the budget; ${target} if it is not set." env:"PALIMPSEST_DEFAULT_TARGET" placeholder:"PERCENT"`
	DefaultResultShare *int32         `help:"The most one tool result may take when it first enters a view, in percent of the budget; ${result_share} if it is not set." env:"PALIMPSEST_DEFAULT_RESULT_SHARE" placeholder:"PERCENT"`
	DefaultTTL         *time.Duration `help:"How long a conversation lives after its last append, such as 720h, if its policy does not say; forever if this is 0 or not set." env:"PALIMPSEST_DEFAULT_TTL" placeholder:"DURATION"`

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
