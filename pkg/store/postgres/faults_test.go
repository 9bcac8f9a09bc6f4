package postgres

import (
	"context"
	"errors"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/palimpsest-context/palimpsest/internal/dbtest"
	"github.com/palimpsest-context/palimpsest/internal/testlane"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// health keeps what OnState said.
type health struct{ states chan error }

func newHealth() *health { return &health{states: make(chan error, 100)} }

func (h *health) set(reason error) { h.states <- reason }

func (h *health) next(t *testing.T) error {
	t.Helper()
	select {
	case reason := <-h.states:
		return reason
	case <-time.After(10*time.Second + testlane.Beside):
		t.Fatal("nobody is told")
		return nil
	}
}

func TestStore_ServerGone_IsUnavailableAndComesBack(t *testing.T) {
	t.Parallel()
	p := dbtest.StartPostgres(t)
	h := newHealth()
	s := opened(t, Options{DSN: p.DSN, OnState: h.set})
	k := newTalk(0)
	must(t, k.append(t.Context(), s))
	before := epochOf(t, s)
	p.Immediate()
	for range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		_, err := s.Read(ctx, k.key, store.Query{})
		if !errors.Is(err, store.ErrUnavailable) || ctx.Err() != nil {
			t.Errorf("read: %v, the deadline: %v", err, ctx.Err())
		}
		if err := k.append(ctx, s); !errors.Is(err, store.ErrUnavailable) || ctx.Err() != nil {
			t.Errorf("commit: %v, the deadline: %v", err, ctx.Err())
		}
		cancel()
	}
	if h.next(t) == nil {
		t.Error("the first word is that all is well")
	}
	must(t, p.Start())
	if reason := h.next(t); reason != nil {
		t.Error(reason)
	}
	must(t, k.append(t.Context(), s))
	if after := epochOf(t, s); after != before {
		t.Errorf("a restart that loses nothing began an epoch: %s, %s", before, after)
	}
}

// TestStore_ServerRestarted_BreaksOneCall: what breaks one connection of the pool has broken all of them. If commits found that out one by
// one, each would have an unknown outcome.
func TestStore_ServerRestarted_BreaksOneCall(t *testing.T) {
	t.Parallel()
	p := dbtest.StartPostgres(t)
	s := opened(t, Options{DSN: p.DSN, PoolSize: 8})
	var held []*pgxpool.Conn
	for range 8 {
		conn, err := s.pool.Acquire(t.Context())
		must(t, err)
		held = append(held, conn)
	}
	for _, conn := range held {
		conn.Release()
	}
	p.Immediate()
	must(t, p.Start())
	_, err := s.Read(t.Context(), keyOf(0), store.Query{})
	if !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
	await(t, func() bool { return s.pool.Stat().TotalConns() < 3 })
	for i := range 8 {
		must(t, newTalk(i).append(t.Context(), s))
	}
}

// TestStore_StagedLeftovers_GiveWay: staged records past the committed end do not make an append fail.
func TestStore_StagedLeftovers_GiveWay(t *testing.T) {
	t.Parallel()
	s := opened(t, Options{DSN: dbtest.SharedPostgres(t).DSN})
	k := newTalk(0)
	var staged []conversation.Message
	for range 3 {
		c := k.appending()
		staged = append(staged, c.Messages...)
		k.head.Messages++
	}
	must(t, s.Stage(t.Context(), k.key, &store.Upload{Incarnation: k.head.Incarnation, Time: testTime(), Messages: staged}))
	k.head.Messages = 1
	must(t, k.commit(t.Context(), s, k.change()))
	k.text = "new words"
	must(t, k.append(t.Context(), s))
	snap, err := s.Read(t.Context(), k.key, store.Query{Ranges: []store.MessageRange{{Range: conversation.Range{First: 1, End: 2}}}})
	must(t, err)
	if got := snap.Messages[0].Parts[0].Text.Inline; got != k.text {
		t.Errorf("%q lies where something else was appended", got)
	}
}

// TestStore_ServerStopped_OutcomeIsUnknown: the server stops answering. A call that has begun is not ended by its caller.
func TestStore_ServerStopped_OutcomeIsUnknown(t *testing.T) {
	t.Parallel()
	p := dbtest.StartPostgres(t)
	s := opened(t, Options{DSN: p.DSN, CommitTimeout: time.Second, ReadTimeout: time.Second})
	k := newTalk(0)
	must(t, k.append(t.Context(), s))
	p.SignalAll(t, syscall.SIGSTOP)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	start := time.Now()
	if err := k.append(ctx, s); !errors.Is(err, store.ErrOutcomeUnknown) {
		t.Errorf("commit: %v", err)
	}
	if took := time.Since(start); took < 900*time.Millisecond {
		t.Errorf("the caller's deadline cut a commit after %v", took)
	}
	start = time.Now()
	if _, err := s.Read(t.Context(), k.key, store.Query{}); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("read: %v", err)
	}
	if took := time.Since(start); took > testlane.Slack(6*time.Second) {
		t.Errorf("a read without a deadline took %v", took)
	}
	p.SignalAll(t, syscall.SIGCONT)
	snap, err := s.Read(t.Context(), k.key, store.Query{})
	must(t, err)
	if v := snap.Head.Version; v != 1 && v != 2 {
		t.Errorf("version %d", v)
	}
}

