package postgres

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/palimpsest-context/palimpsest/internal/dbtest"
	"github.com/palimpsest-context/palimpsest/internal/testlane"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// The bars: the store compared with bare statements for the same bytes, measured at the same time. Of interleaved rounds the best counts on
// each side, so that a disk that stalls in one round does not matter.
const (
	barAppend = 1.3
	barMany   = 0.75
	barWindow = 1.5
	barPooled = 1.4

	speedRounds = 6
	speedPool   = 32
)

const bareTables = `CREATE TABLE bare_conversations (namespace bytea, conversation bytea, incarnation bytea NOT NULL, version bigint NOT NULL,
 head bytea NOT NULL, PRIMARY KEY (namespace, conversation)) WITH (fillfactor = 70);
CREATE TABLE bare_messages (incarnation bytea, index int, role smallint, tokens int, commit bigint, create_time timestamptz, payload bytea,
 PRIMARY KEY (incarnation, index));
ALTER TABLE bare_messages ALTER payload SET STORAGE EXTERNAL`

const (
	bareCTE = `WITH h AS (UPDATE bare_conversations SET version = $4::bigint + 1, head = $5::bytea
 WHERE namespace = $1::bytea AND conversation = $2::bytea AND version = $4::bigint AND incarnation = $3::bytea RETURNING incarnation)
INSERT INTO bare_messages SELECT h.incarnation, $6::int, 1, 250, $4::bigint + 1, $7::timestamptz, $8::bytea FROM h`
	bareHead   = `SELECT head FROM bare_conversations WHERE namespace = $1::bytea AND conversation = $2::bytea`
	bareWindow = `SELECT payload FROM bare_messages WHERE incarnation = (SELECT incarnation FROM bare_conversations
 WHERE namespace = $1::bytea AND conversation = $2::bytea) AND index >= $3::int AND index < $4::int ORDER BY index`
)

// bare is a conversation in the bare tables.
type bare struct {
	mu         sync.Mutex
	pool       *pgxpool.Pool
	key        store.Key
	id         conversation.ID
	version    int64
	head, body []byte
}

func newBare(t testing.TB, pool *pgxpool.Pool, s *Store, n int) *bare {
	k := newTalk(n)
	k.text = noise()
	c := k.appending()
	b := &bare{pool: pool, key: k.key, id: k.head.Incarnation, head: s.codec.EncodeHead(&c.Head), body: s.codec.EncodeMessage(&c.Messages[0])}
	_, err := pool.Exec(t.Context(), `INSERT INTO bare_conversations VALUES ($1, $2, $3, 0, $4)`, []byte(b.key.Namespace), []byte(b.key.Conversation),
		b.id[:], b.head)
	must(t, err)
	return b
}

func (b *bare) append(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	tag, err := b.pool.Exec(ctx, bareCTE, []byte(b.key.Namespace), []byte(b.key.Conversation), b.id[:], b.version, b.head, int32(b.version), testTime(), b.body)
	if err == nil && tag.RowsAffected() != 1 {
		err = fmt.Errorf("%d rows", tag.RowsAffected())
	}
	b.version++
	return err
}

