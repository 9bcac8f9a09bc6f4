package redis

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unsafe"

	"github.com/redis/go-redis/v9"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// An incarnation belongs to one conversation. Within a partition, the script ensures that. Across partitions, a process that begins an
// incarnation first writes its owner, under a key that depends on the incarnation alone. Ids are random, so this protects against mistakes
// of callers and not against a race: if two processes begin the same incarnation at the same time in two partitions, each has its own
// separate records.

// claiming runs a script that may begin an incarnation. It claims the incarnation first if begins is set, and otherwise when the script
// asks for it.
func (s *Store) claiming(ctx context.Context, p place, id conversation.ID, begins bool, run func(claimed string) (any, error)) error {
	var answer any = "CLAIM"
	if !begins {
		var err error
		if answer, err = run("0"); err != nil {
			return err
		}
	}
	if answer != "CLAIM" {
		return refusal(answer)
	}
	fresh, err := s.claim(ctx, p, id)
	if err != nil {
		return err
	}
	if answer, err = run("1"); err == nil {
		err = refusal(answer)
	}
	if err != nil && fresh && !errors.Is(err, store.ErrOutcomeUnknown) {
		s.disclaim(ctx, p, id)
	}
	return err
}

// claim writes the owner of the incarnation, unless it belongs to another conversation that exists. fresh reports that the owner was not
// written before.
func (s *Store) claim(ctx context.Context, p place, id conversation.ID) (fresh bool, err error) {
	key, partition := s.space.owner(id)
	cmds, err := s.pipeline(ctx, partition, func(pipe redis.Pipeliner) {
		pipe.SetArgs(ctx, key, p.name, redis.SetArgs{Mode: "NX", Get: true})
	})
	if err != nil {
		return false, err
	}
	owner := word(cmds[0])
	switch owner {
	case "":
		return true, nil
	case p.name:
		return false, nil
	}
	other, err := s.incarnation(ctx, owner, id)
	switch {
	case err != nil:
		return false, err
	case other.state == "": // left by a process that gave up
		_, err := s.pipeline(ctx, partition, func(pipe redis.Pipeliner) { pipe.Set(ctx, key, p.name, 0) })
		return true, err
	default:
		return false, &ownedError{other}
	}
}

// ownedError says that an incarnation belongs to another conversation.
type ownedError struct{ incarnation }

func (e *ownedError) Error() string { return "the incarnation is another conversation's" }

func (e *ownedError) Unwrap() error { return store.ErrConflict }

// disclaim removes a claim if it can. If it fails, others can still take the claim, as nothing is stored under it. Its caller may have
// gone.
func (s *Store) disclaim(ctx context.Context, p place, id conversation.ID) {
	const most = 250 * time.Millisecond
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), most)
	defer cancel()
	key, partition := s.space.owner(id)
	_, _ = s.pipeline(ctx, partition, func(pipe redis.Pipeliner) { pipe.Eval(ctx, s.scripts.disclaim.text, []string{key}, p.name) })
}

// ownerOf returns the name of the conversation that an incarnation belongs to; empty for none.
func (s *Store) ownerOf(ctx context.Context, id conversation.ID) (string, error) {
	key, partition := s.space.owner(id)
	cmds, err := s.pipeline(ctx, partition, func(pipe redis.Pipeliner) { pipe.Get(ctx, key) })
	if err != nil {
		return "", err
	}
	return word(cmds[0]), nil
}

// incarnation is what is known about an incarnation.
type incarnation struct {
	name  string // the conversation it belongs to
	state string // S(taged); H: a name leads to it; R(eplaced); empty: it does not exist
	due   string
	dying bool
}

func (s *Store) incarnation(ctx context.Context, name string, id conversation.ID) (incarnation, error) {
	key, err := keyOf(name)
	if err != nil {
		return incarnation{}, err
	}
	p := s.space.place(key)
	cmds, err := s.pipeline(ctx, p.partition, func(pipe redis.Pipeliner) {
		pipe.HMGet(ctx, p.of(kindIncarnation, id), incarnationFields...)
	})
	if err != nil {
		return incarnation{}, err
	}
	return incarnationOf(cmds[0])
}

var incarnationFields = []string{"k", "s", "d", "x"} //nolint:gochecknoglobals // never changed

func incarnationOf(cmd redis.Cmder) (incarnation, error) {
	v, err := values(cmd)
	if err != nil || len(v) != len(incarnationFields) {
		return incarnation{}, fmt.Errorf("an incarnation: %w", errors.Join(store.ErrCorrupt, err))
	}
	return incarnation{name: text(v[0]), state: text(v[1]), due: text(v[2]), dying: v[3] != nil}, nil
}

// values returns the elements of an answer that is a list.
func values(cmd redis.Cmder) ([]any, error) {
	switch c := cmd.(type) {
	case *redis.SliceCmd:
		return c.Val(), nil
	case *redis.Cmd:
		return list(c.Val())
	default:
		return nil, store.ErrCorrupt
	}
}

func list(v any) ([]any, error) {
	l, ok := v.([]any)
	if !ok {
		return nil, store.ErrCorrupt
	}
	return l, nil
}

// word returns an answer that is a string; empty for none.
func word(cmd redis.Cmder) string {
	switch c := cmd.(type) {
	case *redis.StringCmd:
		return c.Val()
	case *redis.StatusCmd:
		return c.Val()
	default:
		return ""
	}
}

// alias returns the bytes of an answer without a copy. Decoders of records copy what they keep.
func alias(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) } //nolint:gosec // nothing writes to it

func text(v any) string {
	t, _ := v.(string)
	return t
}
