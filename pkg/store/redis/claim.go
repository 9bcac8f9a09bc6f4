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

// An incarnation belongs to one conversation. Within a partition its script sees to that; beyond it, whoever begins an incarnation writes
// first whose it is, under a key that the incarnation alone leads to. Ids are drawn at random, so that this guards against faults of callers,
// not against a race: two who begin one incarnation at the same instant in two partitions have records of their own, apart from each other.

// claiming runs a script that may begin an incarnation: with a claim at once, if it will, or when the script asks for one.
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

// claim writes whose the incarnation is, unless it is another's that is there. It says whether that was not written before.
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
	case other.state == "": // of one who gave up
		_, err := s.pipeline(ctx, partition, func(pipe redis.Pipeliner) { pipe.Set(ctx, key, p.name, 0) })
		return true, err
	default:
		return false, &ownedError{other}
	}
}

// ownedError says that an incarnation is another conversation's.
type ownedError struct{ incarnation }

func (e *ownedError) Error() string { return "the incarnation is another conversation's" }

func (e *ownedError) Unwrap() error { return store.ErrConflict }

// disclaim takes back a claim, if it can: another may take one that nothing is under. Its caller may have gone already.
func (s *Store) disclaim(ctx context.Context, p place, id conversation.ID) {
	const most = 250 * time.Millisecond
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), most)
	defer cancel()
	key, partition := s.space.owner(id)
	_, _ = s.pipeline(ctx, partition, func(pipe redis.Pipeliner) { pipe.Eval(ctx, s.scripts.disclaim.text, []string{key}, p.name) })
}

// ownerOf is the name of whose an incarnation is; empty if it is nobody's.
func (s *Store) ownerOf(ctx context.Context, id conversation.ID) (string, error) {
	key, partition := s.space.owner(id)
	cmds, err := s.pipeline(ctx, partition, func(pipe redis.Pipeliner) { pipe.Get(ctx, key) })
	if err != nil {
		return "", err
	}
	return word(cmds[0]), nil
}

// incarnation is what is known of one.
type incarnation struct {
	name  string // whose it is
	state string // S(taged), H: a name leads to it, R(eplaced); empty: there is none
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

var incarnationFields = []string{"k", "s", "d", "x"} //nolint:gochecknoglobals // it does not change

func incarnationOf(cmd redis.Cmder) (incarnation, error) {
	v, err := values(cmd)
	if err != nil || len(v) != len(incarnationFields) {
		return incarnation{}, fmt.Errorf("an incarnation: %w", errors.Join(store.ErrCorrupt, err))
	}
	return incarnation{name: text(v[0]), state: text(v[1]), due: text(v[2]), dying: v[3] != nil}, nil
}

// values are the elements of an answer that is a list.
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

// word is an answer that is a string; empty if there is none.
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

// alias is the bytes of an answer without a copy, for records: whoever decodes them copies what it keeps.
func alias(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) } //nolint:gosec // nobody writes to it

func text(v any) string {
	t, _ := v.(string)
	return t
}
