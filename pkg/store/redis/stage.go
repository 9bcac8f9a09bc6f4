package redis

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// Stage implements store.Store. A chunk is written by a command of its own: as an argument of a script, it would block all others for
// several times as long. The script first reserves room for the chunk. The chunk is only written if the room still exists and the store is
// not sealed.
func (s *Store) Stage(ctx context.Context, key store.Key, u *store.Upload) error {
	if err := cmp.Or(key.Check(), u.Check()); err != nil {
		return err
	}
	p := s.space.place(key)
	if u.ID.IsZero() {
		return s.register(ctx, p, u)
	}
	chunk := p.chunk(u.Incarnation, u.ID, int(u.Chunk))
	if err := s.register(ctx, p, u); err != nil {
		return err
	}
	return s.putChunk(ctx, p, chunk, s.codec.EncodeChunk(u.Data))
}

// stageClaimArg is the index of the argument that tells stage.lua whether the incarnation is claimed.
const stageClaimArg = launchArg + 6

// register runs stage.lua.
func (s *Store) register(ctx context.Context, p place, u *store.Upload) error {
	id := []byte(nil)
	if !u.ID.IsZero() {
		id = u.ID[:]
	}
	w := s.writing(p, 2*len(u.Messages))
	w.add(u.Incarnation[:], due(u.Time.Add(store.UploadGrace)), flag(u.Records()), id, int64(u.Chunk)+1, "0", 2*len(u.Messages))
	w.messages(u.Messages)
	w.records(u.Edits, u.Manifests)
	for i := range u.Outcomes {
		w.outcome(&u.Outcomes[i])
	}
	w.slots(u.Slots)
	err := s.claiming(ctx, p, u.Incarnation, false, func(claimed string) (any, error) {
		w.args[stageClaimArg] = claimed
		return s.runScript(ctx, p.partition, s.scripts.stage, "", w)
	})
	return stagedElsewhere(err)
}

// stagedElsewhere is the error for staging under an incarnation of another conversation: ErrNotFound, unless the incarnation waits to be
// committed there.
func stagedElsewhere(err error) error {
	var owned *ownedError
	if errors.As(err, &owned) && (owned.state != "S" || owned.dying) {
		return fmt.Errorf("%w: the key does not lead to the incarnation", store.ErrNotFound)
	}
	return err
}

// putChunk fills the room that register reserved. It watches the seal, so that nothing is written once Seal has returned.
func (s *Store) putChunk(ctx context.Context, p place, key string, value []byte) error {
	seal := p.base + kindSeal
	cmds, err := s.ask(ctx, p.partition, func(ctx context.Context, c *redis.Client) (cmds []redis.Cmder, err error) {
		err = c.Watch(ctx, func(tx *redis.Tx) error {
			switch n, err := tx.Exists(ctx, seal).Result(); {
			case err != nil:
				return err
			case n > 0:
				return errSealed
			}
			cmds, err = tx.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
				pipe.SetXX(ctx, key, value, 0)
				return nil
			})
			return err
		}, seal)
		return cmds, err
	})
	if err != nil {
		return err
	}
	if set, ok := cmds[0].(*redis.BoolCmd); !ok || !set.Val() {
		return fmt.Errorf("%w: what was staged is gone", store.ErrNotFound)
	}
	return nil
}

// errSealed aborts a transaction because of the seal.
var errSealed = errors.New("sealed while a chunk was on its way")

// deleteStep is how many records a call without a limit deletes: some milliseconds of the server's time.
const deleteStep = 2000

// Delete implements store.Store.
func (s *Store) Delete(ctx context.Context, key store.Key, d store.Deletion) (bool, error) {
	if err := key.Check(); err != nil {
		return false, err
	}
	d.Limit = cmp.Or(max(d.Limit, 0), deleteStep)
	p := s.space.place(key)
	for range 3 { // the partition that the key leads to, then that of the owner there, then that of the owner
		answer, err := s.remove(ctx, p, d)
		if err != nil {
			return false, err
		}
		owner := text(answer)
		switch owner {
		case "DONE":
			s.wakes.Wake(p.key)
			return true, nil
		case "REMOVED":
			s.wakes.Wake(p.key)
			s.disclaim(ctx, p, d.Incarnation)
			return true, nil
		case "MORE":
			return false, nil
		case "ABSENT":
			if owner, err = s.ownerOf(ctx, d.Incarnation); err != nil {
				return false, err
			}
			if owner == "" || owner == p.name {
				return true, nil
			}
		case "":
			l, err := list(answer)
			if err != nil || len(l) != 1 {
				return false, store.ErrCorrupt
			}
			owner = text(l[0])
		default:
			return false, refusal(owner)
		}
		if key, err = keyOf(owner); err != nil {
			return false, err
		}
		p = s.space.place(key)
	}
	return true, nil
}

func (s *Store) remove(ctx context.Context, p place, d store.Deletion) (any, error) {
	upload := []byte(nil)
	if d.Upload != (conversation.ID{}) {
		upload = d.Upload[:]
	}
	w := s.writing(p, 0)
	w.add(d.Incarnation[:], upload, flag(d.KeepHead), d.Limit)
	return s.runScript(ctx, p.partition, s.scripts.remove, "", w)
}
