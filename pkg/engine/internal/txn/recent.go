package txn

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/palimpsest-context/palimpsest/pkg/store"
)

const (
	// recentHeads is how many conversations Recent remembers, and recentFor for how long. With a shared store another process may have
	// changed the conversation, and a wrong guess costs a call.
	recentHeads = 1024
	recentFor   = 30 * time.Second
	// recentBytes is how many bytes are remembered of one conversation at most, besides the fixed size of an entry.
	recentBytes = 4 << 10
	// maxEpochs is how many epochs are remembered: a cluster has one for each of its servers.
	maxEpochs = 1024
)

// Recent is a store that remembers the heads that this process's commits made, so that the next change can be decided without reading.
// Whether a remembered head still holds shows when that change is committed.
type Recent struct {
	store.Store
	clock func() time.Time

	mu       sync.Mutex
	heads    *simplelru.LRU[store.Key, recent]
	epochs   map[string]struct{}
	newEpoch func()
}

// recent is what this process last saw of a conversation.
type recent struct {
	head store.Head
	info store.Info
	at   time.Time
}

// own returns a copy that shares no slices which callers may change.
func (r recent) own() recent {
	r.head.Unanswered, r.head.Pins = slices.Clone(r.head.Unanswered), slices.Clone(r.head.Pins)
	return r
}

// NewRecent returns a store that remembers.
func NewRecent(s store.Store, clock func() time.Time) *Recent {
	r := &Recent{Store: s, clock: clock, epochs: map[string]struct{}{}, newEpoch: func() {}}
	r.heads, _ = simplelru.NewLRU[store.Key, recent](recentHeads, nil) // the error is always nil, because the size is positive
	return r
}

// OnEpoch sets a function that is called when the store turns out to be in an unknown epoch: what was read before may be gone. It must be
// set before the first call.
func (r *Recent) OnEpoch(changed func()) { r.newEpoch = changed }

// Guess returns what this process remembers of a conversation; nil if it remembers nothing.
func (r *Recent) Guess(key store.Key) *store.Snapshot {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, ok := r.heads.Get(key)
	if !ok || r.clock().Sub(known.at) > recentFor {
		return nil
	}
	known = known.own()
	return &store.Snapshot{Head: known.head, Info: &known.info}
}

// Forget drops what is remembered of a conversation, because it was wrong.
func (r *Recent) Forget(key store.Key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.heads.Remove(key)
}

// Read implements store.Store.
func (r *Recent) Read(ctx context.Context, key store.Key, q store.Query) (*store.Snapshot, error) {
	snap, err := r.Store.Read(ctx, key, q)
	if err != nil {
		return nil, err
	}
	if snap.Head.Epoch != "" {
		r.noteEpoch(snap.Head.Epoch)
	}
	if snap.Info != nil && snap.Head.State == store.Live {
		r.remember(key, recent{head: snap.Head, info: *snap.Info, at: r.clock()})
	}
	return snap, nil
}

// noteEpoch drops everything at the first read of an epoch. The function of OnEpoch runs first: whoever finds the epoch known may trust all
// caches.
func (r *Recent) noteEpoch(epoch string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.epochs[epoch]; known {
		return
	}
	r.newEpoch()
	r.heads.Purge()
	if len(r.epochs) >= maxEpochs {
		clear(r.epochs)
	}
	r.epochs[epoch] = struct{}{}
}

// size is about how many bytes an entry takes besides its fixed size.
func (r recent) size() int {
	const call, pin = 64, 8
	return len(r.info.Metadata) + len(r.info.Title) + len(r.head.CallIDs) + call*len(r.head.Unanswered) + pin*len(r.head.Pins)
}

// remember keeps the newest version: reads and commits may return in another order than they were made.
func (r *Recent) remember(key store.Key, now recent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.size() > recentBytes {
		r.heads.Remove(key)
		return
	}
	if was, ok := r.heads.Peek(key); ok && was.head.Incarnation == now.head.Incarnation && was.head.Version > now.head.Version {
		return
	}
	r.heads.Add(key, now.own())
}

// Commit implements store.Store.
func (r *Recent) Commit(ctx context.Context, key store.Key, c *store.Change) error {
	err := r.Store.Commit(ctx, key, c)
	switch {
	case c.Aside && err == nil:
	case err != nil || c.Head.State != store.Live || decidedWithoutRead(c):
		r.Forget(key)
	default:
		r.committed(key, c)
	}
	return err
}

// decidedWithoutRead reports whether a change may have been decided without a read. Then the epoch that it belongs to is unknown.
func decidedWithoutRead(c *store.Change) bool { return c.Info != nil && c.Head.Epoch == "" }

// committed remembers the head of a commit. The attributes are those of the commit or, if it has none, those remembered of the version
// before.
func (r *Recent) committed(key store.Key, c *store.Change) {
	now := recent{head: c.Head, at: r.clock()}
	if c.Info != nil {
		now.info = *c.Info
	} else {
		r.mu.Lock()
		was, ok := r.heads.Peek(key)
		r.mu.Unlock()
		if !ok || was.head.Incarnation != c.Head.Incarnation || was.head.Version != c.Expect {
			return
		}
		now.info = was.info
	}
	r.remember(key, now)
}

// Delete implements store.Store.
func (r *Recent) Delete(ctx context.Context, key store.Key, d store.Deletion) (bool, error) {
	r.Forget(key)
	return r.Store.Delete(ctx, key, d)
}
