package mem0

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/memory"
)

const (
	mostRemoved = 200                  // memories that one call takes away, where each takes a request
	mostEvents  = 10_000               // events that are remembered until they settle
	forgetTime  = 3 * time.Second      // how long a call waits for a deletion that is queued
	forgetPause = 5 * time.Millisecond // and longer each time
)

// Add implements memory.Target.
func (t *Target) Add(ctx context.Context, b *memory.Batch) (memory.Receipt, error) {
	a := additionOf(b)
	if a == nil {
		return memory.Receipt{}, nil
	}
	if len(b.Messages) > maxMessages {
		return memory.Receipt{}, memory.ErrRefused
	}
	ids, event, err := t.api.add(ctx, a)
	if err != nil {
		return memory.Receipt{}, err
	}
	if event != "" {
		t.remember(eventKey(a.identity, b.Key), event)
		return memory.Receipt{Pending: true}, nil
	}
	return memory.Receipt{IDs: ids}, nil
}

// eventKey names work under way: a batch by its key, a deletion by none.
func eventKey(id identity, key string) string {
	field, value := id.field()
	return field + " " + value + " " + key
}

func (t *Target) remember(name, event string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for old := range t.events {
		if len(t.events) < mostEvents {
			break
		}
		delete(t.events, old) // a batch is looked up by its key, a deletion asked for again
	}
	t.events[name] = event
}

func (t *Target) eventOf(name string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.events[name]
}

func (t *Target) done(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.events, name)
}

// Settle implements memory.Target. Work under way comes first: what is not there yet may come. A batch of which nothing was drawn cannot be
// told from one that never came, but where the platform knows its event: it is to be sent again, and nothing doubles.
func (t *Target) Settle(ctx context.Context, b *memory.Batch) (memory.Receipt, error) {
	a := additionOf(b)
	if a == nil {
		return memory.Receipt{}, nil
	}
	name := eventKey(a.identity, b.Key)
	pending, done, err := t.api.settled(ctx, t.eventOf(name), a.identity, b.Key)
	if err != nil {
		return memory.Receipt{}, err
	}
	if pending {
		return memory.Receipt{Pending: true}, nil
	}
	mine, _, err := t.marked(ctx, b.Scope, "key", func(m *memory.Memory, d *metadata) bool { return d.Key == b.Key && m.Kind != memory.Added }, b.Key)
	if err != nil {
		return memory.Receipt{}, err
	}
	ids := idsOfMemories(mine)
	switch {
	case !b.Infer && len(ids) > 0 && len(ids) < len(a.Messages):
		// A part of what is kept one by one: it goes, so that the whole can be sent again.
		if err := t.api.remove(ctx, ids); err != nil {
			return memory.Receipt{}, err
		}
		return memory.Receipt{}, memory.ErrNotFound
	case len(ids) == 0 && !done:
		return memory.Receipt{}, memory.ErrNotFound
	}
	t.done(name)
	return memory.Receipt{IDs: ids}, nil
}

// marked returns the memories of a scope whose metadata have a value, as the test says, and whether the service showed all.
func (t *Target) marked(ctx context.Context, s memory.Scope, field string, test func(*memory.Memory, *metadata) bool, value string) ([]memory.Memory, bool, error) {
	rows, all, err := t.api.marked(ctx, identityOf(s), field, value)
	if err != nil {
		return nil, false, err
	}
	return memoriesOf(s, rows, test), all, nil
}

// memoriesOf are the rows that are the scope's and ours, each once, as far as a test lets them.
func memoriesOf(s memory.Scope, rows []row, test func(*memory.Memory, *metadata) bool) (out []memory.Memory) {
	seen := map[string]bool{}
	for i := range rows {
		m, d, ok := rows[i].read(s)
		if ok && !seen[m.ID] && test(&m, &d) {
			seen[m.ID] = true
			out = append(out, m)
		}
	}
	return out
}

func idsOfMemories(memories []memory.Memory) (out []string) {
	for i := range memories {
		out = append(out, memories[i].ID)
	}
	return out
}

// Put implements memory.Target. Mem0 knows no key that makes an add happen once: what is there under it is looked for first.
func (t *Target) Put(ctx context.Context, s memory.Scope, n *memory.Note) (string, error) {
	if isBlank(n.Text) || utf8.RuneCountInString(n.Text) > maxChars {
		return "", memory.ErrRefused
	}
	there := func() (string, error) {
		found, _, err := t.marked(ctx, s, "key", func(m *memory.Memory, d *metadata) bool { return d.Key == n.Key && m.Kind == memory.Added }, n.Key)
		if err != nil || len(found) == 0 {
			return "", err
		}
		return found[0].ID, nil
	}
	if id, err := there(); id != "" || err != nil {
		return id, err
	}
	ids, _, err := t.api.add(ctx, additionOfNote(s, n))
	if err != nil {
		return "", err
	}
	if len(ids) > 0 {
		return ids[0], nil
	}
	if id, err := there(); id != "" || err != nil {
		return id, err
	}
	return "", memory.ErrOutcomeUnknown
}

// Search implements memory.Target. More is asked for than wanted, since a part is left out afterwards.
func (t *Target) Search(ctx context.Context, s memory.Scope, q *memory.Query) ([]memory.Memory, error) {
	text := clean(q.Text, maxChars)
	if isBlank(text) || q.Limit < 1 {
		return nil, nil
	}
	var rows []row
	_, err := shrinking(3*q.Limit+10, func(most int) (err error) {
		rows, err = t.api.search(ctx, identityOf(s), text, most, min(max(q.Floor, 0), 1))
		return err
	})
	if err != nil {
		return nil, err
	}
	out := memoriesOf(s, rows, func(m *memory.Memory, _ *metadata) bool {
		own := q.Except != "" && len(m.Sources) == 1 && m.Sources[0].Conversation == q.Except
		return !own && m.SupersededBy == "" && m.Score >= q.Floor && !m.Expired(q.Now)
	})
	slices.SortStableFunc(out, func(a, b memory.Memory) int { return cmp.Compare(b.Score, a.Score) })
	return out[:min(len(out), q.Limit)], nil
}

