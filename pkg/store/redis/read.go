package redis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// attempts is how often a read is sent at most because its guess was wrong. Each time it uses what it found.
const attempts = 8

// Read implements store.Store.
func (s *Store) Read(ctx context.Context, key store.Key, q store.Query) (*store.Snapshot, error) {
	if err := key.Check(); err != nil {
		return nil, err
	}
	r := &reading{s: s, p: s.space.place(key), q: &q, hints: make(map[conversation.ID]int)}
	last := s.seen.get(key)
	r.guess, r.edited = last.id, last.edited
	if !q.Incarnation.IsZero() && q.Incarnation != last.id {
		r.guess, r.edited = q.Incarnation, true
	}
	r.bare = q.IfNewer != 0 || r.guess.IsZero()
	for range attempts {
		snap, err := r.try(ctx)
		if err != nil || snap != nil {
			return snap, err
		}
	}
	return nil, fmt.Errorf("%w: the conversation changes faster than it can be read", store.ErrUnavailable)
}

// reading is one read: a MULTI for the incarnation that the name is believed to lead to, and another one if that was wrong.
type reading struct {
	s      *Store
	p      place
	q      *store.Query
	guess  conversation.ID
	staged bool // no name leads to the incarnation yet
	edited bool // the incarnation has edits
	bare   bool // ask for the head only
	apart  bool // without MULTI; valid if the head is the same before and after
	hints  map[conversation.ID]int
	again  bool // something did not fit: try once more

	pipe  redis.Pipeliner
	whole bool // send scripts with their whole text
	takes []take
	snap  *store.Snapshot
}

// take is a command that was sent, and what to do with its answer.
type take struct {
	cmd  redis.Cmder
	read func(redis.Cmder) error
}

// try sends the read once. It returns nil without an error if it must be sent again.
func (r *reading) try(ctx context.Context) (*store.Snapshot, error) {
	r.again, r.snap, r.takes = false, &store.Snapshot{}, r.takes[:0]
	one, withEdits := r.one(), r.edited
	var head, epoch, staged, last redis.Cmder
	err := r.s.transact(ctx, r.p.partition, r.apart || one, func(pipe redis.Pipeliner, whole bool) {
		r.pipe, r.whole, r.takes = pipe, whole, r.takes[:0]
		epoch = pipe.Get(ctx, r.p.epoch()) // read before the head: then a newer head with an older epoch only causes one more conflict
		head = r.ask(ctx, one)
		if !r.q.Incarnation.IsZero() && !one {
			staged = pipe.HMGet(ctx, r.p.of(kindIncarnation, r.q.Incarnation), incarnationFields...)
		}
		if !r.bare && !one {
			r.plan(ctx)
		}
		if r.apart {
			last = r.ask(ctx, false)
		}
	})
	switch {
	case errors.Is(err, store.ErrFull) && !r.apart: // a full memory has no room for any MULTI, not even for one that reads
		r.apart = true
		return nil, nil
	case err != nil:
		return nil, err
	case r.apart && !same(head, last):
		return nil, nil
	}
	v, err := values(head)
	if err != nil || len(v) < headFields {
		return nil, store.ErrCorrupt
	}
	if one && !r.q.Incarnation.IsZero() && !leadsTo(v, r.q.Incarnation) {
		r.guess, r.staged = r.q.Incarnation, true
		return nil, nil
	}
	leads, isStaged, err := r.head(v, staged)
	if err != nil {
		return nil, err
	}
	r.snap.Head.Epoch = word(epoch)
	switch {
	case r.bare && (!r.records() || r.q.IfNewer != 0 && r.q.IfNewer == r.snap.Head.Version):
		return r.snap, nil
	case r.bare || leads != r.guess || isStaged != r.staged || r.q.Edits != nil && r.edited && !withEdits:
		r.bare, r.guess, r.staged = false, leads, isStaged
		return nil, nil
	case one:
		return r.snap, r.decodeMessages(v[headFields:])
	}
	return r.collect()
}

// headFields is how many fields of a head are read: the head, the attributes, and the end of its staged messages.
const headFields = 3

