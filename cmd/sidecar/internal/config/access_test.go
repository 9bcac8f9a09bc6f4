package config

import (
	"strings"
	"testing"
)

func TestSettings_CheckAccess_SaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*Settings){
		"can be reached from other machines":          func(s *Settings) { s.Listen = []string{"0.0.0.0:1"} },
		"not both credentials and TLS":                func(s *Settings) { s.Listen, s.Credentials = []string{":1"}, "f" },
		"set --credentials, --tls-cert and --tls-key": func(s *Settings) { s.Listen, s.TLSCert, s.TLSKey = []string{"[::]:1"}, "c", "k" },
		"--tls-cert and --tls-key go together":        func(s *Settings) { s.TLSCert = "c" },
		"--tls-client-ca needs --tls-cert":            func(s *Settings) { s.TLSClientCA = "c" },
		"--tls-client-ca needs --credentials":         func(s *Settings) { s.TLSCert, s.TLSKey, s.TLSClientCA = "c", "k", "a" },
		"--namespace is for a sidecar without":        func(s *Settings) { s.Namespace, s.Credentials = "a", "f" },
		"--namespace: a namespace's name":             func(s *Settings) { s.Namespace = "A/B" },
		"need a Unix socket":                          func(s *Settings) { s.SocketMode = 0o660 },
		"--pprof must be a loopback address":          func(s *Settings) { s.Pprof = "0.0.0.0:6060" },
	} {
		s := Private(t.TempDir())
		change(s)
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("check = %v, want %q", err, want)
		}
	}
	operators := Private(t.TempDir())
	operators.Ops, operators.SocketMode = "unix:///run/ops.sock", 0o660
	if err := operators.Check(); err != nil {
		t.Errorf("a Unix socket for operators alone: %v", err)
	}
	all := Private(t.TempDir())
	all.Listen, all.Credentials, all.TLSCert, all.TLSKey = []string{"0.0.0.0:1"}, "f", "c", "k"
	if err := all.Check(); err != nil {
		t.Error(err)
	}
}
