package redis

import (
	"context"
	"maps"
	"slices"
	"strconv"
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
	s.waiters.join(key)
	defer s.waiters.leave(key)
	return s.wakes.Wait(ctx, key, func() (bool, error) {
		now, err := s.version(ctx, key)
		return now > version, err
	})
}

func (s *Store) version(ctx context.Context, key store.Key) (uint64, error) {
	p := s.space.place(key)
	cmds, err := s.pipeline(ctx, p.partition, func(pipe redis.Pipeliner) { pipe.HGet(ctx, p.head(), "v") })
	if err != nil {
		return 0, err
	}
	return versionOf(cmds[0])
}

func versionOf(cmd redis.Cmder) (uint64, error) {
	version := word(cmd)
	if version == "" {
		return 0, nil
	}
	v, err := strconv.ParseUint(version, 10, 64)
	if err != nil {
		return 0, store.ErrCorrupt
	}
	return v, nil
}

// waiters are the keys that this process waits for.
type waiters struct {
	mu      sync.Mutex
	waiting map[store.Key]int
	more    chan struct{} // closed when a key comes that was not waited for
}

func (w *waiters) join(key store.Key) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waiting == nil {
		w.waiting = make(map[store.Key]int)
	}
	w.waiting[key]++
	if w.waiting[key] == 1 && w.more != nil {
		close(w.more)
		w.more = nil
	}
}

func (w *waiters) leave(key store.Key) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waiting[key]--; w.waiting[key] == 0 {
		delete(w.waiting, key)
	}
}

// keys are those waited for, and what ends when there are more.
func (w *waiters) keys() ([]store.Key, <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.more == nil {
		w.more = make(chan struct{})
	}
	return slices.Collect(maps.Keys(w.waiting)), w.more
}

// poll wakes who waits for a version that has changed.
func (s *Store) poll(ctx context.Context) {
	last := make(map[store.Key]uint64)
	for {
		keys, more := s.waiters.keys()
		if len(keys) == 0 {
			clear(last)
			select {
			case <-ctx.Done():
				return
			case <-more:
				continue
			}
		}
		now, err := s.versions(ctx, keys)
		for key, version := range now {
			if had, ok := last[key]; ok && had != version {
				s.wakes.Wake(key)
			}
		}
		if err == nil {
			last = now
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(s.options.PollInterval):
		}
	}
}

// versions reads those of many heads.
func (s *Store) versions(ctx context.Context, keys []store.Key) (map[store.Key]uint64, error) {
	byPartition := make(map[int][]place)
	for _, key := range keys {
		p := s.space.place(key)
		byPartition[p.partition] = append(byPartition[p.partition], p)
	}
	found, err := s.everywhere(ctx, slices.Collect(maps.Keys(byPartition)), func(pipe redis.Pipeliner, p int) (cmds []redis.Cmder) {
		for _, at := range byPartition[p] {
			cmds = append(cmds, pipe.HGet(ctx, at.head(), "v"))
		}
		return cmds
	})
	if err != nil {
		return nil, err
	}
	out := make(map[store.Key]uint64, len(keys))
	for p, cmds := range found {
		for i, cmd := range cmds {
			v, err := versionOf(cmd)
			if err != nil {
				return nil, err
			}
			out[byPartition[p][i].key] = v
		}
	}
	return out, nil
}

// listen hears of commits of other processes, in the partitions that this one waits for.
func (s *Store) listen(ctx context.Context) {
	for ctx.Err() == nil {
		keys, more := s.waiters.keys()
		if len(keys) == 0 {
			select {
			case <-ctx.Done():
			case <-more:
			}
			continue
		}
		s.hear(ctx, keys, more)
	}
}

// hear subscribes to the partitions of keys, until there are more keys, or a connection breaks, or half a minute is over: partitions move.
func (s *Store) hear(ctx context.Context, keys []store.Key, more <-chan struct{}) {
	const anew = 30 * time.Second
	ctx, cancel := context.WithTimeout(ctx, anew)
	defer cancel()
	wanted := make(map[int]bool)
	for _, key := range keys {
		wanted[s.space.place(key).partition] = true
	}
	var open sync.WaitGroup
	for rest := slices.Collect(maps.Keys(wanted)); len(rest) > 0; {
		var here []int
		here, rest = s.together(ctx, rest)
		open.Go(func() {
			defer cancel()
			s.hearNode(ctx, here)
		})
	}
	select {
	case <-ctx.Done():
	case <-more:
	}
	cancel()
	open.Wait()
}

// pause keeps a server that is away from being asked all the time.
func (s *Store) pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(s.options.PollInterval):
	}
}

func (s *Store) hearNode(ctx context.Context, group []int) {
	c := s.single
	var err error
	if s.cluster != nil {
		if c, err = s.cluster.MasterForKey(ctx, s.space.base(group[0])); err != nil {
			return
		}
	}
	sub := c.Subscribe(ctx)
	defer sub.Close()
	stop := context.AfterFunc(ctx, func() { _ = sub.Close() })
	defer stop()
	for _, p := range group { // one by one: channels of several slots cannot be named together
		if s.cluster != nil {
			err = sub.SSubscribe(ctx, s.space.base(p))
		} else {
			err = sub.Subscribe(ctx, s.space.base(p))
		}
		if err != nil {
			s.pause(ctx)
			return
		}
	}
	for {
		message, err := sub.Receive(ctx)
		if err != nil {
			s.pause(ctx)
			return
		}
		if m, ok := message.(*redis.Message); ok {
			if key, err := keyOf(m.Payload); err == nil {
				s.wakes.Wake(key)
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
