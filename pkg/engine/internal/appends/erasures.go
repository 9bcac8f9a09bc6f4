package appends

import (
	"context"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/erasures"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/expiry"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// scheduleErasures adds to a change which parts of its messages are to be erased, and when.
func (as *Service) scheduleErasures(ctx context.Context, key store.Key, c *store.Change) error {
	fresh := make([]record.Erasure, 0, len(c.Messages))
	for i := range c.Messages {
		fresh = append(fresh, erasuresOf(&c.Messages[i])...)
	}
	if len(fresh) == 0 {
		return nil
	}
	var stored []byte
	if int(c.Head.Messages) > len(c.Messages) { // a conversation that had no messages has no scheduled erasures
		snap, err := as.Store.Read(ctx, key, store.Query{Incarnation: c.Head.Incarnation, Slots: []string{erasures.DueSlot}})
		if err != nil {
			return txn.Failure(err)
		}
		stored = snap.Slots[erasures.DueSlot]
	}
	list, err := erasures.ParseDue(stored)
	if err != nil {
		return err
	}
	if len(list)+len(fresh) > erasures.MaxListed {
		return conversation.Errorf(conversation.LimitExceeded, "at most %d messages of a conversation may wait to be erased", erasures.MaxListed)
	}
	c.Slots = map[string][]byte{erasures.DueSlot: record.EncodeErasures(append(list, fresh...), stored)}
	return nil
}

// erasuresOf lists the turns at which something of a message is to be erased, each turn once.
func erasuresOf(m *conversation.Message) []record.Erasure {
	var out []record.Erasure
	add := func(part int32, x *conversation.Expiration) {
		turn, ok := expiry.EraseTurn(m, part, x)
		if e := (record.Erasure{Index: m.Index, Turn: turn}); ok && !m.Pinned && !slices.Contains(out, e) {
			out = append(out, e)
		}
	}
	add(expiry.MessageText, m.Expiration)
	for i := range m.Parts {
		if r := m.Parts[i].Result; r != nil {
			add(int32(i), r.Expiration)
		}
	}
	return out
}