// List implements memory.Target. A server shows the first 1,000 memories of a scope. A page holds less than asked for where some are left out.
func (t *Target) List(ctx context.Context, s memory.Scope, p *memory.Page) (memory.Listing, error) {
	rows, next, err := t.api.list(ctx, identityOf(s), p.Token, max(p.Limit, 1))
	if err != nil {
		return memory.Listing{}, err
	}
	return memory.Listing{Next: next, Memories: memoriesOf(s, rows, func(m *memory.Memory, _ *metadata) bool { return p.Shows(m) })}, nil
}

// Delete implements memory.Target. Mem0 deletes by id whatever the scope: each memory is read first.
func (t *Target) Delete(ctx context.Context, s memory.Scope, ids []string) (gone []string, err error) {
	gone, err = t.owned(ctx, s, ids, func(*memory.Memory) bool { return true })
	if err != nil || len(gone) == 0 {
		return nil, err
	}
	return gone, t.api.remove(ctx, gone)
}

// owned are those of the ids that are memories of a scope.
func (t *Target) owned(ctx context.Context, s memory.Scope, ids []string, test func(*memory.Memory) bool) (out []string, err error) {
	if ctx.Err() != nil {
		return nil, &memory.UnavailableError{Cause: broken(ctx)}
	}
	for _, id := range ids {
		if !isID(id) || slices.Contains(out, id) {
			continue
		}
		r, err := t.api.get(ctx, id)
		if errors.Is(err, memory.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if m, _, ok := r.read(s); ok && m.ID == id && test(&m) {
			out = append(out, id)
		}
	}
	return out, nil
}

// Retract implements memory.Target. Of what was drawn from a batch goes all or nothing.
func (t *Target) Retract(ctx context.Context, s memory.Scope, r *memory.Retraction) (memory.Forgetting, error) {
	talk := talkOf(r.Conversation, r.Incarnation)
	kind := func(m *memory.Memory) bool { return m.Kind == memory.Said || m.Kind == memory.Fact && !r.KeepFacts }
	found, all, err := t.marked(ctx, s, "talk", func(m *memory.Memory, d *metadata) bool {
		return d.Talk == talk && kind(m) && m.Sources[0].Last >= r.Range.First && m.Sources[0].First < r.Range.End
	}, talk)
	if err != nil {
		return memory.Forgetting{}, err
	}
	ids := idsOfMemories(found)
	if !all {
		more, err := t.owned(ctx, s, slices.DeleteFunc(slices.Clone(r.IDs), func(id string) bool { return slices.Contains(ids, id) }), kind)
		if err != nil {
			return memory.Forgetting{}, err
		}
		ids = append(ids, more...)
	}
	out := memory.Forgetting{More: len(ids) > mostRemoved || !all && len(ids) > 0}
	if !all {
		out.Residue = append(out.Residue, "Mem0 shows only a part of so many memories: more of the conversation may be among the others.")
	}
	if len(ids) > 0 {
		ids = ids[:min(len(ids), mostRemoved)]
		out.Deleted, out.Residue = int64(len(ids)), append(out.Residue, t.api.residue())
		err = t.api.remove(ctx, ids)
	}
	if err != nil {
		return memory.Forgetting{}, err
	}
	return out, nil
}

// Forget implements memory.Target. The platform queues it: a call waits for a moment, and the next one goes on waiting.
func (t *Target) Forget(ctx context.Context, s memory.Scope, _ time.Time) (memory.Forgetting, error) {
	id := identityOf(s)
	name := eventKey(id, "")
	out := memory.Forgetting{Residue: []string{t.api.residue()}}
	before, err := t.api.count(ctx, id)
	if err != nil {
		return memory.Forgetting{}, err
	}
	event := t.eventOf(name)
	if event == "" {
		if event, err = t.api.forget(ctx, id); err != nil {
			return memory.Forgetting{}, err
		}
		t.remember(name, event)
	}
	if out.More, err = t.wait(ctx, event); err != nil {
		return memory.Forgetting{}, err
	}
	if out.More {
		return out, nil
	}
	t.done(name)
	left, err := t.api.count(ctx, id)
	if err != nil {
		return memory.Forgetting{}, err
	}
	out.More, out.Deleted = left > 0, max(before-left, 0)
	return out, nil
}

// wait says whether a deletion is still under way after a moment.
func (t *Target) wait(ctx context.Context, event string) (bool, error) {
	end, pause := time.Now().Add(forgetTime), forgetPause
	for {
		pending, err := t.api.forgetting(ctx, event)
		if !pending || err != nil || !time.Now().Before(end) {
			return pending, err
		}
		select {
		case <-ctx.Done():
			return true, nil
		case <-time.After(pause):
			pause *= 2
		}
	}
}

func isBlank(text string) bool { return strings.TrimSpace(text) == "" }

// isID says whether a text is a UUID, as all of Mem0's ids are: some stores break on others, and none may change a path.
func isID(text string) bool {
	if len(text) != 36 {
		return false
	}
	for i, r := range text {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (r == '-') || !dash && !strings.ContainsRune("0123456789abcdefABCDEF", r) {
			return false
		}
	}
	return true
}
