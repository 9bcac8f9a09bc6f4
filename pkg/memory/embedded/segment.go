package embedded

import (
	"fmt"
	"unsafe"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/search"
)

// The slots of a partition. One prefix reads all of them.
const (
	directorySlot = "index"
	segmentPrefix = "index/"
)

func segmentSlot(number int64) string { return fmt.Sprintf("%s%06d", segmentPrefix, number) }

// segmentBytes is how large a segment grows. A slot may have 64 KiB; less is written again with each batch.
const segmentBytes = 48 << 10

// layout is the version of both kinds of slots. What a newer one wrote is not read, so that nothing of it is lost.
const layout = 1

// directory says where the segments are, and counts.
type directory struct {
	mark     int64 // what was said or added until then was forgotten, in ms; 0 for nothing
	talks    int64 // numbers given to conversations; none is given twice
	numbers  int64 // given to facts and notes
	slots    int64 // given to segments
	left     int64 // messages and facts that left for newer ones
	segments []segmentRef
}

// segmentRef names a segment and the generation that wrote it.
type segmentRef struct {
	number   int64
	revision uint64
}

func (d *directory) encode() []byte {
	w := writer{b: []byte{layout}}
	for _, n := range []int64{d.mark, d.talks, d.numbers, d.slots, d.left} {
		w.signed(n)
	}
	w.number(uint64(len(d.segments)))
	for _, s := range d.segments {
		w.signed(s.number)
		w.number(s.revision)
	}
	return w.b
}

func decodeDirectory(b []byte) (d directory, err error) {
	r := reader{b: b}
	if r.byte() != layout {
		return d, errDamaged
	}
	for _, n := range []*int64{&d.mark, &d.talks, &d.numbers, &d.slots, &d.left} {
		*n = r.signed()
	}
	for range r.count() {
		d.segments = append(d.segments, segmentRef{r.signed(), r.number()})
	}
	if r.bad {
		return d, errDamaged
	}
	return d, nil
}

// segment is a part of the index. It is immutable once made.
type segment struct {
	segmentRef
	entries []entry
	bytes   int  // as stored
	talks   int  // that the entries name
	coding  byte // search.Coding of the lines
	stale   bool // the lines are not those that are stored: see recode
}

// talk is a conversation.
type talk struct {
	number int64
	talkKey
}

// talkKey tells conversations apart.
type talkKey struct {
	name        string
	incarnation conversation.ID
}

type entryKind byte

const (
	saidEntry entryKind = iota + 1
	factEntry
	noteEntry
	goneEntry // a message that was deleted: it does not come again with a batch that is sent again
)

// entry is a memory, or what is known of one that is gone.
type entry struct {
	kind  entryKind
	index int32 // of a message
	talk  *talk // of a message
	time  int64 // ms
	line  search.Line
	more  *details // of facts and notes
}

// details are what facts and notes have beside what messages have.
type details struct {
	number     int64
	text       string
	saidBy     string
	expire     int64  // ms; 0 for never
	superseded int64  // the number of the fact that contradicts it; 0 for none
	key        string // of a note
	metadata   string
	sources    []source // of a fact
}

// source is where a fact was said.
type source struct {
	talk        *talk
	first, last int32
	time        int64
}

func (s *segment) encode() []byte {
	talks := map[talkKey]uint64{}
	list := writer{}
	s.eachTalk(func(t *talk) {
		if _, ok := talks[t.talkKey]; !ok {
			talks[t.talkKey] = uint64(len(talks))
			list.signed(t.number)
			list.text(t.name)
			list.b = append(list.b, t.incarnation[:]...)
		}
	})
	w := writer{b: make([]byte, 0, s.bytes+64)}
	w.b = append(w.b, layout, search.Coding)
	w.number(uint64(len(talks)))
	w.b = append(w.b, list.b...)
	w.number(uint64(len(s.entries)))
	before := int64(0)
	for i := range s.entries {
		e := &s.entries[i]
		w.entry(e, talks, before)
		before = e.time
	}
	return w.b
}

// eachTalk yields the conversations that the entries name, again and again.
func (s *segment) eachTalk(give func(*talk)) {
	for i := range s.entries {
		if e := &s.entries[i]; e.talk != nil {
			give(e.talk)
		} else {
			for j := range e.more.sources {
				give(e.more.sources[j].talk)
			}
		}
	}
}

const questionBit = 0x80

