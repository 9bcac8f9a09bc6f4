package embedded

import "slices"

// packing puts entries into segments.
type packing struct {
	*draft
	revision uint64
	segments []*segment
	dirty    map[*segment]bool
	slots    map[string][]byte
}

func (d *draft) pack(revision uint64) (*packing, error) {
	p := &packing{draft: d, revision: revision, dirty: map[*segment]bool{}, slots: map[string][]byte{}}
	var moved []*entry
	for _, s := range d.index.segments {
		s, over := p.revise(s)
		p.segments, moved = append(p.segments, s), append(moved, over...)
	}
	for _, e := range slices.Concat(moved, d.added) {
		p.append(e)
	}
	p.merge()
	return p, p.write()
}

// revise takes what is removed out of a segment and puts what is replaced into it. What does not fit any more is over.
func (p *packing) revise(s *segment) (_ *segment, over []*entry) {
	if s.stale {
		return p.empty(s)
	}
	if len(p.removed)+len(p.replaced) == 0 {
		return s, nil
	}
	first := 0
	for ; first < len(s.entries); first++ {
		if e := &s.entries[first]; p.removed[e] || p.replaced[e] != nil {
			break
		}
	}
	if first == len(s.entries) {
		return s, nil
	}
	out := &segment{segmentRef: segmentRef{s.number, p.revision}, bytes: s.bytes, entries: slices.Clone(s.entries[:first])}
	for i := first; i < len(s.entries); i++ {
		e := &s.entries[i]
		by := p.replaced[e]
		switch {
		case p.removed[e]:
			out.bytes -= len(e.line.Codes)
		case by == nil:
			out.entries = append(out.entries, *e)
		case out.bytes+max(0, by.size()-e.size()) > segmentBytes:
			over = append(over, by)
		default:
			out.bytes += max(0, by.size()-e.size())
			out.entries = append(out.entries, *by)
		}
	}
	p.dirty[out] = true
	return out, over
}

// empty takes everything out of a segment, to be written elsewhere.
func (p *packing) empty(s *segment) (_ *segment, entries []*entry) {
	for i := range s.entries {
		e := &s.entries[i]
		if by := p.replaced[e]; by != nil {
			e = by
		}
		if !p.removed[e] {
			entries = append(entries, e)
		}
	}
	out := &segment{segmentRef: s.segmentRef}
	p.dirty[out] = true
	return out, entries
}

// append adds an entry to the last segment, or begins another one.
func (p *packing) append(e *entry) {
	var last *segment
	if n := len(p.segments); n > 0 {
		last = p.segments[n-1]
	}
	switch {
	case last == nil || last.bytes+e.size() > segmentBytes:
		p.directory.slots++
		last = &segment{segmentRef: segmentRef{number: p.directory.slots}}
		p.segments = append(p.segments, last)
		p.dirty[last] = true
	case !p.dirty[last]:
		last = &segment{segmentRef: last.segmentRef, bytes: last.bytes, entries: slices.Clone(last.entries)}
		p.segments[len(p.segments)-1] = last
		p.dirty[last] = true
	}
	last.entries = append(last.entries, *e)
	last.bytes += e.size()
}

// merge joins segments that have become small with those beside them, so that there are never many.
func (p *packing) merge() {
	out := p.segments[:0]
	for _, s := range p.segments {
		if n := len(out); n > 0 && (p.dirty[s] || p.dirty[out[n-1]]) && out[n-1].bytes+s.bytes <= segmentBytes {
			joined := &segment{segmentRef: out[n-1].segmentRef, bytes: out[n-1].bytes + s.bytes, entries: slices.Concat(out[n-1].entries, s.entries)}
			p.dirty[joined] = true
			out[n-1] = joined
			continue
		}
		out = append(out, s)
	}
	p.segments = slices.Clip(slices.DeleteFunc(out, func(s *segment) bool { return len(s.entries) == 0 }))
}

// write encodes what changed, and removes the slots of what is not there any more. What was encoded is read again: an index holds the bytes
// of its slots, and nothing of what was removed.
func (p *packing) write() error {
	gone := map[int64]bool{}
	for _, s := range p.index.segments {
		gone[s.number] = true
	}
	for i, s := range p.segments {
		delete(gone, s.number)
		if p.dirty[s] {
			value := s.encode()
			again, err := decodeSegment(segmentRef{s.number, p.revision}, value)
			if err != nil {
				return err
			}
			p.slots[segmentSlot(s.number)], p.segments[i] = value, again
		}
		p.directory.segments = append(p.directory.segments, p.segments[i].segmentRef)
	}
	for number := range gone {
		p.slots[segmentSlot(number)] = nil
	}
	return nil
}
