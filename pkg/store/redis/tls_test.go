package redis_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/internal/dbtest"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/redis"
)

// TestOpen_TLS_VerifiesTheServer: by the authority that the URL names, and by where it leads.
func TestOpen_TLS_VerifiesTheServer(t *testing.T) {
	t.Parallel()
	own, other := dbtest.NewAuthority(t), dbtest.NewAuthority(t)
	address := dbtest.StartRedisTLS(t, own)
	s := closing(t, open(t, redis.Options{URL: "rediss://" + address + "?ca_file=" + own.CAFile}))
	k := newTalk(0)
	must(t, k.append(t.Context(), s))
	must(t, k.append(t.Context(), s))
	if snap, err := s.Read(t.Context(), k.key, store.Query{}); err != nil || snap.Head.Version != 2 {
		t.Errorf("%v: %v", snap, err)
	}
	for what, url := range map[string]string{
		"another authority":      "rediss://" + address + "?ca_file=" + other.CAFile,
		"those of the system":    "rediss://" + address,
		"another name":           "rediss://" + strings.Replace(address, "127.0.0.1", "localhost", 1) + "?ca_file=" + own.CAFile,
		"without TLS":            "redis://" + address,
		"a store without a file": "rediss://" + address + "?ca_file=" + filepath.Join(t.TempDir(), "none"),
	} {
		_, err := redis.Open(t.Context(), redis.Options{URL: url})
		if err == nil || strings.Contains(err.Error(), address) {
			t.Errorf("%s: %v", what, err)
		}
		if strings.HasPrefix(what, "another") && !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestOpen_FileOfAuthorities_IsOneAndForTLS.
func TestOpen_FileOfAuthorities_IsOneAndForTLS(t *testing.T) {
	t.Parallel()
	empty := filepath.Join(t.TempDir(), "empty")
	must(t, os.WriteFile(empty, []byte("nothing"), 0o600))
	for _, url := range []string{"redis://127.0.0.1:1?ca_file=" + empty, "rediss://127.0.0.1:1?ca_file=" + empty} {
		if _, err := redis.Open(t.Context(), redis.Options{URL: url}); err == nil || errors.Is(err, store.ErrUnavailable) {
			t.Errorf("%s: %v", url, err)
		}
	}
}
