package embedded

import (
	"cmp"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// draft is what is to become of an index. It is not safe for concurrent use.
type draft struct {
	*index
	tag       string // of ids
	directory directory
	now       int64
	removed   map[*entry]bool
	replaced  map[*entry]*entry // what stands in an entry's place
	added     []*entry
	talks     map[talkKey]*talk     // that have no entry yet
	stated    map[string]*statement // what facts say, by text
	erases    bool                  // what is removed must not be left anywhere
	marked    bool
}

func newDraft(x *index, s memory.Scope, now int64) *draft {
	d := &draft{
		index: x, tag: tagOf(s), directory: x.directory, now: now, removed: map[*entry]bool{}, replaced: map[*entry]*entry{}, talks: map[talkKey]*talk{}, stated: map[string]*statement{},
	}
	d.directory.segments = nil
	return d
}

func (d *draft) changed() bool {
	return d.marked || len(d.removed)+len(d.replaced)+len(d.added) > 0
}

// talkOf is the conversation under a key, which gets a number if it is new.
func (d *draft) talkOf(key talkKey) *talk {
	if known := d.sorted().byKey[key]; known != nil {
		return known.talk
	}
	if d.talks[key] == nil {
		d.directory.talks++
		d.talks[key] = &talk{d.directory.talks, key}
	}
	return d.talks[key]
}

func (d *draft) nextNumber() int64 {
	d.directory.numbers++
	return d.directory.numbers
}

func (d *draft) add(e *entry) { d.added = append(d.added, e) }

// remove takes an entry away, which was there before this draft or came by it.
func (d *draft) remove(e *entry) {
	if at := slices.Index(d.added, e); at >= 0 {
		d.added = slices.Delete(d.added, at, at+1)
		return
	}
	delete(d.replaced, e)
	d.removed[e] = true
}

// replace puts another entry in the place of one, which may be of this draft.
func (d *draft) replace(e, by *entry) {
	if at := slices.Index(d.added, e); at >= 0 {
		d.added[at] = by
		return
	}
	for old, new := range d.replaced {
		if new == e {
			d.replaced[old] = by
			return
		}
	}
	d.replaced[e] = by
}

// facts are those that there are as far as it is decided, by number.
func (d *draft) facts() (out []*entry) {
	for _, e := range d.sorted().facts {
		switch {
		case d.removed[e]:
		case d.replaced[e] != nil:
			out = append(out, d.replaced[e])
		default:
			out = append(out, e)
		}
	}
	for _, e := range d.added {
		if e.kind == factEntry {
			out = append(out, e)
		}
	}
	return out
}

// commit makes the draft a change, and the index that it leads to.
func (d *draft) commit(head store.Head, maxMessages int, maxBytes int64) (*index, *store.Change, error) {
	d.dropExpired()
	d.dropOldest(maxMessages, maxBytes)
	d.reinstate()
	p, err := d.pack(head.Version)
	if err != nil {
		return nil, nil, err
	}
	c := &store.Change{Expect: d.head.Version, Head: head, Slots: p.slots, Erases: d.erases}
	c.Slots[directorySlot] = d.directory.encode()
	return newIndex(head, d.directory, p.segments), c, nil
}

// dropExpired removes what has expired: whenever something is written anyway.
func (d *draft) dropExpired() {
	for _, e := range slices.Concat(d.sorted().facts, d.sorted().notes) {
		if e.more.expire != 0 && e.more.expire <= d.now && !d.removed[e] {
			d.remove(e)
			d.erases = true
		}
	}
}

// reinstate puts facts in force again whose contradiction goes; what contradicts that one contradicts them, too.
func (d *draft) reinstate() {
	by := map[int64]int64{}
	for e := range d.removed {
		if e.kind == factEntry {
			by[e.more.number] = e.more.superseded
		}
	}
	if len(by) == 0 {
		return
	}
	for _, e := range d.facts() {
		number := e.more.superseded
		for next, gone := by[number]; gone; next, gone = by[number] {
			number = next
		}
		if number != e.more.superseded {
			d.replace(e, e.supersededBy(number))
		}
	}
}

// dropOldest removes the oldest messages, and the oldest facts, beyond what a scope may hold.
func (d *draft) dropOldest(maxMessages int, maxBytes int64) {
	if len(d.added) == 0 {
		return
	}
	messages, facts, size := d.count()
	if messages > maxMessages || size > maxBytes {
		size -= d.dropOldestOf(saidEntry, messages-maxMessages, size-maxBytes)
	}
	if facts > MaxFacts || size > maxBytes {
		d.dropOldestOf(factEntry, facts-MaxFacts, size-maxBytes)
	}
}

func (d *draft) count() (messages, facts int, size int64) {
	counts := map[entryKind]int{}
	for e := range d.entries() {
		if d.removed[e] {
			size -= int64(e.size())
		} else {
			counts[e.kind]++
		}
	}
	for _, e := range d.added {
		counts[e.kind]++
		size += int64(e.size())
	}
	return counts[saidEntry], counts[factEntry], size + d.stored()
}

// dropOldestOf removes so many entries and bytes, and returns how many bytes it removed.
func (d *draft) dropOldestOf(kind entryKind, number int, bytes int64) (dropped int64) {
	var all []*entry
	for e := range d.entries() {
		if e.kind == kind && !d.removed[e] {
			all = append(all, e)
		}
	}
	for _, e := range d.added {
		if e.kind == kind {
			all = append(all, e)
		}
	}
	slices.SortStableFunc(all, func(a, b *entry) int { return cmp.Compare(a.time, b.time) })
	for _, e := range all {
		if number <= 0 && dropped >= bytes {
			break
		}
		d.remove(e)
		d.directory.left++
		number, dropped = number-1, dropped+int64(e.size())
	}
	return dropped
}
