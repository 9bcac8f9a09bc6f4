package postgres

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// Wait implements store.Store. A commit of this process ends it at once, one of another when the poller sees it.
func (s *Store) Wait(ctx context.Context, key store.Key, version uint64) error {
	leave, err := s.enter(ctx, key)
	if err != nil {
		return err
	}
	leave() // Close does not wait for it: it ends it
	defer s.poller.watch(key, version)()
	return s.wakes.Wait(ctx, key, func() (past bool, err error) {
		snap, err := s.Read(ctx, key, store.Query{})
		if err != nil {
			return false, overtaken(ctx, ignoreAbsent(err))
		}
		return snap.Head.Version > version, nil
	})
}

// nearly is how long before the end of a wait a look that fails is taken to have failed for want of time.
const nearly = 20 * time.Millisecond

// overtaken waits for the end of ctx, and gives its error, if that is so near that a look had no time to succeed.
func overtaken(ctx context.Context, err error) error {
	deadline, ok := ctx.Deadline()
	if !ok || !errors.Is(err, store.ErrUnavailable) || time.Until(deadline) > nearly {
		return err
	}
	<-ctx.Done()
	return ctx.Err()
}

// poller asks, for all who wait, which conversations have moved.
type poller struct {
	s    *Store
	kick chan struct{}

	mu        sync.Mutex
	waits     map[store.Key]map[uint64]int // how many wait for the key to be past the version
	listening bool
}

func newPoller(s *Store) *poller {
	return &poller{s: s, kick: make(chan struct{}, 1), waits: make(map[store.Key]map[uint64]int)}
}

// watch has the key asked for until done is called.
func (p *poller) watch(key store.Key, version uint64) (done func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waits[key] == nil {
		p.waits[key] = make(map[uint64]int)
	}
	p.waits[key][version]++
	select {
	case p.kick <- struct{}{}:
	default:
	}
	return func() { p.leave(key, version) }
}

func (p *poller) leave(key store.Key, version uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	versions := p.waits[key]
	if versions[version]--; versions[version] == 0 {
		delete(versions, version)
	}
	if len(versions) == 0 {
		delete(p.waits, key)
	}
}

// waited is what is waited for, each key with the lowest version.
func (p *poller) waited() (keys []store.Key, versions []int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, of := range p.waits {
		lowest := uint64(math.MaxInt64)
		for v := range of {
			lowest = min(lowest, v)
		}
		keys, versions = append(keys, key), append(versions, int64(lowest))
	}
	return keys, versions
}

// run polls while anybody waits.
func (p *poller) run(run context.Context) {
	for {
		keys, versions := p.waited()
		if len(keys) == 0 {
			select {
			case <-run.Done():
				return
			case <-p.kick:
				continue
			}
		}
		pause(run, p.every())
		if run.Err() != nil {
			return
		}
		p.poll(run, keys, versions)
	}
}

// every: where others tell of their commits, polling is for what they could not tell.
func (p *poller) every() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listening {
		return 10 * p.s.options.PollInterval
	}
	return p.s.options.PollInterval
}

const movedSQL = `SELECT w.n FROM unnest($1::bytea[], $2::bytea[], $3::bigint[]) WITH ORDINALITY AS w(namespace, conversation, version, n)
 JOIN {s}.conversations c ON c.namespace = w.namespace AND c.conversation = w.conversation WHERE c.version > w.version`

// poll wakes who waits for what has moved. What cannot be asked is asked again.
func (p *poller) poll(run context.Context, keys []store.Key, versions []int64) {
	namespaces, names := make([][]byte, len(keys)), make([][]byte, len(keys))
	for i, key := range keys {
		namespaces[i], names[i] = []byte(key.Namespace), []byte(key.Conversation)
	}
	_ = p.s.rows(run, movedSQL, func(rows pgx.Rows) error {
		var n int
		if err := rows.Scan(&n); err != nil {
			return err
		}
		p.s.wakes.Wake(keys[n-1])
		return nil
	}, namespaces, names, versions)
}
