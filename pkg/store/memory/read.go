package memory

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// Read implements store.Store.
func (s *Store) Read(ctx context.Context, key store.Key, q store.Query) (*store.Snapshot, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.begin(ctx, key); err != nil {
		return nil, err
	}
	inc, head, err := s.find(key, q.Incarnation)
	if err != nil {
		return nil, err
	}
	snap := &store.Snapshot{Head: *head}
	if q.IfNewer != 0 && q.IfNewer == head.Version {
		return snap, nil
	}
	r := reader{s: s, inc: inc, snap: snap}
	if err := r.answer(&q); err != nil {
		return nil, err
	}
	return snap, nil
}

// find is the incarnation to read: where the key leads, or one that is staged for it.
func (s *Store) find(key store.Key, want conversation.ID) (*incarnation, *store.Head, error) {
	inc, head, err := s.current(key)
	if err != nil {
		return nil, nil, err
	}
	if inc != nil && (want.IsZero() || head.Incarnation == want) {
		return inc, head, nil
	}
	staged := s.incarnations[want]
	if want.IsZero() || staged == nil || staged.head != nil || staged.key != key || staged.dying {
		return nil, nil, fmt.Errorf("%w: the name leads nowhere", store.ErrNotFound)
	}
	return staged, &store.Head{}, nil
}

// reader answers one query.
type reader struct {
	s    *Store
	inc  *incarnation
	snap *store.Snapshot
}

