package memory

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// Stage implements store.Store.
func (s *Store) Stage(ctx context.Context, key store.Key, u *store.Upload) error {
	if err := u.Check(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.beginWrite(ctx, key); err != nil {
		return err
	}
	inc := s.incarnations[u.Incarnation]
	if inc == nil {
		inc = newIncarnation(key)
		s.incarnations[u.Incarnation] = inc
	}
	if err := s.stageable(inc, key, u); err != nil {
		return err
	}
	due := u.Time.Add(store.UploadGrace)
	if inc.head == nil {
		inc.due = later(inc.due, due)
	}
	inc.putRecords(s, u.Messages, u.Edits, u.Manifests)
	inc.putOutcomes(s, u.Outcomes)
	inc.setSlots(s, u.Slots)
	if !u.ID.IsZero() {
		c := inc.content(u.ID)
		c.pending = inc.head != nil
		c.due = later(c.due, due)
		c.chunks.put(int(u.Chunk), s.codec.EncodeChunk(u.Data))
	}
	return nil
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (s *Store) stageable(inc *incarnation, key store.Key, u *store.Upload) error {
	if inc.dying {
		return fmt.Errorf("%w: the incarnation is being deleted", store.ErrNotFound)
	}
	if inc.head != nil && s.names[key] != u.Incarnation {
		return fmt.Errorf("%w: the key does not lead to the incarnation", store.ErrNotFound)
	}
	if inc.key != key {
		return fmt.Errorf("%w: the incarnation is another conversation's", store.ErrConflict)
	}
	if inc.head == nil {
		if c := inc.contents[u.ID]; c != nil && c.dying {
			return c.stageable(u.ID)
		}
		return nil
	}
	head, err := s.codec.DecodeHead(inc.head)
	switch {
	case err != nil:
		return err
	case head.State == store.Deleted:
		return fmt.Errorf("%w: the incarnation is deleted", store.ErrNotFound)
	case u.Records():
		return fmt.Errorf("%w: the incarnation has a head", store.ErrConflict)
	}
	return inc.contents[u.ID].stageable(u.ID)
}

func (c *content) stageable(id conversation.ID) error {
	switch {
	case c == nil:
		return nil
	case c.dying:
		return fmt.Errorf("%w: upload %s is being deleted", store.ErrNotFound, id)
	case !c.pending:
		return fmt.Errorf("%w: a commit refers to upload %s", store.ErrConflict, id)
	default:
		return nil
	}
}

// Delete implements store.Store.
func (s *Store) Delete(ctx context.Context, key store.Key, d store.Deletion) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.beginWrite(ctx, key); err != nil {
		return false, err
	}
	inc := s.incarnations[d.Incarnation]
	if inc == nil {
		return true, nil
	}
	live, err := s.live(inc)
	if err != nil {
		return false, err
	}
	limit := cmp.Or(max(d.Limit, 0), 1000)
	if !d.Upload.IsZero() {
		return inc.deleteUpload(d.Upload, live, limit)
	}
	if live {
		return false, fmt.Errorf("%w: the incarnation is live", store.ErrConflict)
	}
	return s.deleteIncarnation(d, inc, limit), nil
}

func (s *Store) live(inc *incarnation) (bool, error) {
	if inc.head == nil {
		return false, nil
	}
	head, err := s.codec.DecodeHead(inc.head)
	return head.State != store.Deleted, err
}

func (inc *incarnation) deleteUpload(id conversation.ID, live bool, limit int) (bool, error) {
	u := inc.contents[id]
	switch {
	case u == nil:
		return true, nil
	case live && !u.pending:
		return false, fmt.Errorf("%w: a commit refers to the upload", store.ErrConflict)
	}
	if !u.pending {
		u.pending, u.due = true, inc.due
	}
	u.dying = true
	if u.chunks.clear(limit) == limit {
		return false, nil
	}
	delete(inc.contents, id)
	return true, nil
}

func (s *Store) deleteIncarnation(d store.Deletion, inc *incarnation, limit int) bool {
	inc.dying = true
	leads := s.names[inc.key] == d.Incarnation
	tombstone := leads && d.KeepHead
	if inc.clear(limit, tombstone) {
		return false
	}
	if tombstone {
		return true
	}
	if leads {
		delete(s.names, inc.key)
	}
	delete(s.incarnations, d.Incarnation)
	return true
}

// clear drops about limit records, of a tombstone all but the outcomes, and says whether it used up the limit.
func (inc *incarnation) clear(limit int, tombstone bool) bool {
	inc.info = nil
	for _, l := range []log{inc.messages, inc.edits} {
		limit -= l.clear(limit)
	}
	limit -= clearMap(inc.manifests, limit)
	if !tombstone {
		limit -= clearMap(inc.outcomes, limit)
	}
	limit -= clearMap(inc.slots, limit)
	for id, u := range inc.contents {
		if limit -= u.chunks.clear(limit); limit > 0 {
			delete(inc.contents, id)
			limit--
		}
	}
	return limit <= 0
}

func clearMap[K comparable, V any](m map[K]V, limit int) int {
	n := 0
	for k := range m {
		if n < limit {
			delete(m, k)
			n++
		}
	}
	return n
}
