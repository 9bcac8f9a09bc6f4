package postgres

import (
	"errors"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/internal/dbtest"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// TestOpen_VerifyFull_VerifiesTheServer: by the authority that the DSN names, and by where it leads.
func TestOpen_VerifyFull_VerifiesTheServer(t *testing.T) {
	t.Parallel()
	own, other := dbtest.NewAuthority(t), dbtest.NewAuthority(t)
	address := dbtest.StartPostgresTLS(t, own)
	dsn := func(address, authority string) string {
		return "postgres://palimpsest@" + address + "/postgres?sslmode=verify-full&sslrootcert=" + authority
	}
	s := opened(t, Options{DSN: dsn(address, own.CAFile)})
	k := newTalk(0)
	must(t, k.commit(t.Context(), s, k.change()))
	var encrypted bool
	must(t, s.pool.QueryRow(t.Context(), "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()").Scan(&encrypted))
	if !encrypted {
		t.Error("the connection is open to anybody")
	}
	for what, dsn := range map[string]string{
		"another authority": dsn(address, other.CAFile),
		"another name":      dsn(strings.Replace(address, "127.0.0.1", "localhost", 1), own.CAFile),
	} {
		if _, err := Open(t.Context(), Options{DSN: dsn}); !errors.Is(err, store.ErrUnavailable) || strings.Contains(err.Error(), address) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
