package embedded

import (
	"context"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/memory"
)

// List implements memory.Target: notes first, then facts, then messages, each the newest first. A token is the id that a page ended with.
func (t *Target) List(ctx context.Context, s memory.Scope, p *memory.Page) (memory.Listing, error) {
	if err := checkScope(s); err != nil {
		return memory.Listing{}, err
	}
	after, ok := parseID(p.Token, tagOf(s))
	if p.Token != "" && !ok || p.Limit < 1 {
		return memory.Listing{}, refused("a token of no page, or a page of nothing")
	}
	x, err := t.load(ctx, s)
	if err != nil {
		return memory.Listing{}, err
	}
	entries := x.sorted().listed(p)
	if p.Token != "" {
		at, found := slices.BinarySearchFunc(entries, after, func(e *entry, after place) int { return e.place().compare(after) })
		if found {
			at++
		}
		entries = entries[at:]
	}
	return t.page(ctx, s, p.Limit, entries)
}

// page fills a page with memories that are still there.
func (t *Target) page(ctx context.Context, s memory.Scope, limit int, entries []*entry) (out memory.Listing, err error) {
	for len(out.Memories) < limit && len(entries) > 0 {
		n := min(limit-len(out.Memories), len(entries))
		memories, err := t.memories(ctx, s, entries[:n])
		if err != nil {
			return memory.Listing{}, contractError(ctx, err)
		}
		for _, m := range memories {
			if m.ID != "" {
				out.Memories = append(out.Memories, m)
			}
		}
		if n < len(entries) && len(out.Memories) == limit {
			out.Next = entries[n-1].id(tagOf(s))
		}
		entries = entries[n:]
	}
	return out, nil
}

// listed are the entries of a listing, in its order.
func (s *sorted) listed(p *memory.Page) (out []*entry) {
	now := memory.Millis(p.Now)
	for _, group := range []struct {
		kind    memory.Kind
		entries []*entry
	}{{memory.Added, s.notes}, {memory.Fact, s.facts}} {
		if !p.Wants(group.kind) {
			continue
		}
		for _, e := range slices.Backward(group.entries) {
			if !e.expired(now) {
				out = append(out, e)
			}
		}
	}
	if !p.Wants(memory.Said) {
		return out
	}
	for _, talk := range slices.Backward(s.talks) {
		for _, e := range slices.Backward(talk.entries) {
			if e.kind == saidEntry {
				out = append(out, e)
			}
		}
	}
	return out
}
