package memories

import (
	"context"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// EndSession ends the current session of a conversation: what is not remembered yet is sent now, and the next append begins a
// new session.
func (s *Service) EndSession(ctx context.Context, key store.Key) (session int32, sync []Sync, err error) {
	if err := requireTarget(s.Target); err != nil {
		return 0, nil, err
	}
	err = s.Txn.Do(ctx, key, func() error {
		v, err := s.openForCaller(ctx, key)
		if err != nil {
			return err
		}
		state, err := v.queue.backlog(ctx)
		if err != nil {
			return err
		}
		session = state.session
		if !v.policy.Remembers() || v.head.Messages == 0 || slices.Contains(v.slot.Ends, v.head.Messages) {
			return nil
		}
		return v.endHere(ctx)
	})
	if err != nil {
		return 0, nil, err
	}
	s.worker.at(key, s.Txn.Now())
	sync, err = s.Sync(ctx, key)
	return session, sync, err
}

// endHere writes down that the session ends behind the last message. If the process crashes right after, the sweeper goes on
// from there.
func (v *syncState) endHere(ctx context.Context) error {
	next := v.slot.MemorySync
	next.Ends = append(slices.Clone(next.Ends), v.head.Messages)
	if v.slot.stored == nil {
		next.Edits = v.head.EditSeq
	}
	now := v.service.Txn.Now()
	c := &store.Change{
		Expect: v.head.Version, Head: v.head,
		Slots: map[string][]byte{v.slot.name: record.EncodeMemorySync(&next)}, ExpectSlots: map[string][]byte{v.slot.name: v.slot.stored},
	}
	c.Head.Version++
	c.Head.NextDue = txn.Earliest(c.Head.NextDue, now)
	return v.service.Store.Commit(ctx, v.key, c)
}