func TestStore_PoolExhausted_WaitsAndIsUnavailable(t *testing.T) {
	t.Parallel()
	h := newHealth()
	s := opened(t, Options{DSN: dbtest.SharedPostgres(t).DSN, PoolSize: 1, AcquireTimeout: 300 * time.Millisecond, OnState: h.set})
	k := newTalk(0)
	must(t, k.append(t.Context(), s))
	conn, err := s.pool.Acquire(t.Context())
	must(t, err)
	if err := k.append(t.Context(), s); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("commit: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := s.Read(ctx, k.key, store.Query{}); !errors.Is(err, store.ErrUnavailable) || ctx.Err() != nil {
		t.Errorf("read: %v, the deadline: %v", err, ctx.Err())
	}
	cancelled, end := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, end)
	if _, err := s.Read(cancelled, k.key, store.Query{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled read: %v", err)
	}
	conn.Release()
	must(t, k.append(t.Context(), s))
	select {
	case reason := <-h.states:
		t.Errorf("a busy pool is told of as an outage: %v", reason)
	default:
	}
}

// TestStore_BusyConversation_LeavesConnections: one conversation takes one connection, however many commit to it.
func TestStore_BusyConversation_LeavesConnections(t *testing.T) {
	t.Parallel()
	dsn := dbtest.SharedPostgres(t).DSN
	s := opened(t, Options{DSN: dsn, PoolSize: 2})
	k, other := newTalk(0), newTalk(1)
	must(t, k.append(t.Context(), s))
	must(t, other.append(t.Context(), s))
	conn, err := s.pool.Acquire(t.Context()) // another process, that holds the row
	must(t, err)
	tx, err := conn.Begin(t.Context())
	must(t, err)
	_, err = tx.Exec(t.Context(), s.sql(`SELECT FROM {s}.conversations WHERE conversation = $1 FOR UPDATE`), []byte(k.key.Conversation))
	must(t, err)
	conn2 := opened(t, Options{DSN: dsn, Schema: s.options.Schema, PoolSize: 2})
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() { _ = conn2.Commit(context.Background(), k.key, k.appending()) })
	}
	time.Sleep(50 * time.Millisecond)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second+testlane.Beside)
	defer cancel()
	must(t, other.append(ctx, conn2))
	must(t, tx.Rollback(t.Context()))
	conn.Release()
	wg.Wait()
}

// TestStore_LockedConversation_TakesOneConnection: so do many that stage and delete under it.
func TestStore_LockedConversation_TakesOneConnection(t *testing.T) {
	t.Parallel()
	dsn := dbtest.SharedPostgres(t).DSN
	s := opened(t, Options{DSN: dsn, PoolSize: 4})
	k, other := newTalk(0), newTalk(1)
	must(t, k.append(t.Context(), s))
	must(t, other.append(t.Context(), s))
	release := locked(t, dsn, s.sql(`SELECT FROM {s}.conversations WHERE conversation = $1 FOR UPDATE`), []byte(k.key.Conversation))
	var wg sync.WaitGroup
	for i := range 4 {
		u := &store.Upload{Incarnation: k.head.Incarnation, Time: testTime(), ID: conversation.ID{byte(i + 1)}, Data: []byte("x")}
		wg.Go(func() {
			if err := s.Stage(context.Background(), k.key, u); err != nil {
				t.Error(err)
			}
		})
		wg.Go(func() {
			_, err := s.Delete(context.Background(), k.key, store.Deletion{Incarnation: k.head.Incarnation})
			if !errors.Is(err, store.ErrConflict) { // it is live
				t.Error(err)
			}
		})
	}
	await(t, func() bool { return s.turns.Users(k.key) == 8 })
	ctx, cancel := context.WithTimeout(t.Context(), time.Second+testlane.Beside)
	defer cancel()
	must(t, other.append(ctx, s))
	if n := s.pool.Stat().AcquiredConns(); n > 1 {
		t.Errorf("%d connections wait for one conversation", n)
	}
	release()
	wg.Wait()
}

