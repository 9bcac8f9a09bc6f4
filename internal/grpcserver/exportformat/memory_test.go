package exportformat

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// plenty is memory that never ends, and what was asked of it.
type plenty struct {
	gathered, released int
	decoded            [][2]int
	refuse             error // what decoding ends with
}

func (*plenty) Longest() int    { return MaxLineBytes }
func (p *plenty) Gather() error { p.gathered++; return nil }
func (p *plenty) Release()      { p.released++ }

func (p *plenty) Decode(size, elements int) error {
	p.decoded = append(p.decoded, [2]int{size, elements})
	return p.refuse
}

const header = `{"palimpsest_export":1}` + "\n"

func TestReader_Next_AsksBeforeItDecodes(t *testing.T) {
	long := `{"no such":"` + strings.Repeat("x", bufferBytes) + `"}`
	for _, c := range []struct {
		line               string
		gathered, elements int
	}{
		{`{"a":[{},{}],"b":"{,[\",["}`, 0, 6},
		{long, 1, 1},
	} {
		m := &plenty{}
		if _, err := NewReader(strings.NewReader(header+c.line+"\n"), m).Next(); err == nil {
			t.Fatal("it is read")
		}
		want := [][2]int{{len(header) - 1, 1}, {len(c.line), c.elements}}
		if !slices.Equal(m.decoded, want) || m.gathered != c.gathered || m.released != 2 {
			t.Errorf("%.40s: decoded %v, want %v; gathered %d, released %d", c.line, m.decoded, want, m.gathered, m.released)
		}
	}
}

func TestReader_Next_RefusedMemory_EndsIt(t *testing.T) {
	full := errors.New("full")
	if _, err := NewReader(strings.NewReader(header), &plenty{refuse: full}).Next(); !errors.Is(err, full) {
		t.Errorf("%v", err)
	}
}

// TestReader_Next_LongState_IsRefused: an import holds its state until its end.
func TestReader_Next_LongState_IsRefused(t *testing.T) {
	for size, want := range map[int]bool{MaxStateBytes / 2: false, MaxStateBytes + 1: true} {
		line := `{"conversation":{"title":"` + strings.Repeat("x", size) + `","head":{}}}` + "\n"
		_, err := NewReader(strings.NewReader(header+line), &plenty{}).Next()
		if tooLong := err != nil && strings.Contains(err.Error(), "too long"); tooLong != want {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}
