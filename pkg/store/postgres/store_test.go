package postgres

import (
	"fmt"
	"os"
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

// TestStore_Contract_PooledInAllModes_Faults does so in the other modes that every pooler stands, where there is time.
func TestStore_Contract_PooledInAllModes_Faults(t *testing.T) {
	if os.Getenv(roundsVariable) == "" {
		t.Skip("it takes long: make faults runs it")
	}
	t.Parallel()
	pooled(t, Exec)
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
