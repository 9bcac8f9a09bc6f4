package bolt

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// pair is a key and its value; a nil value deletes the key.
type pair struct{ key, value []byte }

// commit is a change that was encoded before it was queued.
type commit struct {
	key  store.Key
	c    *store.Change
	head []byte
	// rest holds the records other than the head. The head is written last, next to the newest message.
	rest []pair
}

// Commit implements store.Store.
func (s *Store) Commit(ctx context.Context, key store.Key, c *store.Change) error {
	if err := cmp.Or(key.Check(), c.Check()); err != nil {
		return err
	}
	return s.enter(&request{ctx: ctx, wake: key, apply: encode(s.codec, key, c).apply, frees: c.Frees()})
}

func encode(codec *record.Codec, key store.Key, c *store.Change) *commit {
	id := c.Head.Incarnation
	p := &commit{key: key, c: c, head: codec.EncodeHead(&c.Head)}
	p.rest = appendRecords(p.rest, codec, id, nil, c.Edits, nil)
	p.rest = appendRecords(p.rest, codec, id, nil, c.ReplaceEdits, c.ReplaceManifests)
	if c.Manifest != nil {
		p.put(manifestKey(id, c.Manifest.Seq), codec.EncodeManifest(c.Manifest))
	}
	if c.Outcome != nil {
		p.rest = appendOutcomes(p.rest, codec, id, []store.Outcome{*c.Outcome})
	}
	p.rest = appendSlots(p.rest, codec, id, c.Slots)
	if c.Info != nil {
		p.put(infoKey(id), codec.EncodeInfo(c.Info))
	}
	p.rest = appendRecords(p.rest, codec, id, c.ReplaceMessages, nil, nil)
	p.rest = appendRecords(p.rest, codec, id, c.Messages, nil, nil)
	return p
}

func (p *commit) put(key, value []byte) { p.rest = append(p.rest, pair{key, value}) }

func appendOutcomes(out []pair, codec *record.Codec, id conversation.ID, outcomes []store.Outcome) []pair {
	for i := range outcomes {
		out = append(out, pair{outcomeKey(id, outcomes[i].Key), codec.EncodeOutcome(&outcomes[i])})
	}
	return out
}

func appendSlots(out []pair, codec *record.Codec, id conversation.ID, slots map[string][]byte) []pair {
	for name, value := range slots {
		p := pair{key: slotKey(id, name)}
		if value != nil {
			p.value = codec.EncodeSlot(value)
		}
		out = append(out, p)
	}
	return out
}

func appendRecords(out []pair, codec *record.Codec, id conversation.ID, ms []conversation.Message, es []conversation.Edit,
	fs []conversation.Manifest,
) []pair {
	for i := range ms {
		out = append(out, pair{messageKey(id, ms[i].Index), codec.EncodeMessage(&ms[i])})
	}
	for i := range es {
		out = append(out, pair{editKey(id, kindEdit, es[i].Seq), codec.EncodeEdit(&es[i])}, pair{indexKey(id, &es[i]), []byte{}})
	}
	for i := range fs {
		out = append(out, pair{manifestKey(id, fs[i].Seq), codec.EncodeManifest(&fs[i])})
	}
	return out
}

// indexKey is the key under which an edit is found by its messages. An edit about no message (a content that was stored between
// two messages) is filed under the next message: among the wide edits, every answer would include it.
func indexKey(id conversation.ID, e *conversation.Edit) []byte {
	if store.AboutRange(e.Kind) || e.Range.Len() > 1 {
		return editKey(id, kindWide, e.Seq)
	}
	return narrowKey(id, e.Range.First, e.Seq)
}

// apply makes the change within the writer's transaction.
func (p *commit) apply(t *tx) error {
	head, err := t.current(p.key)
	if err != nil {
		return err
	}
	begins, err := p.c.Against(head)
	if err != nil {
		return err
	}
	if err := p.admit(t, begins); err != nil {
		return err
	}
	if p.c.Aside {
		return t.putAll(p.rest)
	}
	var due time.Time
	if begins {
		err = p.begin(t, head)
	} else {
		due = head.NextDue
	}
	if err != nil {
		return err
	}
	if err := t.moveHeadDue(p.key, p.c.Head.Incarnation, due, p.c.Head.NextDue); err != nil {
		return err
	}
	return p.write(t)
}

