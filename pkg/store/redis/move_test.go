package redis_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	driver "github.com/redis/go-redis/v9"

	"github.com/palimpsest-context/palimpsest/internal/dbtest"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/redis"
)

// TestStore_SlotMoves_CallsWaitAndGoOn moves a conversation to another master while a store uses it.
func TestStore_SlotMoves_CallsWaitAndGoOn(t *testing.T) {
	t.Parallel()
	cluster := dbtest.StartCluster(t)
	s := closing(t, open(t, redis.Options{URL: "redis://" + cluster.Addresses[0]}))
	k := newTalk(0)
	must(t, k.append(t.Context(), s))
	must(t, k.append(t.Context(), s))
	m := newMove(t, cluster, k)
	m.begin(t)
	m.keys(t, "h") // the head has gone, the rest has not
	for _, call := range []func(context.Context) error{
		func(ctx context.Context) error {
			_, err := s.Read(ctx, k.key, store.Query{Ranges: []store.MessageRange{{Range: conversation.Range{End: 10}}}})
			return err
		},
		func(ctx context.Context) error { return k.append(ctx, s) },
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		wants(t, call(ctx), store.ErrUnavailable)
		cancel()
	}
	m.keys(t, "")
	m.end(t)
	must(t, k.append(t.Context(), s))
	snap, err := s.Read(t.Context(), k.key, store.Query{Ranges: []store.MessageRange{{Range: conversation.Range{End: 10}}}})
	must(t, err)
	if snap.Head.Version != 3 || len(snap.Messages) != 3 {
		t.Errorf("version %d with %d messages", snap.Head.Version, len(snap.Messages))
	}
	_, err = s.Due(t.Context(), time.Now(), 10)
	must(t, err)
}

// move is a slot on its way from one master to another.
type move struct {
	slot     int64
	tag      string
	nodes    []*driver.Client
	from, to int
	ids      []string
	cluster  *dbtest.Cluster
}

func newMove(t *testing.T, cluster *dbtest.Cluster, k *talk) *move {
	t.Helper()
	m := &move{cluster: cluster}
	for i, address := range cluster.Addresses {
		c := driver.NewClient(&driver.Options{Addr: address})
		t.Cleanup(func() { must(t, c.Close()) })
		m.nodes = append(m.nodes, c)
		id, err := c.Do(t.Context(), "cluster", "myid").Text()
		must(t, err)
		m.ids = append(m.ids, id)
		for _, key := range c.Keys(t.Context(), "*h*\x01"+k.key.Conversation).Val() {
			m.from, m.to = i, (i+1)%len(cluster.Addresses)
			m.tag = key[:strings.Index(key, "}")+1]
			m.slot = c.ClusterKeySlot(t.Context(), key).Val()
		}
	}
	return m
}

func (m *move) set(t *testing.T, node int, args ...any) {
	t.Helper()
	must(t, m.nodes[node].Do(t.Context(), append([]any{"cluster", "setslot", m.slot}, args...)...).Err())
}

func (m *move) begin(t *testing.T) {
	t.Helper()
	m.set(t, m.to, "importing", m.ids[m.from])
	m.set(t, m.from, "migrating", m.ids[m.to])
}

// keys moves the keys of a kind, or all.
func (m *move) keys(t *testing.T, kind string) {
	t.Helper()
	host, port, _ := strings.Cut(m.cluster.Addresses[m.to], ":")
	for _, key := range m.nodes[m.from].ClusterGetKeysInSlot(t.Context(), int(m.slot), 1000).Val() {
		if strings.HasPrefix(key, m.tag+kind) {
			must(t, m.nodes[m.from].Do(t.Context(), "migrate", host, port, key, 0, 5000).Err())
		}
	}
}

func (m *move) end(t *testing.T) {
	t.Helper()
	m.set(t, m.to, "node", m.ids[m.to])
	for i := range m.nodes {
		m.set(t, i, "node", m.ids[m.to])
	}
}

// TestStore_SlotMovesUnderAppends_NothingIsLost moves a slot back and forth, key by key, while callers append to conversations in it and
// read them. A refused call was refused before anything was written: it gets UNAVAILABLE, and never a conflict or an unknown outcome.
func TestStore_SlotMovesUnderAppends_NothingIsLost(t *testing.T) {
	t.Parallel()
	cluster := dbtest.StartCluster(t)
	s := closing(t, open(t, redis.Options{URL: "redis://" + cluster.Addresses[0]}))
	talks := neighbours(t, s, cluster)
	moving, stop := context.WithCancel(t.Context())
	defer stop()
	var running sync.WaitGroup
	var refused, stood atomic.Int64
	for _, k := range talks {
		running.Go(func() {
			for moving.Err() == nil {
				ctx, cancel := context.WithTimeout(context.WithoutCancel(moving), 40*time.Millisecond)
				err := k.append(ctx, s)
				if _, other := s.Read(ctx, k.key, store.Query{Ranges: []store.MessageRange{{Range: conversation.Range{End: 3}}}}); err == nil {
					err = other
				}
				cancel()
				switch {
				case err == nil:
					stood.Add(1)
				case errors.Is(err, store.ErrUnavailable), errors.Is(err, context.DeadlineExceeded): // or it was over before the call
					refused.Add(1)
				default:
					t.Errorf("version %d: %v", k.head.Version, err)
				}
			}
		})
	}
	m := newMove(t, cluster, talks[0])
	for range 4 {
		m.begin(t)
		for range 12 {
			m.some(t, 1)
			time.Sleep(10 * time.Millisecond)
		}
		m.keys(t, "")
		m.end(t)
		time.Sleep(100 * time.Millisecond)
		m.from, m.to = m.to, m.from
	}
	stop()
	running.Wait()
	for _, k := range talks {
		snap, err := s.Read(t.Context(), k.key, store.Query{Ranges: []store.MessageRange{{Range: conversation.Range{End: k.head.Messages}}}})
		must(t, err)
		if snap.Head.Version != k.head.Version || len(snap.Messages) != int(k.head.Messages) {
			t.Errorf("version %d with %d messages, acknowledged were %d with %d", snap.Head.Version, len(snap.Messages), k.head.Version, k.head.Messages)
		}
	}
	t.Logf("%d stood, %d refused", stood.Load(), refused.Load())
	if stood.Load() == 0 || refused.Load() == 0 {
		t.Errorf("%d stood, %d were refused", stood.Load(), refused.Load())
	}
}

// neighbours are conversations of one partition.
func neighbours(t *testing.T, s *redis.Store, cluster *dbtest.Cluster) []*talk {
	t.Helper()
	byTag := map[string][]*talk{}
	for n := 0; ; n++ {
		k := newTalk(n)
		must(t, k.append(t.Context(), s))
		for _, address := range cluster.Addresses {
			for _, key := range operator(t, address).Keys(t.Context(), "*h*\x01"+k.key.Conversation).Val() {
				tag, _, _ := strings.Cut(key, "}")
				if byTag[tag] = append(byTag[tag], k); len(byTag[tag]) == 3 {
					return byTag[tag]
				}
			}
		}
	}
}

// some moves a number of keys.
func (m *move) some(t *testing.T, n int) {
	t.Helper()
	host, port, _ := strings.Cut(m.cluster.Addresses[m.to], ":")
	for _, key := range m.nodes[m.from].ClusterGetKeysInSlot(t.Context(), int(m.slot), n).Val() {
		must(t, m.nodes[m.from].Do(t.Context(), "migrate", host, port, key, 0, 5000).Err())
	}
}