func (w *writer) entry(e *entry, talks map[talkKey]uint64, before int64) {
	head := byte(e.kind)
	if e.line.Question {
		head |= questionBit
	}
	w.b = append(w.b, head)
	w.signed(e.time - before)
	if e.talk != nil {
		w.number(talks[e.talk.talkKey])
		w.number(uint64(e.index))
	}
	if e.kind == goneEntry {
		return
	}
	w.b = append(w.b, e.line.Language, e.line.Opening)
	w.bytes(e.line.Codes)
	if e.more != nil {
		w.details(e.more, talks)
	}
}

func (w *writer) details(m *details, talks map[talkKey]uint64) {
	w.signed(m.number)
	w.signed(m.expire)
	w.signed(m.superseded)
	for _, s := range []string{m.text, m.saidBy, m.key, m.metadata} {
		w.text(s)
	}
	w.number(uint64(len(m.sources)))
	for _, s := range m.sources {
		w.number(talks[s.talk.talkKey])
		w.number(uint64(s.first))
		w.number(uint64(s.last))
		w.signed(s.time)
	}
}

// decodeSegment reads a segment, which shares memory with the slot.
func decodeSegment(ref segmentRef, b []byte) (*segment, error) {
	s, r := &segment{segmentRef: ref, bytes: len(b)}, &reader{b: b}
	if r.byte() != layout {
		return nil, errDamaged
	}
	s.coding = r.byte()
	talks := make([]*talk, 0, r.count())
	for range cap(talks) {
		talks = append(talks, &talk{r.signed(), talkKey{r.text(), r.id()}})
	}
	s.talks = len(talks)
	n, before := r.count(), int64(0)
	s.entries = make([]entry, 0, n)
	for range n {
		e := r.entry(talks, before)
		if r.bad {
			return nil, errDamaged
		}
		before = e.time
		s.entries = append(s.entries, e)
	}
	if r.bad {
		return nil, errDamaged
	}
	return s, nil
}

func (r *reader) entry(talks []*talk, before int64) (e entry) {
	head := r.byte()
	e.kind, e.line.Question = entryKind(head&^questionBit), head&questionBit != 0
	e.time = before + r.signed()
	switch e.kind {
	case saidEntry, goneEntry:
		e.talk, e.index = r.talk(talks), int32(r.number())
	case factEntry, noteEntry:
		e.more = &details{}
	default:
		r.bad = true
	}
	if e.kind == goneEntry {
		return e
	}
	e.line.Language, e.line.Opening, e.line.Codes = r.byte(), r.byte(), r.bytes()
	if e.more != nil {
		r.details(e.more, talks)
	}
	return e
}

func (r *reader) details(m *details, talks []*talk) {
	m.number, m.expire, m.superseded = r.signed(), r.signed(), r.signed()
	for _, s := range []*string{&m.text, &m.saidBy, &m.key, &m.metadata} {
		*s = r.text()
	}
	for range r.count() {
		m.sources = append(m.sources, source{r.talk(talks), int32(r.number()), int32(r.number()), r.signed()})
	}
}

func (r *reader) talk(talks []*talk) *talk {
	n := r.number()
	if n >= uint64(len(talks)) {
		r.bad = true
		return nil
	}
	return talks[n]
}

// size bounds how many bytes an entry takes in a segment that knows none of its conversations.
func (e *entry) size() int {
	const numbers, perTalk = 32, 32
	n := numbers + len(e.line.Codes)
	if e.talk != nil {
		n += perTalk + len(e.talk.name)
	}
	if m := e.more; m != nil {
		n += 2*numbers + len(m.text) + len(m.saidBy) + len(m.key) + len(m.metadata)
		for i := range m.sources {
			n += numbers + perTalk + len(m.sources[i].talk.name)
		}
	}
	return n
}

// held is how much memory a segment takes.
func (s *segment) held() int64 {
	const perTalk = 2*int64(unsafe.Sizeof(talk{})) + 64 // here, and where entries are sorted
	n := int64(unsafe.Sizeof(*s)) + int64(s.bytes) + int64(s.talks)*perTalk + int64(cap(s.entries))*int64(unsafe.Sizeof(entry{}))
	for i := range s.entries {
		if m := s.entries[i].more; m != nil {
			n += int64(unsafe.Sizeof(*m)) + int64(len(m.text)+len(m.saidBy)+len(m.key)+len(m.metadata)) + int64(cap(m.sources))*int64(unsafe.Sizeof(source{}))
		}
	}
	return n
}
