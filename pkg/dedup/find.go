package dedup

// Own is the copy of a run whose lines stand further up in the text itself.
const Own = -1

// Span is a half-open range of lines.
type Span struct{ First, End int }

// Copy is a text that stands elsewhere.
type Copy struct {
	Lines []uint64
	Shown []Span // lines that can be named, in order and apart
}

// Run is a run of lines that a copy has too.
type Run struct {
	Span
	Copy int // position among the copies, or Own
	At   int // line of the copy where it begins
}

// maxCandidates bounds in how many places a run is looked for: the first ones.
const maxCandidates = 64

// Find returns runs of at least minLines lines, which is 1 or more, in order and apart. The longest run from a line on is taken, and of
// several the one of the earliest copy; the text itself comes last. A run that is not worth it is left, and begins with no blank line. worth
// is asked once for each run, in order.
func Find(text []uint64, copies []Copy, minLines int, worth func(Run) bool) []Run {
	if len(text) < minLines {
		return nil
	}
	f := newFinder(text, minLines)
	for i := range copies {
		for _, s := range copies[i].Shown {
			f.scan(i, copies[i].Lines[:s.End], s.First)
		}
	}
	return f.runs(copies, worth)
}

// finder looks for the windows of a text: so many lines in a row.
type finder struct {
	text    []uint64
	size    int
	power   uint64   // of base, size-1
	hashes  []uint64 // of the windows of the text, by their first line
	windows map[uint64][]candidate
	filter  [filterWords]uint64 // bits of the hashes of windows: most lines of copies need no look into the map
	named   []bool              // lines of the text that are in a run
}

// candidate is a place where a window stands, and where the lines end that can be named with it.
type candidate struct{ copy, at, end int }

const (
	base        = 0x9e3779b97f4a7c15
	filterWords = 1 << 10
)

func newFinder(text []uint64, size int) *finder {
	f := &finder{text: text, size: size, power: 1, windows: make(map[uint64][]candidate, len(text)), named: make([]bool, len(text))}
	for range size - 1 {
		f.power *= base
	}
	f.each(text, 0, func(at int, window uint64) {
		f.hashes = append(f.hashes, window)
		if !isBlank(text[at]) {
			f.windows[window] = nil
			f.filter[window>>54] |= 1 << (window >> 48 & 63)
		}
	})
	return f
}

// each calls visit for each window of lines from one on.
func (f *finder) each(lines []uint64, from int, visit func(at int, window uint64)) {
	window := uint64(0)
	for i := from; i < len(lines); i++ {
		if out := i - f.size; out >= from {
			window -= lines[out] * f.power
		}
		window = window*base + lines[i]
		if at := i + 1 - f.size; at >= from {
			visit(at, window)
		}
	}
}

// scan notes where windows of the text stand in a copy.
func (f *finder) scan(number int, lines []uint64, from int) {
	f.each(lines, from, func(at int, window uint64) {
		if f.filter[window>>54]&(1<<(window>>48&63)) != 0 {
			f.note(window, candidate{copy: number, at: at, end: len(lines)})
		}
	})
}

func (f *finder) note(window uint64, c candidate) {
	if known, ok := f.windows[window]; ok && len(known) < maxCandidates {
		f.windows[window] = append(known, c)
	}
}

func (f *finder) runs(copies []Copy, worth func(Run) bool) []Run {
	var out []Run
	for at := 0; at+f.size <= len(f.text); {
		run := f.longest(copies, at)
		switch n := run.End - run.First; {
		case n < f.size:
			at = f.pass(at, at+1)
		case worth(run):
			out = append(out, run)
			for ; at < run.End; at++ {
				f.named[at] = true
			}
		default: // what is less of it is not worth it either
			at = f.pass(at, run.End-f.size+1)
		}
	}
	return out
}

// longest is the longest run from a line on; an empty one if there is none.
func (f *finder) longest(copies []Copy, at int) Run {
	best := Run{Span: Span{First: at, End: at}}
	if isBlank(f.text[at]) {
		return best
	}
	for _, c := range f.windows[f.hashes[at]] {
		var n int
		if c.copy == Own {
			n = f.ownLines(c.at, at)
		} else {
			n = common(copies[c.copy].Lines[c.at:c.end], f.text[at:])
		}
		if n > best.End-at {
			best = Run{Span: Span{First: at, End: at + n}, Copy: c.copy, At: c.at}
		}
	}
	return best
}

// ownLines is how many lines from one on stand further up too, before it and in no run.
func (f *finder) ownLines(up, at int) int {
	n := common(f.text[up:at], f.text[at:])
	for i, named := range f.named[up : up+n] {
		if named {
			return i
		}
	}
	return n
}

// common is how many lines two texts begin with alike.
func common(a, b []uint64) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// pass leaves lines as they are: further down, they can be named.
func (f *finder) pass(from, to int) int {
	for i := from; i < to; i++ {
		if at := i + 1 - f.size; at >= 0 && !f.named[at] && !isBlank(f.text[at]) {
			f.note(f.hashes[at], candidate{copy: Own, at: at})
		}
	}
	return to
}
