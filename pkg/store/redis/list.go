package redis

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// everywhere sends commands to each of the wanted partitions, with one pipeline per node.
func (s *Store) everywhere(ctx context.Context, wanted []int, fill func(pipe redis.Pipeliner, partition int) []redis.Cmder) (map[int][]redis.Cmder, error) {
	out := make(map[int][]redis.Cmder, len(wanted))
	for len(wanted) > 0 {
		var rest []int
		if _, err := s.pipeline(ctx, wanted[0], func(pipe redis.Pipeliner) {
			var here []int
			here, rest = s.together(ctx, wanted)
			for _, p := range here {
				out[p] = fill(pipe, p)
			}
		}); err != nil {
			return nil, err
		}
		wanted = rest
	}
	return out, nil
}

// ofEach asks for each element in its partition, with one pipeline per node. The answers are in the order of the elements.
func ofEach[T any](ctx context.Context, s *Store, elements []T, partition func(T) int, ask func(redis.Pipeliner, T) redis.Cmder) ([]redis.Cmder, error) {
	out, at := make([]redis.Cmder, len(elements)), make(map[int][]int)
	for i, e := range elements {
		p := partition(e)
		at[p] = append(at[p], i)
	}
	_, err := s.everywhere(ctx, slices.Collect(maps.Keys(at)), func(pipe redis.Pipeliner, p int) []redis.Cmder {
		for _, i := range at[p] {
			out[i] = ask(pipe, elements[i])
		}
		return nil
	})
	return out, err
}

// together separates the partitions on the same node as the first one from the others.
func (s *Store) together(ctx context.Context, wanted []int) (here, rest []int) {
	if s.cluster == nil {
		return wanted, nil
	}
	first, err := s.cluster.MasterForKey(ctx, s.space.base(wanted[0]))
	for _, p := range wanted {
		c, other := s.cluster.MasterForKey(ctx, s.space.base(p))
		if p == wanted[0] || err == nil && other == nil && c == first {
			here = append(here, p)
		} else {
			rest = append(rest, p)
		}
	}
	return here, rest
}

func allPartitions(from int) []int {
	out := make([]int, 0, partitions)
	for p := from; p < partitions; p++ {
		out = append(out, p)
	}
	return out
}

// Names implements store.Store. The order is by partition, and within a partition by bytes.
func (s *Store) Names(ctx context.Context, after *store.Key, limit int) ([]store.Key, error) {
	from, first := 0, "-"
	if after != nil {
		p := s.space.place(*after)
		from, first = p.partition, "("+p.name
	}
	var out []store.Key
	for step := 1; from < partitions && len(out) < limit; step *= 4 {
		wanted := allPartitions(from)
		wanted = wanted[:min(step, len(wanted))]
		found, err := s.everywhere(ctx, wanted, func(pipe redis.Pipeliner, p int) []redis.Cmder {
			low := "-"
			if p == from {
				low = first
			}
			return []redis.Cmder{pipe.ZRangeByLex(ctx, s.space.base(p)+kindNames, &redis.ZRangeBy{Min: low, Max: "+", Count: int64(limit)})}
		})
		if err != nil {
			return nil, err
		}
		for _, p := range wanted {
			for _, name := range strs(found[p][0]) {
				key, err := keyOf(name)
				if err != nil {
					return nil, err
				}
				out = append(out, key)
			}
		}
		from, first = from+len(wanted), "-"
	}
	if limit <= 0 {
		return nil, s.check(ctx)
	}
	return out[:min(len(out), limit)], nil
}

func strs(cmd redis.Cmder) []string {
	c, ok := cmd.(*redis.StringSliceCmd)
	if !ok {
		return nil
	}
	return c.Val()
}

// List implements store.Store. Names are spread over all partitions. Each partition gives a share of the page, and those that may have
// more names within the page are asked again.
func (s *Store) List(ctx context.Context, namespace, after string, limit int) ([]store.Entry, error) {
	if err := (store.Key{Namespace: namespace}).Check(); err != nil {
		return nil, err
	}
	if limit <= 0 {
		return nil, s.check(ctx)
	}
	prefix := spaceName(namespace)
	l := &listing{s: s, prefix: prefix, share: limit/64 + 4, from: make(map[int]string, partitions)}
	wanted := allPartitions(0)
	for _, p := range wanted {
		l.from[p] = "(" + prefix + after // also skips the namespace's own partition, whose id is empty
	}
	for len(wanted) > 0 {
		if err := l.page(ctx, wanted); err != nil {
			return nil, err
		}
		wanted = l.unfinished(limit)
	}
	slices.Sort(l.names)
	return s.entries(ctx, l.names[:min(len(l.names), limit)], prefix)
}

// listing gathers the names of a namespace from all partitions.
type listing struct {
	s      *Store
	prefix string
	share  int            // how many names a partition gives at a time
	from   map[int]string // where each partition continues; missing once it has no more names
	names  []string
}

func (l *listing) page(ctx context.Context, wanted []int) error {
	found, err := l.s.everywhere(ctx, wanted, func(pipe redis.Pipeliner, p int) []redis.Cmder {
		by := &redis.ZRangeBy{Min: l.from[p], Max: "(" + l.prefix[:len(l.prefix)-1] + "\x02", Count: int64(l.share)}
		return []redis.Cmder{pipe.ZRangeByLex(ctx, l.s.space.base(p)+kindNames, by)}
	})
	if err != nil {
		return err
	}
	for _, p := range wanted {
		names := strs(found[p][0])
		l.names = append(l.names, names...)
		if len(names) < l.share {
			delete(l.from, p)
			continue
		}
		l.from[p] = "(" + names[len(names)-1]
	}
	l.share *= 4
	return nil
}

