package embedded

import "github.com/palimpsest-context/palimpsest/pkg/search"

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