func (r *reader) answer(q *store.Query) error {
	if q.Info && r.inc.info != nil {
		info, err := r.s.codec.DecodeInfo(r.inc.info)
		if err != nil {
			return err
		}
		r.snap.Info = &info
	}
	for i := range q.Ranges {
		if err := r.messages(&q.Ranges[i]); err != nil {
			return err
		}
	}
	for _, step := range []func(*store.Query) error{r.edits, r.since, r.outcome, r.manifests, r.slots, r.contents, r.outcomes, r.stored} {
		if err := step(q); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) messages(q *store.MessageRange) error {
	first, step := int(q.First), 1
	end := min(int(q.End), len(r.inc.messages))
	count := end - first
	if q.Reverse {
		first, step = end-1, -1
	}
	var tokens int64
	for n, i := 0, first; count > 0; i, count = i+step, count-1 {
		value := r.inc.messages.at(i)
		if value == nil {
			continue
		}
		if q.Limit > 0 && n == q.Limit || q.MaxTokens > 0 && tokens >= q.MaxTokens {
			return nil
		}
		m, err := r.s.codec.DecodeMessage(value)
		if err != nil {
			return err
		}
		r.snap.Messages = append(r.snap.Messages, m)
		tokens += int64(m.Tokens)
		n++
	}
	return nil
}

func (r *reader) edits(q *store.Query) error {
	if q.Edits == nil {
		return nil
	}
	for seq := max(q.Edits.After+1, 0); seq < int64(len(r.inc.edits)) && q.Edits.Holds(seq); seq++ {
		value := r.inc.edits[seq]
		if value == nil {
			continue
		}
		e, err := r.s.codec.DecodeEdit(value)
		if err != nil {
			return err
		}
		if q.Edits.Wants(&e) {
			r.snap.Edits = append(r.snap.Edits, e)
		}
	}
	return nil
}

func (r *reader) since(q *store.Query) error {
	if q.Since == nil {
		return nil
	}
	messages, err := after(r.inc.messages, q.Since.Version, r.s.codec.DecodeMessage,
		func(m *conversation.Message) uint64 { return m.Commit })
	if err != nil {
		return err
	}
	edits, err := after(r.inc.edits, q.Since.Version, r.s.codec.DecodeEdit, func(e *conversation.Edit) uint64 { return e.Commit })
	if err != nil {
		return err
	}
	q.Since.Answer(r.snap, messages, edits)
	return nil
}

// after decodes the records that later commits made, from the newest back.
func after[T any](l log, version uint64, decode func([]byte) (T, error), commit func(*T) uint64) ([]T, error) {
	var out []T
	for _, value := range slices.Backward(l) {
		if value == nil {
			continue
		}
		v, err := decode(value)
		if err != nil {
			return nil, err
		}
		if commit(&v) <= version {
			break
		}
		out = append(out, v)
	}
	slices.Reverse(out)
	return out, nil
}

func (r *reader) outcome(q *store.Query) error {
	if q.Request == nil || r.inc.outcomes[*q.Request] == nil {
		return nil
	}
	o, err := r.s.codec.DecodeOutcome(r.inc.outcomes[*q.Request])
	r.snap.Outcome = &o
	return err
}

func (r *reader) manifests(q *store.Query) error {
	if q.Manifest == nil {
		return nil
	}
	seqs := slices.SortedFunc(maps.Keys(r.inc.manifests), func(a, b int64) int { return cmp.Compare(b, a) })
	for _, seq := range seqs {
		if len(r.snap.Manifests) == q.Manifest.Limit {
			break
		}
		if q.Manifest.Before > 0 && seq >= q.Manifest.Before {
			continue
		}
		m, err := r.s.codec.DecodeManifest(r.inc.manifests[seq])
		if err != nil {
			return err
		}
		r.snap.Manifests = append(r.snap.Manifests, m)
	}
	return nil
}

func (r *reader) slots(q *store.Query) error {
	for _, name := range r.inc.slotNames(q) {
		data, err := r.inc.slot(r.s, name)
		if err != nil {
			return err
		}
		if data != nil {
			r.snap.SetSlot(name, data)
		}
	}
	return nil
}

func (r *reader) contents(q *store.Query) error {
	for _, want := range q.Contents {
		data, err := r.content(want)
		if err != nil {
			return err
		}
		r.snap.Contents = append(r.snap.Contents, data)
	}
	return nil
}

func (r *reader) content(want store.ContentRange) ([]byte, error) {
	c := r.inc.contents[want.ID]
	if c == nil || c.pending || c.chunks.at(0) == nil {
		return nil, nil
	}
	out, skip := []byte{}, max(want.Offset, 0)
	for i := skip / store.ChunkBytes; c.chunks.at(int(i)) != nil && (want.Length < 0 || int64(len(out)) < want.Length); i++ {
		data, err := r.s.codec.DecodeChunk(c.chunks.at(int(i)))
		if err != nil {
			return nil, err
		}
		out = append(out, data[min(max(skip-i*store.ChunkBytes, 0), int64(len(data))):]...)
	}
	if want.Length >= 0 {
		out = out[:min(want.Length, int64(len(out)))]
	}
	return out, nil
}

func (r *reader) outcomes(q *store.Query) error {
	if q.Outcomes == nil {
		return nil
	}
	for _, key := range slices.SortedFunc(maps.Keys(r.inc.outcomes), store.RequestKey.Compare) {
		if q.Outcomes.After != nil && key.Compare(*q.Outcomes.After) <= 0 {
			continue
		}
		if len(r.snap.Outcomes) >= q.Outcomes.Limit {
			break
		}
		o, err := r.s.codec.DecodeOutcome(r.inc.outcomes[key])
		if err != nil {
			return err
		}
		r.snap.Outcomes = append(r.snap.Outcomes, o)
	}
	return nil
}

func (r *reader) stored(q *store.Query) error {
	if q.Stored == nil {
		return nil
	}
	for id, c := range r.inc.contents {
		if !c.pending && c.chunks.at(0) != nil && bytes.Compare(id[:], q.Stored.After[:]) > 0 {
			r.snap.Stored = append(r.snap.Stored, id)
		}
	}
	slices.SortFunc(r.snap.Stored, func(a, b conversation.ID) int { return bytes.Compare(a[:], b[:]) })
	r.snap.Stored = r.snap.Stored[:min(len(r.snap.Stored), max(q.Stored.Limit, 0))]
	return nil
}