// unfinished returns the partitions whose next name may be part of the page.
func (l *listing) unfinished(limit int) []int {
	slices.Sort(l.names)
	var out []int
	for p, from := range l.from {
		if len(l.names) < limit || from[1:] < l.names[limit-1] {
			out = append(out, p)
		}
	}
	return out
}

// entries reads the heads of names.
func (s *Store) entries(ctx context.Context, names []string, prefix string) ([]store.Entry, error) {
	cmds, err := ofEach(ctx, s, names, partitionOf, func(pipe redis.Pipeliner, name string) redis.Cmder {
		return pipe.HMGet(ctx, s.space.base(partitionOf(name))+kindHead+name, "h", "n")
	})
	if err != nil {
		return nil, err
	}
	var out []store.Entry
	for i, name := range names {
		e, ok, err := s.entry(cmds[i])
		if err != nil {
			return nil, err
		}
		if e.ID = name[len(prefix):]; ok {
			out = append(out, e)
		}
	}
	return out, nil
}

// entry is false for a name that is gone by now.
func (s *Store) entry(cmd redis.Cmder) (e store.Entry, ok bool, err error) {
	v, err := values(cmd)
	if err != nil || len(v) != 2 {
		return e, false, store.ErrCorrupt
	}
	if v[0] == nil {
		return e, false, nil
	}
	_, _, head, err := unguard(text(v[0]))
	if err != nil {
		return e, false, err
	}
	if e.Head, err = s.codec.DecodeHead(alias(head)); err == nil && v[1] != nil {
		e.Info, err = s.codec.DecodeInfo(alias(text(v[1])))
	}
	return e, true, err
}

// Due implements store.Store.
func (s *Store) Due(ctx context.Context, until time.Time, limit int) ([]store.Task, error) {
	if limit <= 0 {
		return nil, s.check(ctx)
	}
	by := &redis.ZRangeBy{Min: "-inf", Max: strconv.FormatInt(until.UnixMicro(), 10), Count: int64(limit)}
	found, err := s.everywhere(ctx, allPartitions(0), func(pipe redis.Pipeliner, p int) []redis.Cmder {
		return []redis.Cmder{pipe.ZRangeByScoreWithScores(ctx, s.space.base(p)+kindDue, by)}
	})
	if err != nil {
		return nil, err
	}
	var all []dueEntry
	for p, cmds := range found {
		c, ok := cmds[0].(*redis.ZSliceCmd)
		if !ok {
			return nil, store.ErrCorrupt
		}
		for _, z := range c.Val() {
			all = append(all, dueEntry{partition: p, member: text(z.Member), score: z.Score})
		}
	}
	slices.SortFunc(all, func(a, b dueEntry) int {
		return cmp.Or(cmp.Compare(a.score, b.score), strings.Compare(a.member, b.member))
	})
	tasks, err := s.tasks(ctx, all[:min(len(all), limit)])
	if err != nil {
		return nil, err
	}
	tasks = slices.DeleteFunc(tasks, func(t store.Task) bool { return t.Time.IsZero() || t.Time.After(until) })
	slices.SortFunc(tasks, store.Task.Compare)
	return tasks, nil
}

// dueEntry is an element of the sorted sets of what is due.
type dueEntry struct {
	partition int
	member    string
	score     float64
}

// tasks reads the tasks of entries. A task that was done meanwhile has no time.
func (s *Store) tasks(ctx context.Context, entries []dueEntry) ([]store.Task, error) {
	contents := make(map[dueEntry]redis.Cmder, len(entries))
	records, err := ofEach(ctx, s, entries, func(e dueEntry) int { return e.partition }, func(pipe redis.Pipeliner, e dueEntry) redis.Cmder {
		base, id, upload := s.space.base(e.partition), e.member[:idBytes], e.member[idBytes:]
		contents[e] = pipe.HGet(ctx, base+kindContents+id, upload)
		return pipe.HMGet(ctx, base+kindIncarnation+id, incarnationFields...)
	})
	if err != nil {
		return nil, err
	}
	out := make([]store.Task, len(entries))
	for i, e := range entries {
		if out[i], err = task(e.member, records[i], contents[e]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func task(member string, record, content redis.Cmder) (t store.Task, err error) {
	inc, err := incarnationOf(record)
	if err != nil || inc.state == "" {
		return t, err
	}
	if t.Key, err = keyOf(inc.name); err != nil {
		return t, err
	}
	copy(t.Incarnation[:], member[:idBytes])
	copy(t.Upload[:], member[idBytes:])
	if t.Upload == (conversation.ID{}) {
		t.Staged = inc.state == "S"
		if inc.due != "" {
			t.Time, err = timeOf(inc.due)
		}
		return t, err
	}
	value := word(content)
	if len(value) > timeBytes && value[:1] != contentKept {
		t.Time, err = timeOf(value[1:])
	}
	return t, err
}

// Seal implements store.Store. Scripts that write check the key of their partition.
func (s *Store) Seal(ctx context.Context, sealed bool) error {
	_, err := s.everywhere(ctx, allPartitions(0), func(pipe redis.Pipeliner, p int) []redis.Cmder {
		key := s.space.base(p) + kindSeal
		if sealed {
			return []redis.Cmder{s.mark(ctx, pipe, key, "SET", "1")}
		}
		return []redis.Cmder{pipe.Del(ctx, key)}
	})
	return err
}
