package embedded

import (
	"context"

	"github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/search"
)

// Scramble makes of a segment's slot one that another version coded: its codes lead nowhere.
func Scramble(value []byte) ([]byte, error) {
	s, err := decodeSegment(segmentRef{}, value)
	if err != nil {
		return nil, err
	}
	for i := range s.entries {
		if e := &s.entries[i]; e.kind != goneEntry {
			e.line = search.Line{Codes: []byte{1, 2, 3}}
		}
	}
	value = s.encode()
	value[1] = search.Coding + 1
	return value, nil
}

// Coding is the version of the codes in a segment's slot.
func Coding(value []byte) byte { return value[1] }

// Stats say what a scope holds.
type Stats struct {
	Messages int
	Left     int64 // messages and facts that left because there were newer ones
	Segments int
	Bytes    int64 // of all segments, as stored
}

// Stats says what a scope holds.
func (t *Target) Stats(ctx context.Context, s memory.Scope) (Stats, error) {
	x, err := t.load(ctx, s)
	if err != nil {
		return Stats{}, err
	}
	out := Stats{Left: x.directory.left, Segments: len(x.segments), Bytes: x.stored()}
	for e := range x.entries() {
		if e.kind == saidEntry {
			out.Messages++
		}
	}
	return out, nil
}
