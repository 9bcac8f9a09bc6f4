package bolt

import (
	"path/filepath"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/storetest"
)

func openIn(t testing.TB, folder string) store.Store {
	t.Helper()
	s, err := Open(filepath.Join(folder, "store.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStore_Contract(t *testing.T) { storetest.Run(t, openIn) }

func BenchmarkBolt(b *testing.B) { storetest.Bench(b, openIn) }
