package dedup

// Own is the copy of a run whose lines stand further up in the text itself.
const Own = -1

// Span is a half-open range of lines.
type Span struct{ First, End int }

// Run is a run of lines that a copy has too.
type Run struct {
	Span
	Copy int // which of the texts that were added, or Own
	At   int // line of the copy where it begins
}

// maxCandidates bounds in how many places a run is looked for: the first ones.
const maxCandidates = 64

// Index knows where lines of some texts stand in texts that were added before them. It holds a few places for each line of the former, and
// nothing of the latter but what they have in common.
type Index struct {
	size    int    // lines of a window: so many in a row
	power   uint64 // of base, size-1
	added   [][]uint64
	windows map[uint64][]candidate
	filter  [filterWords]uint64 // bits of the hashes of windows: most lines of what is added need no look into the map
}

// candidate is a place where a window stands, and where the lines end that can be named with it.
type candidate struct{ copy, at, end int }

const (
	base        = 0x9e3779b97f4a7c15
	filterWords = 1 << 10
)

// NewIndex returns an index for runs of at least minLines lines, which is 1 or more, of some texts.
func NewIndex(minLines int, texts ...[]uint64) *Index {
	lines := 0
	for _, text := range texts {
		lines += len(text)
	}
	x := &Index{size: minLines, power: 1, windows: make(map[uint64][]candidate, lines)}
	for range minLines - 1 {
		x.power *= base
	}
	for _, text := range texts {
		x.each(text, 0, func(at int, window uint64) {
			if !isBlank(text[at]) {
				x.windows[window] = nil
				x.filter[window>>54] |= 1 << (window >> 48 & 63)
			}
		})
	}
	return x
}

// Add adds a text to those in which runs are looked for, from the first to the last of them. shown are its lines that can be named, in order
// and apart.
func (x *Index) Add(text []uint64, shown ...Span) {
	number := len(x.added)
	x.added = append(x.added, text)
	for _, s := range shown {
		lines := text[:s.End]
		x.each(lines, s.First, func(at int, window uint64) {
			if x.filter[window>>54]&(1<<(window>>48&63)) == 0 {
				return
			}
			if known, ok := x.windows[window]; ok && len(known) < maxCandidates {
				x.windows[window] = append(known, candidate{copy: number, at: at, end: s.End})
			}
		})
	}
}

// each calls visit for each window of lines from one on.
func (x *Index) each(lines []uint64, from int, visit func(at int, window uint64)) {
	window := uint64(0)
	for i := from; i < len(lines); i++ {
		if out := i - x.size; out >= from {
			window -= lines[out] * x.power
		}
		window = window*base + lines[i]
		if at := i + 1 - x.size; at >= from {
			visit(at, window)
		}
	}
}

// Find returns runs of a text of the index that stand in what was added, or further up in itself, in order and apart. The longest run from a
// line on is taken, and of several the one that was added first; the text itself comes last. A run that is not worth it is left, and begins
// with no blank line. worth is asked once for each run, in order.
func (x *Index) Find(text []uint64, worth func(Run) bool) []Run {
	f := &finder{
		Index: x, text: text, hashes: make([]uint64, 0, len(text)), own: make(map[uint64]places, len(text)), next: make([]int32, len(text)),
		named: make([]bool, len(text)),
	}
	x.each(text, 0, func(_ int, window uint64) { f.hashes = append(f.hashes, window) })
	return f.runs(worth)
}

// finder looks for the windows of one text.
type finder struct {
	*Index
	text   []uint64
	hashes []uint64          // of its windows, by their first line
	own    map[uint64]places // where its windows stand that were passed
	next   []int32           // the place of the same window behind each of them
	named  []bool            // its lines that are in a run
}

// places are the first and the last line at which a window stands, and at how many it does.
type places struct{ first, last, count int32 }

func (f *finder) runs(worth func(Run) bool) []Run {
	var out []Run
	for at := 0; at+f.size <= len(f.text); {
		run := f.longest(at)
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
func (f *finder) longest(at int) Run {
	best := Run{Span: Span{First: at, End: at}}
	if isBlank(f.text[at]) {
		return best
	}
	window := f.hashes[at]
	for _, c := range f.windows[window] {
		if n := common(f.added[c.copy][c.at:c.end], f.text[at:]); n > best.End-at {
			best = Run{Span: Span{First: at, End: at + n}, Copy: c.copy, At: c.at}
		}
	}
	own := f.own[window]
	for i, up := int32(0), int(own.first); i < own.count; i, up = i+1, int(f.next[up]) {
		if n := f.ownLines(up, at); n > best.End-at {
			best = Run{Span: Span{First: at, End: at + n}, Copy: Own, At: up}
		}
	}
	return best
}

// ownLines is how many lines from one on stand further up too, before it and in no run. It looks at no more lines than it counts: a run that
// ends where others were named is as short, however much the text has in common behind it.
func (f *finder) ownLines(up, at int) int {
	n := 0
	for up+n < at && at+n < len(f.text) && !f.named[up+n] && f.text[up+n] == f.text[at+n] {
		n++
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
			f.noteOwn(f.hashes[at], int32(at))
		}
	}
	return to
}

func (f *finder) noteOwn(window uint64, at int32) {
	switch up := f.own[window]; {
	case up.count == 0:
		f.own[window] = places{first: at, last: at, count: 1}
	case up.count < maxCandidates:
		f.next[up.last] = at
		f.own[window] = places{first: up.first, last: at, count: up.count + 1}
	}
}