// one reports whether a single command reads everything, because head and messages are in one hash. Then no MULTI is needed.
func (r *reading) one() bool {
	q := r.q
	if r.bare {
		return q.Incarnation.IsZero()
	}
	if r.guess.IsZero() || r.staged || r.apart || r.edited && q.Edits != nil || beside(q) {
		return false
	}
	return !slices.ContainsFunc(q.Ranges, func(m store.MessageRange) bool { return !exact(&m) })
}

// beside reports whether the query asks for anything other than the head, messages and edits.
func beside(q *store.Query) bool {
	return len(q.Slots)+len(q.Contents) > 0 || q.Since != nil || q.Request != nil || q.Manifest != nil || q.SlotsOf != "" || q.AllSlots ||
		q.Outcomes != nil || q.Stored != nil
}

// ask asks for the head and, with messages, for all messages of the query.
func (r *reading) ask(ctx context.Context, messages bool) redis.Cmder {
	args := append(make([]any, 0, 128), "hmget", r.p.head(), "h", "n", "x")
	if messages && !r.bare {
		for i := range r.q.Ranges {
			args = appendIndices(args, &r.q.Ranges[i])
		}
	}
	cmd := redis.NewSliceCmd(ctx, args...)
	_ = r.pipe.Process(ctx, cmd)
	return cmd
}

func leadsTo(head []any, id conversation.ID) bool {
	return strings.HasPrefix(text(head[0]), string(id[:]))
}

// same reports whether two answers are equal, so that nothing was committed in between.
func same(a, b redis.Cmder) bool {
	v, err := values(a)
	w, other := values(b)
	return err == nil && other == nil && slices.Equal(v, w)
}

func (r *reading) collect() (*store.Snapshot, error) {
	for _, t := range r.takes {
		if err := t.read(t.cmd); err != nil {
			return nil, err
		}
	}
	if r.again {
		return nil, nil
	}
	return r.snap, nil
}

// head reads the head, and which incarnation it belongs to.
func (r *reading) head(v []any, staged redis.Cmder) (leads conversation.ID, isStaged bool, err error) {
	var head string
	if v[0] != nil {
		if leads, _, head, err = unguard(text(v[0])); err != nil {
			return leads, false, err
		}
	}
	if !leads.IsZero() && (r.q.Incarnation.IsZero() || leads == r.q.Incarnation) {
		if r.snap.Head, err = r.s.codec.DecodeHead(alias(head)); err != nil {
			return leads, false, err
		}
		r.edited = r.snap.Head.EditSeq > 0 || v[2] != nil
		r.s.seen.put(r.p.key, lastSeen{leads, r.edited})
		return leads, false, r.info(v[1])
	}
	if staged != nil {
		inc, err := incarnationOf(staged)
		if err != nil {
			return leads, false, err
		}
		if inc.state == "S" && inc.name == r.p.name && !inc.dying {
			r.edited = true
			return r.q.Incarnation, true, nil
		}
	}
	return leads, false, fmt.Errorf("%w: the name leads nowhere", store.ErrNotFound)
}

func (r *reading) info(v any) error {
	if v == nil || !r.q.Info || r.q.IfNewer != 0 && r.q.IfNewer == r.snap.Head.Version {
		return nil
	}
	info, err := r.s.codec.DecodeInfo(alias(text(v)))
	r.snap.Info = &info
	return err
}

// plan sends commands for everything that the query asks for.
func (r *reading) plan(ctx context.Context) {
	for i := range r.q.Ranges {
		r.messages(ctx, &r.q.Ranges[i])
	}
	for _, step := range []func(context.Context){r.edits, r.since, r.outcome, r.manifests, r.slots, r.contents, r.outcomes, r.stored} {
		step(ctx)
	}
}

func (r *reading) of(kind string) string { return r.p.of(kind, r.guess) }

func (r *reading) take(cmd redis.Cmder, read func(redis.Cmder) error) {
	r.takes = append(r.takes, take{cmd, read})
}

func (r *reading) script(ctx context.Context, sc *script, keys []string, read func(redis.Cmder) error, args ...any) {
	if r.whole {
		r.take(r.pipe.Eval(ctx, sc.text, keys, args...), read)
		return
	}
	r.take(r.pipe.EvalSha(ctx, sc.sha, keys, args...), read)
}

// records reports whether the query asks for more than head and attributes.
func (r *reading) records() bool {
	return len(r.q.Ranges) > 0 || r.q.Edits != nil || beside(r.q)
}
