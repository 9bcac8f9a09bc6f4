package embedded

import (
	"context"
	"slices"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
)

// Delete implements memory.Target. With a message go the facts that it alone says, and with a fact the messages that say nothing else: what
// was deleted under one name does not come back under another.
func (t *Target) Delete(ctx context.Context, s memory.Scope, ids []string) (gone []string, err error) {
	err = t.change(ctx, s, func(d *draft) error {
		named := map[place]bool{}
		for _, id := range ids {
			if p, ok := parseID(id, d.tag); ok {
				named[p] = true
			}
		}
		gone, d.erases = nil, true
		for e := range d.entries() {
			if named[e.place()] {
				d.delete(e)
			}
		}
		for e := range d.entries() {
			buried := d.replaced[e] != nil && d.replaced[e].kind == goneEntry
			if e.kind != goneEntry && (buried || d.removed[e]) {
				gone = append(gone, e.id(d.tag))
			}
		}
		return nil
	})
	return gone, err
}

// delete deletes one memory.
func (d *draft) delete(e *entry) {
	switch e.kind {
	case saidEntry:
		d.bury(e)
		d.retractFacts(func(t *talk) bool { return t.talkKey == e.talk.talkKey }, conversation.Range{First: e.index, End: e.index + 1})
	case factEntry:
		for _, s := range e.more.sources {
			if said := d.sorted().byKey[s.talk.talkKey].find(s.first); said != nil && s.first == s.last && said.saysOnly(e) {
				d.bury(said)
			}
		}
		d.remove(e)
	default:
		d.remove(e)
	}
}

// bury leaves nothing of a message but that it was deleted.
func (d *draft) bury(e *entry) {
	if e.kind == saidEntry {
		d.replace(e, &entry{kind: goneEntry, talk: e.talk, index: e.index, time: e.time})
	}
}

// saysOnly says whether a message consists of a fact's words, after who speaks.
func (e *entry) saysOnly(fact *entry) bool {
	said, words := e.line.Codes, fact.line.Codes
	return len(words) > 0 && len(said) >= len(words) && slices.Equal(said[len(said)-len(words):], words) && len(said)-len(words) <= 3*int(e.line.Opening)
}

// Retract implements memory.Target. Without an incarnation it is about all conversations of the name.
func (t *Target) Retract(ctx context.Context, s memory.Scope, r *memory.Retraction) (memory.Forgetting, error) {
	var out memory.Forgetting
	err := t.change(ctx, s, func(d *draft) error {
		d.erases = true
		of := func(t *talk) bool {
			return t.name == r.Conversation && (r.Incarnation.IsZero() || t.incarnation == r.Incarnation)
		}
		for _, talk := range d.sorted().talks {
			for _, e := range talk.entries {
				if of(talk.talk) && r.Range.Contains(e.index) {
					d.remove(e)
				}
			}
		}
		if !r.KeepFacts {
			d.retractFacts(of, r.Range)
		}
		out.Deleted = int64(len(d.removed))
		return nil
	})
	return out, err
}

// retractFacts takes messages of conversations out of what facts cite. A fact that cites nothing any more goes.
func (d *draft) retractFacts(of func(*talk) bool, within conversation.Range) {
	cites := func(s source) bool { return of(s.talk) && s.first < within.End && s.last >= within.First }
	for _, e := range d.sorted().facts {
		now := e
		if by := d.replaced[e]; by != nil {
			now = by
		}
		if d.removed[e] || !slices.ContainsFunc(now.more.sources, cites) {
			continue
		}
		left := slices.DeleteFunc(slices.Clone(now.more.sources), cites)
		if len(left) == 0 {
			d.remove(e)
			continue
		}
		d.replaced[e] = now.citing(left)
	}
}

// Forget implements memory.Target. It leaves a mark, so that nothing older comes again with a batch that is under way.
func (t *Target) Forget(ctx context.Context, s memory.Scope, until time.Time) (memory.Forgetting, error) {
	var out memory.Forgetting
	err := t.change(ctx, s, func(d *draft) error {
		out.Deleted = 0
		for e := range d.entries() {
			if e.time > until.UnixMilli() {
				continue
			}
			d.remove(e)
			if e.kind != goneEntry {
				out.Deleted++
			}
		}
		d.directory.mark, d.directory.left = max(d.directory.mark, min(until.UnixMilli(), d.now)), 0
		d.erases, d.marked = true, true
		return nil
	})
	return out, err
}
