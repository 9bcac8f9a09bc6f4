package embedded

import (
	"cmp"
	"context"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/search"
)

// recodeAtOnce is how many texts of a conversation are read at a time to be coded anew.
const recodeAtOnce = 200

// recode prepares the lines of segments anew that another version of the program coded otherwise. The next change writes them. A message that
// may not be shown now cannot be read, and is not found even if it may be shown later.
func (t *Target) recode(ctx context.Context, s memory.Scope, x *index) error {
	said := map[talkKey][]*entry{}
	for i, kept := range x.segments {
		if kept.coding == search.Coding {
			continue
		}
		again := *kept
		again.entries, again.coding, again.stale = slices.Clone(kept.entries), search.Coding, true
		x.segments[i] = &again
		for j := range again.entries {
			switch e := &again.entries[j]; e.kind {
			case saidEntry:
				e.line = search.Line{}
				said[e.talk.talkKey] = append(said[e.talk.talkKey], e)
			case factEntry, noteEntry:
				e.line = lineOf(e.more.text, nil)
			}
		}
	}
	for talk, entries := range said {
		slices.SortFunc(entries, func(a, b *entry) int { return cmp.Compare(a.index, b.index) })
		if err := t.recodeTalk(ctx, s, talk, entries); err != nil {
			return err
		}
	}
	return nil
}

func (t *Target) recodeTalk(ctx context.Context, s memory.Scope, talk talkKey, entries []*entry) error {
	var before *search.Line
	for some := range slices.Chunk(entries, recodeAtOnce) {
		indices, byIndex := make([]int32, len(some)), map[int32]*memory.Message{}
		for i, e := range some {
			indices[i] = e.index
		}
		messages, err := t.Texts(ctx, s.Namespace, talk.name, talk.incarnation, indices)
		if err != nil {
			return err
		}
		for i := range messages {
			byIndex[messages[i].Index] = &messages[i]
		}
		for _, e := range some {
			if m := byIndex[e.index]; m != nil {
				e.line = lineOf(spoken(m), before)
				before = &e.line
			}
		}
	}
	return nil
}
