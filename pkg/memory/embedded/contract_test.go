package embedded_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/memory/embedded"
	"github.com/palimpsest-context/palimpsest/pkg/memory/memorytest"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/bolt"
)

// losing is a store that makes the next commit and loses its answer, if it is asked to.
type losing struct {
	store.Store
	next chan struct{}
}

func (l *losing) Commit(ctx context.Context, key store.Key, c *store.Change) error {
	err := l.Store.Commit(ctx, key, c)
	select {
	case <-l.next:
		return store.ErrOutcomeUnknown
	default:
		return err
	}
}

func suite(t *testing.T, s store.Store, change func(*embedded.Options)) {
	l := &losing{Store: s, next: make(chan struct{}, 1)}
	w := newWorld(l)
	o := w.options()
	if change != nil {
		change(&o)
	}
	open := func(testing.TB) memory.Target { return w.with(o) }
	memorytest.Run(t, open, memorytest.Options{Lose: func(testing.TB, memory.Target) { l.next <- struct{}{} }})
}

func TestTarget_OverMemory_KeepsTheContract(t *testing.T) {
	t.Parallel()
	suite(t, memoryWorld(t).store, nil)
}

func TestTarget_WithoutCache_KeepsTheContract(t *testing.T) {
	t.Parallel()
	suite(t, memoryWorld(t).store, func(o *embedded.Options) { o.Cache = nil })
}

func TestTarget_OverBolt_KeepsTheContract(t *testing.T) {
	t.Parallel()
	s := openBolt(t, filepath.Join(t.TempDir(), "store"))
	suite(t, s, nil)
}

func openBolt(t testing.TB, path string) store.Store {
	t.Helper()
	s, err := bolt.Open(path, bolt.Options{LockTimeout: time.Second})
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}
