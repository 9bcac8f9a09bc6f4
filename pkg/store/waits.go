package store

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"
)

// Waits holds the conversations that callers of Wait wait for, so that one poller per process can check all of them. The zero value is
// ready for use.
type Waits struct {
	mu       sync.Mutex
	versions map[Key]map[uint64]int // number of callers that wait for the key to be past the version
	more     chan struct{}          // closed when a key is added that was not waited for
}

// Join adds the key until leave is called.
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

// Keys returns the keys that are waited for, each with the lowest version, and a channel that is closed when there are more.
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

// Each calls look with what is waited for, again and again while anybody waits, until ctx is done.
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

// Pause waits for d, or until ctx is done; it returns the error of ctx then.
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

// CutShort returns the error to report for err. If err is ErrUnavailable and the deadline of ctx is so near that a look at a server had
// no time to succeed, it waits for the deadline and returns the error of ctx: connections notice a deadline a little earlier than the
// context does. Otherwise it returns err.
func CutShort(ctx context.Context, err error) error {
	const early = 20 * time.Millisecond
	deadline, ok := ctx.Deadline()
	if !ok || !errors.Is(err, ErrUnavailable) || time.Until(deadline) > early {
		return err
	}
	<-ctx.Done()
	return ctx.Err()
}
