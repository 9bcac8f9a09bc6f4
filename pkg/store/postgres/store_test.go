package postgres

import (
	"fmt"
	"testing"

	"github.com/palimpsest-context/palimpsest/internal/dbtest"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/storetest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// schemaOf is the schema that a folder stands for.
func schemaOf(folder string) string { return fmt.Sprintf("t%016x", uint64(lockOf(folder))) }

func openWith(o Options) storetest.Factory {
	return func(t testing.TB, folder string) store.Store {
		t.Helper()
		o := o
		o.Schema = schemaOf(folder)
		s, err := Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
}

func TestStore_Contract(t *testing.T) {
	t.Parallel()
	storetest.RunCases(t, openWith(Options{DSN: dbtest.SharedPostgres(t).DSN, PoolSize: 8}), 25)
}

// TestStore_Contract_Pooled runs the suite through a pooler in transaction mode.
func TestStore_Contract_Pooled(t *testing.T) {
	t.Parallel()
	pooled(t, CacheDescribe)
}

// TestStore_Contract_PooledExec does so in a mode that every pooler stands, and TestStore_Contract_PooledSimple in the other.
func TestStore_Contract_PooledExec(t *testing.T) {
	t.Parallel()
	pooled(t, Exec)
}

func TestStore_Contract_PooledSimple(t *testing.T) {
	t.Parallel()
	pooled(t, Simple)
}

func pooled(t *testing.T, mode ExecMode) {
	t.Helper()
	b := dbtest.StartBouncer(t, dbtest.SharedPostgres(t))
	storetest.RunCases(t, openWith(Options{DSN: b.DSN, ExecMode: mode, PoolSize: 4}), 3)
}

func BenchmarkPostgres(b *testing.B) {
	storetest.Bench(b, openWith(Options{DSN: dbtest.SharedPostgres(b).DSN}))
}
