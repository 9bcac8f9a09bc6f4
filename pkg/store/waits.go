package store

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"
)

// Waits are the conversations that callers of Wait wait for, so that one poller of the process looks for all of them. The zero value is
// ready.
type Waits struct {
	mu       sync.Mutex
	versions map[Key]map[uint64]int // how many wait for the key to be past the version
	more     chan struct{}          // closed when a key comes that was not waited for
}

// Join has the key looked for until leave is called.
func (w *Waits) Join(key Key, version uint64) (leave func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.versions == nil {
		w.versions = make(map[Key]map[uint64]int)
	}
	if w.versions[key] == nil {
		w.versions[key] = make(map[uint64]int)
		if w.more != nil {
			close(w.more)
			w.more = nil
		}
	}
	w.versions[key][version]++
	return func() { w.leave(key, version) }
}

func (w *Waits) leave(key Key, version uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	of := w.versions[key]
	if of[version]--; of[version] == 0 {
		delete(of, version)
	}
	if len(of) == 0 {
		delete(w.versions, key)
	}
}

// Keys are those waited for, each with the lowest version, and what is closed when there are more.
func (w *Waits) Keys() (map[Key]uint64, <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.more == nil {
		w.more = make(chan struct{})
	}
	out := make(map[Key]uint64, len(w.versions))
	for key, of := range w.versions {
		out[key] = slices.Min(slices.Collect(maps.Keys(of)))
	}
	return out, w.more
}

// Each has somebody look at what is waited for, again and again while anybody waits, until ctx is done.
func (w *Waits) Each(ctx context.Context, look func(map[Key]uint64)) {
	for ctx.Err() == nil {
		keys, more := w.Keys()
		if len(keys) > 0 {
			look(keys)
			continue
		}
		select {
		case <-ctx.Done():
		case <-more:
		}
	}
}

// Pause waits as long as it says, or until ctx is done, and gives its error then.
func Pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// CutShort waits for the end of ctx, and gives its error, if that is so near that a look at a server had no time to succeed: connections
// notice a deadline a little before the context does.
func CutShort(ctx context.Context, err error) error {
	const early = 20 * time.Millisecond
	deadline, ok := ctx.Deadline()
	if !ok || !errors.Is(err, ErrUnavailable) || time.Until(deadline) > early {
		return err
	}
	<-ctx.Done()
	return ctx.Err()
}
