package redis

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// Wait implements store.Store. One poller per process checks all versions that are waited for. Messages from servers about commits make it
// faster, but are not relied on.
func (s *Store) Wait(ctx context.Context, key store.Key, version uint64) error {
	if err := key.Check(); err != nil {
		return err
	}
	defer s.waits.Join(key, version)()
	return s.wakes.Wait(ctx, key, func() (bool, error) {
		now, err := s.version(ctx, key)
		return now > version, store.CutShort(ctx, err)
	})
}

func (s *Store) version(ctx context.Context, key store.Key) (uint64, error) {
	p := s.space.place(key)
	cmds, err := s.pipeline(ctx, p.partition, func(pipe redis.Pipeliner) { pipe.HGet(ctx, p.head(), "h") })
	if err != nil {
		return 0, err
	}
	return versionOf(cmds[0])
}

func versionOf(cmd redis.Cmder) (uint64, error) {
	head := word(cmd)
	if head == "" {
		return 0, nil
	}
	_, version, _, err := unguard(head)
	return version, err
}

// poll wakes callers whose conversations are past the version.
func (s *Store) poll(ctx context.Context) {
	s.waits.Each(ctx, func(keys map[store.Key]uint64) {
		s.pause(ctx) // callers have looked themselves when they began to wait
		now, _ := s.versions(ctx, slices.Collect(maps.Keys(keys)))
		for key, version := range now {
			if version > keys[key] {
				s.wakes.Wake(key)
			}
		}
	})
}

// versions reads the versions of many heads.
func (s *Store) versions(ctx context.Context, keys []store.Key) (map[store.Key]uint64, error) {
	cmds, err := ofEach(ctx, s, keys, func(key store.Key) int { return s.space.place(key).partition },
		func(pipe redis.Pipeliner, key store.Key) redis.Cmder {
			return pipe.HGet(ctx, s.space.place(key).head(), "h")
		})
	if err != nil {
		return nil, err
	}
	out := make(map[store.Key]uint64, len(keys))
	for i, key := range keys {
		if out[key], err = versionOf(cmds[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// listen receives messages about commits of other processes, for the partitions that this process waits for.
func (s *Store) listen(ctx context.Context) {
	s.waits.Each(ctx, func(map[store.Key]uint64) { s.subscribe(ctx) })
}

const (
	anew     = 30 * time.Second
	heardFor = 3 * anew // how long commits send messages after somebody listened
)

// subscribe subscribes to the partitions of conversations that are waited for, also to new ones, until a connection breaks or half a minute has
// passed. Then it starts over, because partitions move, and to drop what nobody waits for any more.
func (s *Store) subscribe(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, anew)
	e := &subscriptions{s: s, heard: make(map[int]bool), nodes: make(map[*redis.Client]*redis.PubSub)}
	e.fail = func() { s.pause(ctx); cancel() }
	defer e.open.Wait()
	defer cancel()
	for ctx.Err() == nil {
		keys, more := s.waits.Keys()
		for key := range keys {
			if err := e.add(ctx, s.space.place(key).partition); err != nil {
				e.fail()
				return
			}
		}
		select {
		case <-ctx.Done():
		case <-more:
		}
	}
}

// pause prevents asking an unavailable server all the time.
func (s *Store) pause(ctx context.Context) { _ = store.Pause(ctx, s.options.PollInterval) }

// subscriptions holds the subscriptions, with one connection per node.
type subscriptions struct {
	s     *Store
	heard map[int]bool
	nodes map[*redis.Client]*redis.PubSub
	open  sync.WaitGroup
	fail  func()
}

// add subscribes to a partition. Each has a command of its own, because channels of different slots cannot be named together.
func (e *subscriptions) add(ctx context.Context, partition int) (err error) {
	if e.heard[partition] {
		return nil
	}
	e.heard[partition] = true
	channel, c := e.s.space.base(partition)+kindSeal, e.s.single
	if e.s.cluster != nil {
		if c, err = e.s.cluster.MasterForKey(ctx, channel); err != nil {
			return err
		}
	}
	// Without the mark no messages are sent, and the poller finds the commits.
	_ = e.s.mark(ctx, c, e.s.space.base(partition)+kindHeard, "SET", "1", "EX", int(heardFor/time.Second)).Err()
	sub, begun := e.nodes[c]
	if !begun {
		sub = c.Subscribe(ctx)
		e.nodes[c] = sub
		defer e.open.Go(func() { e.receive(ctx, sub) })
	}
	if e.s.cluster != nil {
		return sub.SSubscribe(ctx, channel)
	}
	return sub.Subscribe(ctx, channel)
}

func (e *subscriptions) receive(ctx context.Context, sub *redis.PubSub) {
	defer sub.Close()
	stop := context.AfterFunc(ctx, func() { _ = sub.Close() })
	defer stop()
	for {
		message, err := sub.Receive(ctx)
		switch {
		case errorWord(err) == "NOPERM": // the poller takes over
			continue
		case err != nil:
			e.fail()
			return
		}
		if m, ok := message.(*redis.Message); ok {
			if key, err := told(m.Channel, m.Payload); err == nil {
				e.s.wakes.Wake(key)
			}
		}
	}
}

// lastSeen is what was last seen of a conversation.
type lastSeen struct {
	id     conversation.ID
	edited bool // the conversation has edits
}

// seen is what reads base their guesses on.
type seen struct {
	mu     sync.RWMutex
	sights map[store.Key]lastSeen
}

// seenMost bounds it to some 10 MiB. Beyond that it is cleared.
const seenMost = 50_000

func (g *seen) get(key store.Key) lastSeen {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.sights[key]
}

func (g *seen) put(key store.Key, s lastSeen) {
	g.mu.RLock()
	same := g.sights[key] == s
	g.mu.RUnlock()
	if same {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.sights == nil || len(g.sights) >= seenMost {
		g.sights = make(map[store.Key]lastSeen)
	}
	g.sights[key] = s
}
