package embedded

import (
	"cmp"
	"iter"
	"slices"
	"sync"
	"unsafe"

	"github.com/palimpsest-context/palimpsest/pkg/search"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// index is a scope as of one generation. It is immutable, and safe for concurrent use.
type index struct {
	head      store.Head // its Incarnation is zero where there is no partition
	directory directory
	segments  []*segment // as the directory has them
	sorted    func() *sorted
}

func newIndex(head store.Head, d directory, segments []*segment) *index {
	x := &index{head: head, directory: d, segments: segments}
	x.sorted = sync.OnceValue(func() *sorted { return sortEntries(x) })
	return x
}

// entries yields all of them, in the order they came.
func (x *index) entries() iter.Seq[*entry] {
	return func(yield func(*entry) bool) {
		for _, s := range x.segments {
			for i := range s.entries {
				if !yield(&s.entries[i]) {
					return
				}
			}
		}
	}
}

// stored is how many bytes the segments have.
func (x *index) stored() (n int64) {
	for _, s := range x.segments {
		n += int64(s.bytes)
	}
	return n
}

// held is how much memory it takes, with what is made of it when it is first searched.
func (x *index) held() (n int64) {
	lines := int64(0)
	for _, s := range x.segments {
		n += s.held()
		lines += int64(len(s.entries))
	}
	const grown = 3 // pointers for each of two, because lists grow in steps
	return n + lines*int64(unsafe.Sizeof(search.Line{})+grown*unsafe.Sizeof(&entry{}))
}

// sorted are the entries of an index by what they are asked for.
type sorted struct {
	talks   []*talkEntries // by number
	byKey   map[talkKey]*talkEntries
	facts   []*entry // by number
	notes   []*entry // by number
	keys    map[string]*entry
	threads []search.Thread // each conversation's messages; each fact in force and each note by itself
	lines   []*entry        // by number of their line
}

// talkEntries are the entries of one conversation, by index.
type talkEntries struct {
	*talk
	entries []*entry
}

// find returns the entry of a message, nil if there is none.
func (t *talkEntries) find(index int32) *entry {
	if t == nil {
		return nil
	}
	if at, ok := t.search(index); ok {
		return t.entries[at]
	}
	return nil
}

func (t *talkEntries) search(index int32) (at int, found bool) {
	return slices.BinarySearchFunc(t.entries, index, func(e *entry, index int32) int { return cmp.Compare(e.index, index) })
}

func sortEntries(x *index) *sorted {
	s := &sorted{byKey: map[talkKey]*talkEntries{}, keys: map[string]*entry{}}
	var last *talkEntries
	lines := 0
	for e := range x.entries() {
		lines++
		switch e.kind {
		case saidEntry, goneEntry:
			if last == nil || last.talk != e.talk && last.talkKey != e.talk.talkKey {
				last = s.talkOf(e.talk)
			}
			last.entries = append(last.entries, e)
		case factEntry:
			s.facts = append(s.facts, e)
		case noteEntry:
			s.notes = append(s.notes, e)
			s.keys[e.more.key] = e
		}
	}
	byNumber := func(a, b *entry) int { return cmp.Compare(a.more.number, b.more.number) }
	slices.SortFunc(s.facts, byNumber)
	slices.SortFunc(s.notes, byNumber)
	slices.SortFunc(s.talks, func(a, b *talkEntries) int { return cmp.Compare(a.number, b.number) })
	s.lines = make([]*entry, 0, lines)
	s.thread()
	return s
}

func (s *sorted) talkOf(t *talk) *talkEntries {
	known := s.byKey[t.talkKey]
	if known == nil {
		known = &talkEntries{talk: t}
		s.byKey[t.talkKey] = known
		s.talks = append(s.talks, known)
	}
	return known
}

// thread makes the threads that are searched.
func (s *sorted) thread() {
	for _, t := range s.talks {
		slices.SortStableFunc(t.entries, func(a, b *entry) int { return cmp.Compare(a.index, b.index) })
		first, lines := len(s.lines), make(search.Thread, 0, len(t.entries))
		for _, e := range t.entries {
			if e.kind == saidEntry {
				s.lines, lines = append(s.lines, e), append(lines, e.line)
			}
		}
		if len(s.lines) > first {
			s.threads = append(s.threads, lines)
		}
	}
	for _, e := range slices.Concat(s.facts, s.notes) {
		if e.more.superseded == 0 {
			s.lines, s.threads = append(s.lines, e), append(s.threads, search.Thread{e.line})
		}
	}
}
