package postgres

import (
	"context"
	"maps"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// Wait implements store.Store. A commit of this process ends it at once, and a commit of another process when the poller
// sees it.
func (s *Store) Wait(ctx context.Context, key store.Key, version uint64) error {
	if err := s.gate.Enter(ctx, key); err != nil {
		return err
	}
	s.gate.Leave() // Close does not wait for this call; it ends it
	defer s.poller.waits.Join(key, version)()
	return s.wakes.Wait(ctx, key, func() (past bool, err error) {
		snap, err := s.Read(ctx, key, store.Query{})
		if err != nil {
			return false, store.CutShort(ctx, ignoreAbsent(err))
		}
		return snap.Head.Version > version, nil
	})
}

// poller asks, for everybody who waits, which conversations have moved.
type poller struct {
	s         *Store
	waits     store.Waits
	listening atomic.Bool
}

// run polls while anybody waits.
func (p *poller) run(run context.Context) {
	p.waits.Each(run, func(waited map[store.Key]uint64) {
		if store.Pause(run, p.every()) == nil {
			p.poll(run, waited)
		}
	})
}

// every is the interval of polling. If other processes tell about their commits, polling only finds what they could not
// tell.
func (p *poller) every() time.Duration {
	if p.listening.Load() {
		return 10 * p.s.options.PollInterval
	}
	return p.s.options.PollInterval
}

const movedSQL = `SELECT w.n FROM unnest($1::bytea[], $2::bytea[], $3::bigint[]) WITH ORDINALITY AS w(namespace, conversation, version, n)
 JOIN {s}.conversations c ON c.namespace = w.namespace AND c.conversation = w.conversation WHERE c.version > w.version`

// poll wakes callers whose conversations have moved. If asking fails, it asks again at the next turn.
func (p *poller) poll(run context.Context, waited map[store.Key]uint64) {
	keys := slices.Collect(maps.Keys(waited))
	namespaces, names, versions := make([][]byte, len(keys)), make([][]byte, len(keys)), make([]int64, len(keys))
	for i, key := range keys {
		namespaces[i], names[i], versions[i] = []byte(key.Namespace), []byte(key.Conversation), int64(min(waited[key], math.MaxInt64))
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
