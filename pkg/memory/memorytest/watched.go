package memorytest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/memory"
)

// watched holds each answer of a target to what holds for all of them.
type watched struct {
	memory.Target
	t testing.TB
}

// Add implements memory.Target.
func (w *watched) Add(ctx context.Context, b *memory.Batch) (memory.Receipt, error) {
	w.t.Helper()
	receipt, err := w.Target.Add(ctx, b)
	w.receipt(receipt, err)
	w.failure(ctx, err, append(batchTexts(b), names(b.Scope)...))
	return receipt, err
}

// Settle implements memory.Target.
func (w *watched) Settle(ctx context.Context, b *memory.Batch) (memory.Receipt, error) {
	w.t.Helper()
	receipt, err := w.Target.Settle(ctx, b)
	w.receipt(receipt, err)
	w.failure(ctx, err, append(batchTexts(b), names(b.Scope)...))
	return receipt, err
}

func (w *watched) receipt(r memory.Receipt, err error) {
	w.t.Helper()
	if err != nil && (r.Pending || len(r.IDs) > 0) {
		w.t.Error("a receipt beside an error")
	}
	if !w.Limits().ReturnsIDs && len(r.IDs) > 0 {
		w.t.Error("a receipt names memories, and the limits say that none does")
	}
}

// Put implements memory.Target.
func (w *watched) Put(ctx context.Context, s memory.Scope, n *memory.Note) (string, error) {
	w.t.Helper()
	id, err := w.Target.Put(ctx, s, n)
	if (err == nil) != (id != "") {
		w.t.Errorf("an id (%t) and an error: %v", id != "", err)
	}
	w.failure(ctx, err, append(names(s), n.Text, n.Key))
	return id, err
}

// Search implements memory.Target.
func (w *watched) Search(ctx context.Context, s memory.Scope, q *memory.Query) ([]memory.Memory, error) {
	w.t.Helper()
	found, err := w.Target.Search(ctx, s, q)
	w.failure(ctx, err, append(names(s), q.Text))
	w.memories(s, found)
	if len(found) > q.Limit {
		w.t.Errorf("%d memories of at most %d", len(found), q.Limit)
	}
	for i := range found {
		m := &found[i]
		switch {
		case m.Score < 0 || m.Score > 1 || m.Score < q.Floor:
			w.t.Errorf("a score of %v, with a floor of %v", m.Score, q.Floor)
		case i > 0 && found[i-1].Score < m.Score:
			w.t.Error("the best is not first")
		case m.SupersededBy != "":
			w.t.Error("a superseded memory is found")
		case m.Expired(q.Now):
			w.t.Error("an expired memory is found")
		}
	}
	return found, err
}

// List implements memory.Target.
func (w *watched) List(ctx context.Context, s memory.Scope, p *memory.Page) (memory.Listing, error) {
	w.t.Helper()
	listing, err := w.Target.List(ctx, s, p)
	w.failure(ctx, err, append(names(s), p.Token))
	w.memories(s, listing.Memories)
	if len(listing.Memories) > p.Limit {
		w.t.Errorf("%d memories of at most %d", len(listing.Memories), p.Limit)
	}
	for i := range listing.Memories {
		if m := &listing.Memories[i]; !p.Wants(m.Kind) {
			w.t.Errorf("kind %d is listed among %v", m.Kind, p.Kinds)
		}
	}
	return listing, err
}

func (w *watched) memories(s memory.Scope, all []memory.Memory) {
	w.t.Helper()
	seen := map[string]bool{}
	for i := range all {
		m := &all[i]
		switch {
		case m.ID == "" || seen[m.ID]:
			w.t.Errorf("memory %d has no id of its own", i)
		case m.Scope != s:
			w.t.Errorf("a memory of another scope (kind %d, asked for %d)", m.Scope.Kind, s.Kind)
		case m.Kind != memory.Said && m.Kind != memory.Fact && m.Kind != memory.Added:
			w.t.Errorf("a memory of kind %d", m.Kind)
		}
		seen[m.ID] = true
	}
}

// Delete implements memory.Target.
func (w *watched) Delete(ctx context.Context, s memory.Scope, ids []string) ([]string, error) {
	w.t.Helper()
	gone, err := w.Target.Delete(ctx, s, ids)
	w.failure(ctx, err, append(names(s), ids...))
	return gone, err
}

// Retract implements memory.Target.
func (w *watched) Retract(ctx context.Context, s memory.Scope, r *memory.Retraction) (memory.Forgetting, error) {
	w.t.Helper()
	f, err := w.Target.Retract(ctx, s, r)
	w.failure(ctx, err, append(append(names(s), r.Conversation), r.IDs...))
	return f, err
}

// Forget implements memory.Target.
func (w *watched) Forget(ctx context.Context, s memory.Scope, until time.Time) (memory.Forgetting, error) {
	w.t.Helper()
	f, err := w.Target.Forget(ctx, s, until)
	w.failure(ctx, err, names(s))
	return f, err
}

// failure holds an error to being one of the contract or of the context, and to holding nothing of the request.
func (w *watched) failure(ctx context.Context, err error, private []string) {
	w.t.Helper()
	if err == nil {
		return
	}
	known := []error{memory.ErrUnavailable, memory.ErrOutcomeUnknown, memory.ErrRefused, memory.ErrDenied, memory.ErrNotFound}
	if ctx.Err() != nil {
		known = append(known, context.Canceled, context.DeadlineExceeded)
	}
	if !slices.ContainsFunc(known, func(k error) bool { return errors.Is(err, k) }) {
		w.t.Errorf("an error that the contract does not know: %v", err)
	}
	for _, p := range private {
		if len(p) > 3 && strings.Contains(err.Error(), p) {
			w.t.Errorf("the error quotes the request: %v", err)
		}
	}
}

func names(s memory.Scope) []string { return []string{s.Namespace, s.ID, s.ExternalID()} }

func batchTexts(b *memory.Batch) []string {
	out := append(make([]string, 0, len(b.Messages)+2), b.Conversation, b.Key)
	for i := range b.Messages {
		out = append(out, b.Messages[i].Text)
	}
	return out
}