// window is the bare batch: a snapshot of the head and the newest hundred messages.
func (b *bare) window(ctx context.Context) error {
	batch := &pgx.Batch{}
	take := func(rows pgx.Rows) error {
		var value []byte
		return rows.Scan(&value)
	}
	batch.Queue("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
	each(batch, bareHead, take, []byte(b.key.Namespace), []byte(b.key.Conversation))
	each(batch, bareWindow, take, []byte(b.key.Namespace), []byte(b.key.Conversation), int32(b.version-100), int32(b.version))
	batch.Queue("COMMIT")
	return b.pool.SendBatch(ctx, batch).Close()
}

func noise() string {
	text, r := make([]byte, 1024), rand.New(rand.NewPCG(1, 3))
	for i := range text {
		text[i] = byte(r.Uint32())
	}
	return string(text)
}

// side is one of two that are compared.
type side struct {
	name string
	call func() error
}

// p50s are the medians of each side's best round.
func p50s(t *testing.T, sides ...side) []time.Duration {
	t.Helper()
	best := make([]time.Duration, len(sides))
	for range speedRounds {
		for i, s := range sides {
			var took []time.Duration
			for end := time.Now().Add(300 * time.Millisecond); time.Now().Before(end); {
				start := time.Now()
				must(t, s.call())
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			if p50 := took[len(took)/2]; best[i] == 0 || p50 < best[i] {
				best[i] = p50
			}
		}
	}
	return best
}

// perSecond are the best rounds of each side, with 64 callers, each on a conversation of its own.
func perSecond(t *testing.T, sides ...func(caller int) error) []float64 {
	t.Helper()
	best := make([]float64, len(sides))
	for range speedRounds {
		for i, call := range sides {
			var n atomic.Int64
			var wg sync.WaitGroup
			start := time.Now()
			for caller := range 64 {
				wg.Go(func() {
					for time.Since(start) < 500*time.Millisecond {
						if err := call(caller); err != nil {
							t.Error(err)
							return
						}
						n.Add(1)
					}
				})
			}
			wg.Wait()
			best[i] = max(best[i], float64(n.Load())/time.Since(start).Seconds())
		}
	}
	return best
}

func TestStore_Speed_AgainstTheBareStatements(t *testing.T) {
	testlane.Speed(t)
	p := dbtest.StartPostgres(t)
	run(t, p.DSN, bareTables)
	s := opened(t, Options{DSN: p.DSN, PoolSize: speedPool})
	config, err := pgxpool.ParseConfig(p.DSN)
	must(t, err)
	config.MaxConns = speedPool
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	must(t, err)
	defer pool.Close()
	talks, bares := make([]*talk, 65), make([]*bare, 65)
	for i := range talks {
		talks[i], bares[i] = newTalk(i), newBare(t, pool, s, i)
		talks[i].text = noise()
		for range 5 {
			must(t, talks[i].append(t.Context(), s))
			must(t, bares[i].append(t.Context()))
		}
	}
	ctx := t.Context()
	lone := p50s(t, side{"bare", func() error { return bares[64].append(ctx) }}, side{"store", func() error { return talks[64].append(ctx, s) }})
	atMost(t, "append", lone, barAppend)
	many := perSecond(t, func(i int) error { return bares[i].append(ctx) }, func(i int) error { return talks[i].append(ctx, s) })
	t.Logf("64 callers: bare %.0f/s, store %.0f/s: %.2f (bar %.2f)", many[0], many[1], many[1]/many[0], barMany)
	if many[0] > testlane.Bar(1/barMany)*many[1] {
		t.Error("64 callers are too slow")
	}
	window := p50s(t, side{"bare", func() error { return bares[64].window(ctx) }}, side{"store", func() error { return newest(ctx, s, talks[64]) }})
	atMost(t, "window of 100", window, barWindow)
}

// newest reads the head and the newest hundred messages.
func newest(ctx context.Context, s *Store, k *talk) error {
	n := k.head.Messages
	snap, err := s.Read(ctx, k.key, store.Query{Ranges: []store.MessageRange{{Range: conversation.Range{First: n - 100, End: n}}}})
	if err == nil && len(snap.Messages) != 100 {
		err = fmt.Errorf("%d messages", len(snap.Messages))
	}
	return err
}

func atMost(t *testing.T, what string, best []time.Duration, bar float64) {
	t.Helper()
	ratio := float64(best[1]) / float64(best[0])
	t.Logf("%s: %v and %v: %.2f (bar %.2f)", what, best[0], best[1], ratio, bar)
	if ratio > testlane.Bar(bar) {
		t.Errorf("%s takes too long", what)
	}
}

// windowThroughThePooler compares a window with the bare batch through the same pooler: for a hundred kilobytes, a pooler alone takes
// longer than the bar for commits. It prints how much longer both take.
func windowThroughThePooler(t *testing.T, direct, pooled *Store, one, other *talk) {
	t.Helper()
	ctx, n := t.Context(), other.head.Messages
	batch := func(s *Store, k *talk) error {
		b := &pgx.Batch{}
		take := func(rows pgx.Rows) error { return rows.Scan(new([]byte)) }
		name := []any{[]byte(k.key.Namespace), []byte(k.key.Conversation)}
		b.Queue("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
		each(b, s.sql(`SELECT head FROM {s}.conversations WHERE namespace = $1::bytea AND conversation = $2::bytea`), take, name...)
		each(b, s.sql(`SELECT payload FROM {s}.messages WHERE incarnation = (SELECT incarnation FROM {s}.conversations
 WHERE namespace = $1::bytea AND conversation = $2::bytea) AND index >= $3::int AND index < $4::int ORDER BY index`), take, append(name, n-100, n)...)
		b.Queue("COMMIT")
		return s.pool.SendBatch(ctx, b).Close()
	}
	best := p50s(t, side{"bare, pooled", func() error { return batch(pooled, other) }}, side{"pooled", func() error { return newest(ctx, pooled, other) }},
		side{"bare, direct", func() error { return batch(direct, one) }}, side{"direct", func() error { return newest(ctx, direct, one) }})
	t.Logf("window through the pooler against direct: the store %.2f, the bare batch %.2f", float64(best[1])/float64(best[3]), float64(best[0])/float64(best[2]))
	atMost(t, string(pooled.options.ExecMode)+": window through the pooler against the bare batch", best, barWindow)
}

func TestStore_Speed_ThroughThePooler(t *testing.T) {
	testlane.Speed(t)
	p := dbtest.StartPostgres(t)
	b := dbtest.StartBouncer(t, p)
	for _, mode := range []ExecMode{CacheDescribe, Exec, Simple} {
		direct := opened(t, Options{DSN: p.DSN, ExecMode: mode})
		pooled := opened(t, Options{DSN: b.DSN, ExecMode: mode})
		one, other := newTalk(1), newTalk(2)
		if mode != CacheDescribe {
			one, other = newTalk(len(mode)), newTalk(100+len(mode))
		}
		one.text, other.text = noise(), noise()
		ctx := t.Context()
		for range 100 {
			must(t, one.append(ctx, direct))
			must(t, other.append(ctx, pooled))
		}
		best := p50s(t, side{"direct", func() error { return one.append(ctx, direct) }}, side{"pooled", func() error { return other.append(ctx, pooled) }})
		atMost(t, string(mode)+": append", best, barPooled)
		windowThroughThePooler(t, direct, pooled, one, other)
	}
}
