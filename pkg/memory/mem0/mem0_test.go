package mem0_test

import (
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/memory/mem0"
	"github.com/palimpsest-context/palimpsest/pkg/memory/mem0/mem0test"
	"github.com/palimpsest-context/palimpsest/pkg/memory/memorytest"
)

func key() string { return secret }

func target(t testing.TB, o mem0.Options) *mem0.Target {
	t.Helper()
	if o.APIKey == nil {
		o.APIKey = key
	}
	out, err := mem0.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(out.Close)
	return out
}

func lose(f *mem0test.Faults) func(testing.TB, memory.Target) {
	return func(testing.TB, memory.Target) { f.LoseAdd() }
}

func TestTarget_Platform_KeepsTheContract(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	open := func(t testing.TB) memory.Target {
		return target(t, mem0.Options{Kind: mem0.Platform, BaseURL: p.url})
	}
	memorytest.Run(t, open, memorytest.Options{Patience: 5 * time.Second, Lose: lose(p.Faults)})
}

func TestTarget_Server_KeepsTheContract(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	open := func(t testing.TB) memory.Target {
		return target(t, mem0.Options{Kind: mem0.Server, BaseURL: s.url})
	}
	memorytest.Run(t, open, memorytest.Options{Lose: lose(s.Faults)})
}
