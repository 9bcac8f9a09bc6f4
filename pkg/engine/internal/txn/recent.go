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
	// recentHeads is how many conversations Recent knows, and recentFor how long: with a shared store another process may have moved on, and a
	// guess that is wrong costs a call.
	recentHeads = 1024
	recentFor   = 30 * time.Second
	// recentBytes is what is remembered of one at most, beside what all have.
	recentBytes = 4 << 10
	// maxEpochs bounds what is known of them: a cluster has one for each of its servers.
	maxEpochs = 1024
)

// Recent is a store that remembers what the commits of this process made of conversations, so that the next change can be decided without
// reading. Whether it still holds, the store finds out when that is committed.
type Recent struct {
	store.Store
	clock func() time.Time

	mu       sync.Mutex
	heads    *simplelru.LRU[store.Key, recent]
	epochs   map[string]struct{}
	newEpoch func()
}

// recent is what a commit made of a conversation.
type recent struct {
	head store.Head
	info store.Info
	at   time.Time
}

// own returns it without what others may change.
func (r recent) own() recent {
	r.head.Unanswered, r.head.Pins = slices.Clone(r.head.Unanswered), slices.Clone(r.head.Pins)
	return r
}

// NewRecent returns a store that remembers.
func NewRecent(s store.Store, clock func() time.Time) *Recent {
	r := &Recent{Store: s, clock: clock, epochs: map[string]struct{}{}, newEpoch: func() {}}
	r.heads, _ = simplelru.NewLRU[store.Key, recent](recentHeads, nil) // an error would mean that the number is not positive
	return r
}

// OnEpoch has a function called when the store is in an epoch that was not known: what was read of it before may be gone. It must be set
// before the first call.
func (r *Recent) OnEpoch(changed func()) { r.newEpoch = changed }

// Guess is what a conversation is, as far as this process knows; nil if it does not.
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

// Forget says that what is known of a conversation was wrong.
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

// noteEpoch forgets everything with the first read of an epoch. What others forget comes first: who finds the epoch known may trust what there is.
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

// size is about how many bytes it takes beside what all take.
func (r recent) size() int {
	const call, pin = 64, 8
	return len(r.info.Metadata) + len(r.info.Title) + len(r.head.CallIDs) + call*len(r.head.Unanswered) + pin*len(r.head.Pins)
}

// remember keeps the newest of what is known: reads and commits may come back in another order than they were made.
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
	case err != nil || c.Head.State != store.Live || isUnread(c):
		r.Forget(key)
	default:
		r.committed(key, c)
	}
	return err
}

// isUnread says whether a change may rest on no read: then nobody knows the epoch in which it stands.
func isUnread(c *store.Change) bool { return c.Info != nil && c.Head.Epoch == "" }

// committed remembers a head; the attributes are those that came with it, or those of the version before, if they are known.
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
