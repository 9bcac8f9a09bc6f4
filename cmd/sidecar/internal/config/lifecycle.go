package config

import (
	"errors"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// LifecycleFlags are the parts of the default policy that say when old text changes.
type LifecycleFlags struct {
	DefaultExpireTurns   *int32         `help:"Turns for which results of tools and actions stay in full after their own, where nothing else says so." env:"PALIMPSEST_DEFAULT_EXPIRE_TURNS" placeholder:"TURNS"`
	DefaultExpireMode    string         `help:"What happens then: none, remove or compact." env:"PALIMPSEST_DEFAULT_EXPIRE_MODE" enum:"none,remove,compact" default:"none"`
	DefaultCompactMode   string         `help:"How they are compacted: first-chars, or summary (by --summary-models, else an extract)." env:"PALIMPSEST_DEFAULT_COMPACT_MODE" enum:"first-chars,summary" default:"first-chars"`
	DefaultCompactLength *int32         `help:"Characters that compaction leaves, or a summary aims at; by default 500." env:"PALIMPSEST_DEFAULT_COMPACT_LENGTH" placeholder:"CHARACTERS"`
	DefaultRewrite       string         `help:"When due changes of old text are made: coalesced (together, when the provider's prompt cache makes that pay) or eager (at once)." env:"PALIMPSEST_DEFAULT_REWRITE" enum:"coalesced,eager" default:"coalesced"`
	DefaultMaxWait       *time.Duration `help:"How long one build waits for summaries; by default 3s." env:"PALIMPSEST_DEFAULT_MAX_WAIT" placeholder:"DURATION"`
}

// The words of the settings.
const (
	expireNone    = "none"
	expireRemove  = "remove"
	expireCompact = "compact"

	compactSummary = "summary"

	rewriteEager = "eager"
)

func (s *LifecycleFlags) checkLifecycle() error {
	return errors.Join(
		within("default-expire-turns", s.DefaultExpireTurns, 0, 1_000_000),
		within("default-compact-length", s.DefaultCompactLength, 1, 1_000_000),
		s.checkExpiry(),
		unless(between(s.DefaultMaxWait, 0, time.Minute), "--default-max-wait must be 0s to 60s"),
	)
}

func (s *LifecycleFlags) checkExpiry() error {
	expires := s.DefaultExpireMode == expireRemove || s.DefaultExpireMode == expireCompact
	switch {
	case expires && s.DefaultExpireTurns == nil:
		return errors.New("--default-expire-mode needs --default-expire-turns: nothing expires without it")
	case !expires && s.DefaultExpireTurns != nil:
		return errors.New("--default-expire-turns needs --default-expire-mode remove or compact: nothing expires without it")
	default:
		return nil
	}
}

// expiration is the default for results. What a setting's default stands for is left unset: a policy that sets nothing keeps
// its hash.
func (s *LifecycleFlags) expiration() conversation.Expiration {
	e := conversation.Expiration{Turns: s.DefaultExpireTurns, CompactLength: s.DefaultCompactLength}
	switch s.DefaultExpireMode {
	case expireRemove:
		e.Mode = conversation.ExpirationRemove
	case expireCompact:
		e.Mode = conversation.ExpirationCompact
	}
	if s.DefaultCompactMode == compactSummary {
		e.CompactMode = conversation.CompactSummary
	}
	return e
}

func (s *LifecycleFlags) rewriteMode() conversation.RewriteMode {
	if s.DefaultRewrite == rewriteEager {
		return conversation.RewriteEager
	}
	return conversation.RewriteUnspecified
}
