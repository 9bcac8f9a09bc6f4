package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

func TestSettings_Policy_LifecycleFlags(t *testing.T) {
	s := Private("")
	if got, want := policyOf(t, s).Hash(), (conversation.Policy{}).Hash(); got != want {
		t.Errorf("flags that are not set change the policy: %s, not %s", got, want)
	}
	turns, length, wait := int32(5), int32(800), 2*time.Second
	s.LifecycleFlags = LifecycleFlags{
		DefaultExpireTurns: &turns, DefaultExpireMode: expireCompact, DefaultCompactMode: compactSummary,
		DefaultCompactLength: &length, DefaultRewrite: rewriteEager, DefaultMaxWait: &wait,
	}
	got := policyOf(t, s)
	e := got.Expiration.Results
	if *e.Turns != 5 || e.Mode != conversation.ExpirationCompact || e.CompactMode != conversation.CompactSummary || *e.CompactLength != 800 ||
		got.Rewrite.Mode != conversation.RewriteEager || *got.MaxWait != wait {
		t.Errorf("%+v", got)
	}
	s.DefaultExpireMode = expireRemove
	if policyOf(t, s).Expiration.Results.Mode != conversation.ExpirationRemove {
		t.Error("remove is lost")
	}
}

func policyOf(t *testing.T, s *Settings) conversation.Policy {
	t.Helper()
	p, err := s.Policy()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestSettings_DefaultPolicy: a policy by name or file stands behind what single settings say.
func TestSettings_DefaultPolicy(t *testing.T) {
	s := Private(t.TempDir())
	s.DefaultPolicy, s.DefaultMaxContext = "sliding", new(int32(9000))
	p := policyOf(t, s)
	if p.Compaction.Strategy != conversation.StrategySlidingWindow || *p.Fit.MaxContextTokens != 9000 || *p.Fit.TargetPercent != 50 {
		t.Errorf("%+v", p)
	}
	deep := filepath.Join(t.TempDir(), "deep.yaml")
	if err := os.WriteFile(deep, []byte("conversation:\n  compaction: {target_percent: 60, tail_percent: 10}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.DefaultPolicy = deep
	if c := policyOf(t, s).Compaction; c.TargetPercent == nil || *c.TargetPercent != 60 {
		t.Errorf("%+v", c)
	}
	s.DefaultTarget = new(int32(30)) // comes before the target of the file's summaries too
	if p := policyOf(t, s); p.Compaction.TargetPercent != nil || *p.Fit.TargetPercent != 30 || *p.Compaction.TailPercent != 10 {
		t.Errorf("%+v", p)
	}
	s.DefaultPolicy = "no such policy"
	if err := s.Check(); err == nil || !strings.Contains(err.Error(), "--default-policy") {
		t.Errorf("%v", err)
	}
	file := filepath.Join(t.TempDir(), "p.yaml")
	if err := os.WriteFile(file, []byte("conversation:\n  compaction: {fan_out: 99}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.DefaultPolicy = file
	if err := s.Check(); err == nil || !strings.Contains(err.Error(), "fan_out") {
		t.Errorf("%v", err)
	}
}
