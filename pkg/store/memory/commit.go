package memory

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// Commit implements store.Store.
func (s *Store) Commit(ctx context.Context, key store.Key, c *store.Change) error {
	if err := c.Check(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.beginWrite(ctx, key); err != nil {
		return err
	}
	old, head, err := s.current(key)
	if err != nil {
		return err
	}
	begins, err := c.Against(head)
	if err != nil {
		return err
	}
	inc := old
	if begins {
		if inc, err = s.fresh(key, c); err != nil {
			return err
		}
	}
	if err := s.admit(inc, c); err != nil {
		return err
	}
	if c.Aside {
		inc.setSlots(s, c.Slots)
		return nil
	}
	if begins {
		s.adopt(key, inc, c)
	}
	if begins && old != nil {
		s.replace(old, head, c.Head.UpdateTime)
	}
	s.apply(inc, c)
	s.wakes.Wake(key)
	return nil
}

// fresh is the incarnation that a change begins, with what was staged for it.
func (s *Store) fresh(key store.Key, c *store.Change) (*incarnation, error) {
	inc, ok := s.incarnations[c.Head.Incarnation]
	switch {
	case !ok:
		inc = newIncarnation(key)
	case inc.head != nil || inc.key != key:
		return nil, fmt.Errorf("%w: the incarnation was used before", store.ErrConflict)
	case inc.dying:
		return nil, fmt.Errorf("%w: what was staged is gone", store.ErrNotFound)
	}
	if c.Staged() && inc.messages.at(0) == nil {
		return nil, fmt.Errorf("%w: what was staged is gone", store.ErrNotFound)
	}
	return inc, nil
}

// admit checks what a change demands beside the version.
func (s *Store) admit(inc *incarnation, c *store.Change) error {
	for _, id := range c.Uploads {
		if u := inc.contents[id]; u == nil || u.dying {
			return fmt.Errorf("%w: upload %s", store.ErrNotFound, id)
		}
	}
	return c.AgainstSlots(func(name string) ([]byte, error) { return inc.slot(s, name) })
}

func (s *Store) adopt(key store.Key, inc *incarnation, c *store.Change) {
	s.names[key] = c.Head.Incarnation
	s.incarnations[c.Head.Incarnation] = inc
	for _, u := range inc.contents {
		u.pending = u.dying
	}
}

// replace makes what is left of an incarnation that the name no longer leads to due.
func (s *Store) replace(old *incarnation, head *store.Head, now time.Time) {
	head.NextDue = head.DueReplaced(now)
	old.due = head.NextDue
	old.head = s.codec.EncodeHead(head)
}

func (s *Store) apply(inc *incarnation, c *store.Change) {
	inc.head, inc.due = s.codec.EncodeHead(&c.Head), c.Head.NextDue
	if c.Info != nil {
		inc.info = s.codec.EncodeInfo(c.Info)
	}
	maps.DeleteFunc(inc.manifests, func(seq int64, _ []byte) bool { return seq < c.DropManifests })
	inc.dropOutcomes(s, c.DropOutcomes)
	inc.putRecords(s, c.Messages, c.Edits, nil)
	inc.putRecords(s, c.ReplaceMessages, c.ReplaceEdits, c.ReplaceManifests)
	if c.Manifest != nil {
		inc.manifests[c.Manifest.Seq] = s.codec.EncodeManifest(c.Manifest)
	}
	if c.Outcome != nil {
		inc.putOutcomes(s, []store.Outcome{*c.Outcome})
	}
	inc.setSlots(s, c.Slots)
	for _, id := range c.Uploads {
		inc.contents[id].pending = false
	}
	for _, id := range c.Release {
		u := inc.content(id)
		u.pending, u.dying, u.due = true, true, c.Head.UpdateTime
	}
}

func (inc *incarnation) putRecords(s *Store, ms []conversation.Message, es []conversation.Edit, fs []conversation.Manifest) {
	for i := range ms {
		inc.messages.put(int(ms[i].Index), s.codec.EncodeMessage(&ms[i]))
	}
	for i := range es {
		inc.edits.put(int(es[i].Seq), s.codec.EncodeEdit(&es[i]))
	}
	for i := range fs {
		inc.manifests[fs[i].Seq] = s.codec.EncodeManifest(&fs[i])
	}
}

func (inc *incarnation) setSlots(s *Store, slots map[string][]byte) {
	for name, value := range slots {
		if value == nil {
			delete(inc.slots, name)
			continue
		}
		inc.slots[name] = s.codec.EncodeSlot(value)
	}
}

// slot is nil for one that is not there.
func (inc *incarnation) slot(s *Store, name string) ([]byte, error) {
	value, ok := inc.slots[name]
	if !ok {
		return nil, nil
	}
	return s.codec.DecodeSlot(value)
}

func (inc *incarnation) putOutcomes(s *Store, outcomes []store.Outcome) {
	for i := range outcomes {
		inc.outcomes[outcomes[i].Key] = s.codec.EncodeOutcome(&outcomes[i])
	}
}

// dropOutcomes keeps what cannot be read: that is for Read to report.
func (inc *incarnation) dropOutcomes(s *Store, before time.Time) {
	for key, value := range inc.outcomes {
		if o, err := s.codec.DecodeOutcome(value); err == nil && o.Time.Before(before) {
			delete(inc.outcomes, key)
		}
	}
}

func (inc *incarnation) content(id conversation.ID) *content {
	u := inc.contents[id]
	if u == nil {
		u = &content{}
		inc.contents[id] = u
	}
	return u
}
