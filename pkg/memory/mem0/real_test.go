package mem0_test

import (
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/memory/mem0"
	"github.com/palimpsest-context/palimpsest/pkg/memory/mem0/mem0test"
	"github.com/palimpsest-context/palimpsest/pkg/memory/memorytest"
)

func realTarget(t testing.TB, s *mem0test.Server, key string) *mem0.Target {
	t.Helper()
	return target(t, mem0.Options{Kind: mem0.Server, BaseURL: s.URL, APIKey: func() string { return key }})
}

func TestTarget_RealServer_KeepsTheContract(t *testing.T) {
	t.Parallel()
	s := mem0test.Start(t)
	open := func(t testing.TB) memory.Target { return realTarget(t, s, mem0test.AdminKey) }
	memorytest.Run(t, open, memorytest.Options{Lose: lose(s.Faults)})
}
