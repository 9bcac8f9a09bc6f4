package memorytest_test

import (
	"sync/atomic"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/memory/memorytest"
)

// The suite holds the target that tests are made with to every promise, given and not given.
func TestReference_KeepsTheContract(t *testing.T) {
	t.Parallel()
	for name, limits := range map[string]memory.Limits{
		"promises all":     {Concurrency: 8, Idempotent: true, ReturnsIDs: true, ForgetsOne: true},
		"must be asked":    {Concurrency: 1, ReturnsIDs: true, ForgetsOne: true},
		"late":             {Concurrency: 8, Async: true, ReturnsIDs: true, ForgetsOne: true},
		"promises nothing": {Concurrency: 2, Async: true},
	} {
		limits.MaxMessages, limits.MaxChars, limits.MaxNote = 20, 100_000, 10_000
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			open := func(testing.TB) memory.Target { return memorytest.NewReference(limits) }
			memorytest.Run(t, open, memorytest.Options{Lose: loseOnce})
		})
	}
}

func loseOnce(_ testing.TB, target memory.Target) {
	var lost atomic.Bool
	reference, _ := target.(*memorytest.Reference)
	reference.Break(func(call string) memorytest.Fault {
		if (call == "Add" || call == "Put") && lost.CompareAndSwap(false, true) {
			return memorytest.Fault{After: memory.ErrOutcomeUnknown}
		}
		return memorytest.Fault{}
	})
}
