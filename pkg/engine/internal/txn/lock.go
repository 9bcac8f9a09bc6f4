package txn

import (
	"context"
	"sync"

	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// keyLocks lets callers of one process take turns on a conversation, so that they do not make each other decide again.
// Correctness does not rest on it: the store compares versions.
type keyLocks struct {
	mu    sync.Mutex
	locks map[store.Key]*keyLock
}

type keyLock struct {
	turn  chan struct{} // holds one token while somebody has the lock
	users int
}

func newKeyLocks() *keyLocks { return &keyLocks{locks: make(map[store.Key]*keyLock)} }

// lock waits for its turn and returns what gives the turn to the next.
func (k *keyLocks) lock(ctx context.Context, key store.Key) (unlock func(), err error) {
	l := k.join(key)
	select {
	case l.turn <- struct{}{}:
		return func() { <-l.turn; k.leave(key, l) }, nil
	case <-ctx.Done():
		k.leave(key, l)
		return nil, ctx.Err()
	}
}

func (k *keyLocks) join(key store.Key) *keyLock {
	k.mu.Lock()
	defer k.mu.Unlock()
	l := k.locks[key]
	if l == nil {
		l = &keyLock{turn: make(chan struct{}, 1)}
		k.locks[key] = l
	}
	l.users++
	return l
}

func (k *keyLocks) leave(key store.Key, l *keyLock) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if l.users--; l.users == 0 {
		delete(k.locks, key)
	}
}