// admit checks what the change requires besides the version.
func (p *commit) admit(t *tx, begins bool) error {
	id := p.c.Head.Incarnation
	if begins {
		if err := p.admitIncarnation(t, id); err != nil {
			return err
		}
	}
	for _, upload := range p.c.Uploads {
		if t.dying(id, upload) || !t.hasChunks(id, upload) {
			return fmt.Errorf("%w: upload %s", store.ErrNotFound, upload)
		}
	}
	return p.c.AgainstSlots(func(name string) ([]byte, error) { return t.slot(t.record().Get(slotKey(id, name))) })
}

func (p *commit) admitIncarnation(t *tx, id conversation.ID) error {
	if t.record().Get(headKey(id)) != nil {
		return fmt.Errorf("%w: the incarnation was used before", store.ErrConflict)
	}
	staged, err := t.waits(id, conversation.ID{})
	switch {
	case err != nil:
		return err
	case staged != nil && staged.Key != p.key:
		return fmt.Errorf("%w: the incarnation was used before", store.ErrConflict)
	case t.dying(id, conversation.ID{}), p.c.Staged() && t.record().Get(messageKey(id, 0)) == nil:
		return fmt.Errorf("%w: what was staged is gone", store.ErrNotFound)
	default:
		return nil
	}
}

// slot returns the value of a slot; nil if the slot does not exist.
func (t *tx) slot(value []byte) ([]byte, error) {
	if value == nil {
		return nil, nil
	}
	return t.codec.DecodeSlot(value)
}

// begin makes the name lead to the new incarnation. old is the deleted head that the name led to; nil if there was none.
func (p *commit) begin(t *tx, old *store.Head) error {
	id := p.c.Head.Incarnation
	if err := t.name().Put(nameKey(p.key), t.codec.EncodeLink(id)); err != nil {
		return err
	}
	staged, err := t.waits(id, conversation.ID{})
	if err != nil {
		return err
	}
	if staged != nil {
		if err := t.settle(staged); err != nil {
			return err
		}
	}
	if old == nil {
		return nil
	}
	return p.replace(t, *old)
}

// replace makes the rest of the old incarnation due, now at the latest.
func (p *commit) replace(t *tx, old store.Head) error {
	was := old.NextDue
	old.NextDue = old.DueReplaced(p.c.Head.UpdateTime)
	if err := t.record().Put(headKey(old.Incarnation), t.codec.EncodeHead(&old)); err != nil {
		return err
	}
	return t.moveHeadDue(p.key, old.Incarnation, was, old.NextDue)
}

func (p *commit) write(t *tx) error {
	id := p.c.Head.Incarnation
	t.erased = t.erased || p.c.Erases || len(p.c.ReplaceMessages)+len(p.c.ReplaceEdits)+len(p.c.Release) > 0
	for _, upload := range p.c.Uploads {
		if task, err := t.waits(id, upload); err != nil {
			return err
		} else if task != nil {
			if err := t.settle(task); err != nil {
				return err
			}
		}
	}
	for _, upload := range p.c.Release {
		if err := p.release(t, upload); err != nil {
			return err
		}
	}
	if err := p.dropOld(t, id); err != nil {
		return err
	}
	if err := t.putAll(p.rest); err != nil {
		return err
	}
	return t.record().Put(headKey(id), p.head)
}

func (p *commit) release(t *tx, upload conversation.ID) error {
	id := p.c.Head.Incarnation
	old, err := t.waits(id, upload)
	if err != nil {
		return err
	}
	if err := t.setWaits(old, &store.Task{Key: p.key, Incarnation: id, Upload: upload, Time: p.c.Head.UpdateTime}); err != nil {
		return err
	}
	return t.pending().Put(dyingKey(id, upload), []byte{})
}

// dropOld removes the manifests and request ids that the change drops.
func (p *commit) dropOld(t *tx, id conversation.ID) error {
	if p.c.DropManifests > 0 {
		_, err := deleteUnder(t.record(), recordKey(id, kindManifest, 0), int(p.c.Head.ManifestSeq)+1, func(k, _ []byte) bool {
			return lastSeq(k) < p.c.DropManifests
		})
		if err != nil {
			return err
		}
	}
	if p.c.DropOutcomes.IsZero() {
		return nil
	}
	_, err := deleteUnder(t.record(), recordKey(id, kindOutcome, 0), 1<<20, func(_, v []byte) bool {
		o, err := t.codec.DecodeOutcome(v)
		return err == nil && o.Time.Before(p.c.DropOutcomes)
	})
	return err
}

func (t *tx) putAll(pairs []pair) error {
	for _, p := range pairs {
		if p.value == nil {
			if err := t.record().Delete(p.key); err != nil {
				return err
			}
			continue
		}
		if err := t.record().Put(p.key, p.value); err != nil {
			return err
		}
		t.largest = max(t.largest, len(p.value))
	}
	return nil
}
