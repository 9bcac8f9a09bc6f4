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

// Wait implements store.Store. One poller per process looks at all versions that are waited for; what servers tell of commits makes it
// quicker, and is not relied on.
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

// poll wakes who waits for a version that is past.
func (s *Store) poll(ctx context.Context) {
	s.waits.Each(ctx, func(keys map[store.Key]uint64) {
		s.pause(ctx) // those who wait have looked themselves
		now, _ := s.versions(ctx, slices.Collect(maps.Keys(keys)))
		for key, version := range now {
			if version > keys[key] {
				s.wakes.Wake(key)
			}
		}
	})
}

// versions reads those of many heads.
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

// listen hears of commits of other processes, in the partitions that this one waits for.
func (s *Store) listen(ctx context.Context) {
	s.waits.Each(ctx, func(map[store.Key]uint64) { s.hear(ctx) })
}

const (
	anew     = 30 * time.Second
	heardFor = 3 * anew // how long commits tell of themselves after somebody listened
)

// hear subscribes to the partitions of what is waited for, and of what comes, until a connection breaks or half a minute is over: partitions
// move, and what nobody waits for any more is dropped then.
func (s *Store) hear(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, anew)
	e := &ears{s: s, heard: make(map[int]bool), nodes: make(map[*redis.Client]*redis.PubSub)}
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

// pause keeps a server that is away from being asked all the time.
func (s *Store) pause(ctx context.Context) { _ = store.Pause(ctx, s.options.PollInterval) }

// ears are the subscriptions, a connection to each node.
type ears struct {
	s     *Store
	heard map[int]bool
	nodes map[*redis.Client]*redis.PubSub
	open  sync.WaitGroup
	fail  func()
}

// add subscribes to a partition. Each by itself: channels of several slots cannot be named together.
func (e *ears) add(ctx context.Context, partition int) (err error) {
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
	// Without the mark nobody is told, and the poller finds what there is.
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

func (e *ears) receive(ctx context.Context, sub *redis.PubSub) {
	defer sub.Close()
	stop := context.AfterFunc(ctx, func() { _ = sub.Close() })
	defer stop()
	for {
		message, err := sub.Receive(ctx)
		switch {
		case said(err) == "NOPERM": // the poller looks
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

// sight is what was last seen of a conversation.
type sight struct {
	id     conversation.ID
	edited bool // it has edits
}

// seen is what reads guess from.
type seen struct {
	mu     sync.RWMutex
	sights map[store.Key]sight
}

// seenMost bounds it, at some 10 MiB; past that it begins anew.
const seenMost = 50_000

func (g *seen) get(key store.Key) sight {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.sights[key]
}

func (g *seen) put(key store.Key, s sight) {
	g.mu.RLock()
	same := g.sights[key] == s
	g.mu.RUnlock()
	if same {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.sights == nil || len(g.sights) >= seenMost {
		g.sights = make(map[store.Key]sight)
	}
	g.sights[key] = s
}