// TestStore_Failover_BeginsAnEpoch promotes a server, which begins a timeline: what the old one had acknowledged may be gone.
func TestStore_Failover_BeginsAnEpoch(t *testing.T) {
	t.Parallel()
	p := dbtest.StartPostgres(t)
	s := opened(t, Options{DSN: p.DSN})
	k := newTalk(0)
	must(t, k.append(t.Context(), s))
	before := epochOf(t, s)
	k.head.Epoch = before
	must(t, k.append(t.Context(), s))
	p.Fast()
	must(t, os.WriteFile(p.Folder()+"/d/standby.signal", nil, 0o666))
	must(t, p.Start())
	_ = k.append(t.Context(), s) // by a connection that broke meanwhile: its outcome is unknown
	if err := k.append(t.Context(), s); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("a commit to a standby: %v", err)
	}
	if _, err := s.Read(t.Context(), k.key, store.Query{}); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("a standby was read, which may lag: %v", err)
	}
	run(t, p.DSN, "SELECT pg_promote()")
	after := epochOf(t, s)
	if after == before {
		t.Errorf("no epoch began: %s", after)
	}
	if err := k.append(t.Context(), s); !errors.Is(err, store.ErrConflict) {
		t.Errorf("a commit in the epoch before: %v", err)
	}
	k.head.Epoch = after
	must(t, k.append(t.Context(), s))
}

// roundsVariable says how many times the server is stopped; a few without it.
const roundsVariable = "PALIMPSEST_FAULT_ROUNDS"

func rounds(t *testing.T, some int) int {
	t.Helper()
	n, err := strconv.Atoi(os.Getenv(roundsVariable))
	if err != nil {
		return some
	}
	return min(n, 20)
}

// TestStore_Kill_LosesNothingAcknowledged stops the server at random moments, while 16 callers append.
func TestStore_Kill_LosesNothingAcknowledged(t *testing.T) {
	t.Parallel()
	p := dbtest.StartPostgres(t)
	s := opened(t, Options{DSN: p.DSN, PoolSize: 16})
	var acknowledged, unknown atomic.Int64
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	callers := make([]*witness, 16)
	for i := range callers {
		callers[i] = &witness{talk: newTalk(i), made: make(map[uint64]bool)}
		wg.Go(func() { callers[i].appendOn(ctx, t, s, &acknowledged, &unknown) })
	}
	for range rounds(t, 2) {
		at := acknowledged.Load()
		for acknowledged.Load() < at+300 {
			time.Sleep(time.Millisecond)
		}
		p.Immediate()
		must(t, p.Start())
	}
	stop()
	wg.Wait()
	for _, w := range callers {
		w.check(t, s)
	}
	t.Logf("%d acknowledged, %d unknown outcomes", acknowledged.Load(), unknown.Load())
}

// witness is a caller that keeps what was acknowledged to it.
type witness struct {
	*talk

	made map[uint64]bool // versions
}

func (w *witness) appendOn(ctx context.Context, t *testing.T, s *Store, acknowledged, unknown *atomic.Int64) {
	for ctx.Err() == nil {
		c := w.appending()
		switch err := s.Commit(context.WithoutCancel(ctx), w.key, c); {
		case err == nil:
			w.head, w.made[c.Head.Version] = c.Head, true
			acknowledged.Add(1)
		case errors.Is(err, store.ErrOutcomeUnknown):
			unknown.Add(1)
			w.again(context.WithoutCancel(ctx), s)
		case errors.Is(err, store.ErrUnavailable):
			time.Sleep(5 * time.Millisecond)
		default:
			t.Errorf("version %d: %v", c.Head.Version, err)
			return
		}
	}
}

// again reads where the conversation is, after an outcome that nobody knows.
func (w *witness) again(ctx context.Context, s *Store) {
	for {
		snap, err := s.Read(ctx, w.key, store.Query{})
		switch {
		case err == nil:
			w.head = snap.Head
			w.head.Epoch = ""
			return
		case errors.Is(err, store.ErrNotFound):
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (w *witness) check(t *testing.T, s *Store) {
	t.Helper()
	q := store.Query{Ranges: []store.MessageRange{{}}}
	q.Ranges[0].End = 1 << 30
	snap, err := s.Read(t.Context(), w.key, q)
	if errors.Is(err, store.ErrNotFound) && len(w.made) == 0 { // the server was never there for this caller
		return
	}
	must(t, err)
	there := make(map[uint64]bool)
	for i := range snap.Messages {
		if snap.Messages[i].Index != int32(i) || there[snap.Messages[i].Commit] {
			t.Errorf("message %d has index %d", i, snap.Messages[i].Index)
		}
		there[snap.Messages[i].Commit] = true
	}
	for version := range w.made {
		if !there[version] {
			t.Errorf("version %d of %s was acknowledged and is gone", version, w.key.Conversation)
		}
	}
	if len(snap.Messages) != int(snap.Head.Messages) {
		t.Errorf("%d messages, the head says %d", len(snap.Messages), snap.Head.Messages)
	}
}
