package memory_test

import (
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/memory"
	"github.com/palimpsest-context/palimpsest/pkg/store/storetest"
)

func open(testing.TB, string) store.Store { return memory.New(memory.Options{}) }

func TestStore_Contract(t *testing.T) { storetest.Run(t, open) }

func BenchmarkMemory(b *testing.B) { storetest.Bench(b, open) }
