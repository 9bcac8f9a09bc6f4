package content

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/internal/recordings"
)

// from gives parts of a content, and fails if more is read than should be.
func from(t interface{ Fatalf(string, ...any) }, content []byte) func(from, to int64) ([]byte, error) {
	return func(from, to int64) ([]byte, error) {
		if to-from > 256<<10 || from > to {
			t.Fatalf("[%d, %d) is read", from, to)
		}
		return content[from:to], nil
	}
}

func outlineOf(content []byte, sizes func() int) *Outline {
	o := NewOutliner()
	for len(content) > 0 {
		size := min(sizes(), len(content))
		piece := bytes.Clone(content[:size])
		o.Feed(piece)
		for i := range piece {
			piece[i] = 'x'
		}
		content = content[size:]
	}
	return o.Outline()
}

// Naive models of what an outline finds.

func naiveChars(content []byte, n int64) int64 {
	for i := range string(content) {
		if n == 0 {
			return int64(i)
		}
		n--
	}
	return int64(len(content))
}

func naiveLines(content []byte, n int64) int64 {
	at := 0
	for ; n > 0; n-- {
		next := bytes.IndexByte(content[at:], '\n')
		if next < 0 {
			return int64(len(content))
		}
		at += next + 1
	}
	return int64(at)
}

func naiveItems(text []byte) ([]json.RawMessage, bool) {
	if !json.Valid(text) {
		return nil, false
	}
	var items []json.RawMessage
	if json.Unmarshal(text, &items) == nil {
		return items, items != nil
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	if t, err := decoder.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	found := 0
	for decoder.More() {
		var member json.RawMessage
		if _, err := decoder.Token(); err != nil || decoder.Decode(&member) != nil {
			return nil, false
		}
		var list []json.RawMessage
		if json.Unmarshal(member, &list) == nil && list != nil {
			items = list
			found++
		}
	}
	_, err := decoder.Token()
	if err == nil {
		_, err = decoder.Token()
	}
	return items, found == 1 && errors.Is(err, io.EOF)
}

func checkOutline(t *rapid.T, content []byte, o *Outline) {
	read := from(t, content)
	if o.Chars() != int64(utf8.RuneCount(content)) {
		t.Fatalf("%d characters, want %d", o.Chars(), utf8.RuneCount(content))
	}
	lines := int64(bytes.Count(content, []byte("\n")))
	if len(content) > 0 && content[len(content)-1] != '\n' {
		lines++
	}
	if o.Lines() != lines {
		t.Fatalf("%d lines, want %d", o.Lines(), lines)
	}
	if text := utf8.Valid(content) && bytes.IndexByte(content, 0) < 0; o.Text() != text {
		t.Fatalf("text: %v", o.Text())
	}
	for unit, naive := range map[Unit]func([]byte, int64) int64{
		UnitBytes: func(c []byte, n int64) int64 { return min(n, int64(len(c))) }, UnitChars: naiveChars, UnitLines: naiveLines,
	} {
		a := rapid.Int64Range(-1, int64(len(content))+2).Draw(t, "from")
		b := rapid.Int64Range(-1, int64(len(content))+2).Draw(t, "to")
		first, end, err := o.Find(unit, a, b, read)
		a = max(a, 0)
		b = max(a, b)
		if err != nil || first != naive(content, a) || end != naive(content, b) {
			t.Fatalf("unit %d [%d, %d): [%d, %d), want [%d, %d): %v", unit, a, b, first, end, naive(content, a), naive(content, b), err)
		}
	}
	items, found := naiveItems(content)
	count, has := o.Items()
	if has != found || found && count != int64(len(items)) {
		t.Fatalf("items %d %v, want %d %v", count, has, len(items), found)
	}
	if found {
		checkItems(t, content, o, items)
	}
}

func checkItems(t *rapid.T, content []byte, o *Outline, items []json.RawMessage) {
	a := rapid.IntRange(0, len(items)+1).Draw(t, "first item")
	b := rapid.IntRange(a, len(items)+2).Draw(t, "last item")
	first, end, err := o.Find(UnitItems, int64(a), int64(b), from(t, content))
	if err != nil {
		t.Fatal(err)
	}
	var got []json.RawMessage
	if err := json.Unmarshal([]byte("["+string(content[first:end])+"]"), &got); err != nil {
		t.Fatalf("%q: %v", content[first:end], err)
	}
	want := items[min(a, len(items)):min(b, len(items))]
	if len(got) != len(want) || first < end && (isJSONSpace(content[first]) || isJSONSpace(content[end-1])) {
		t.Fatalf("[%d, %d) is %q", a, b, content[first:end])
	}
	for i := range want {
		if !bytes.Equal(got[i], want[i]) {
			t.Fatalf("item %d is %s, want %s", a+i, got[i], want[i])
		}
	}
}

// Contents of all sorts, some larger than several steps of an outline.

func anyText() *rapid.Generator[[]byte] {
	return rapid.Custom(func(t *rapid.T) []byte {
		piece := rapid.SliceOfN(rapid.SampledFrom([]string{
			"a", "\n", "é", "界", "😀", "\x00", "\xff", "\xe7\x95", "\x80", "\x80\x80\x80\x80\x80", "\r\n", "some words\n",
		}), 0, 12).Draw(t, "piece")
		filler := rapid.SampledFrom([]int{0, 0, 0, outlineStep - 3, outlineStep, 3 * outlineStep}).Draw(t, "filler")
		fill := rapid.SampledFrom([]string{"x", "界", "\n", "\x80", "ab\n"}).Draw(t, "fill")
		var b strings.Builder
		for _, p := range piece {
			b.WriteString(p)
		}
		b.WriteString(strings.Repeat(fill, filler/len(fill)))
		for _, p := range piece {
			b.WriteString(p)
		}
		return []byte(b.String())
	})
}

func TestOutline_Find_AsANaiveModelHoweverItIsFed(t *testing.T) {
	for name, contents := range map[string]*rapid.Generator[[]byte]{
		"text": anyText(),
		"json": rapid.Map(proptest.JSON(), func(s string) []byte { return []byte(s) }),
	} {
		t.Run(name, func(t *testing.T) {
			proptest.Check(t, func(t *rapid.T) {
				content := contents.Draw(t, "content")
				if rapid.Bool().Draw(t, "at once") {
					checkOutline(t, content, outlineOf(content, func() int { return len(content) }))
					return
				}
				sizes := rapid.SampledFrom([][2]int{{1, 3}, {1, 100}, {1000, 9000}, {outlineStep - 2, outlineStep + 2}}).Draw(t, "sizes")
				if len(content) > 5000 {
					sizes[0], sizes[1] = max(sizes[0], 1000), max(sizes[1], 9000)
				}
				checkOutline(t, content, outlineOf(content, func() int { return rapid.IntRange(sizes[0], sizes[1]).Draw(t, "size") }))
			})
		})
	}
}

func FuzzOutline_Items_AsEncodingJSON(f *testing.F) {
	for _, seed := range []string{`[1, 2]`, `{"a":[1],"b":2}`, `{"a":[],"a":[]}`, `[[]`, `{"a":[1]} x`, `[-]`, `["\u12"]`, `{"a":[1],}`, "[1]\n\n", `[1.e2]`, `[01]`, "[\"\x01,1]", `["\u123"]`, `["\u12G4"]`, `["a\x"]`, `[tru ]`} {
		f.Add([]byte(seed), 1)
	}
	f.Fuzz(func(t *testing.T, content []byte, size int) {
		o := outlineOf(content, func() int { return max(1, size) })
		items, found := naiveItems(content)
		if n, has := o.Items(); has != found || found && n != int64(len(items)) {
			t.Fatalf("%q: %d %v, want %d %v", content, n, has, len(items), found)
		}
	})
}

func TestOutline_Items_AsDeepAsEncodingJSON(t *testing.T) {
	for _, depth := range []int{maxJSONDepth, maxJSONDepth + 1} {
		content := []byte(strings.Repeat("[", depth) + strings.Repeat("]", depth))
		o := outlineOf(content, func() int { return 1000 })
		if _, has := o.Items(); has != json.Valid(content) {
			t.Errorf("depth %d: %v", depth, has)
		}
	}
}

func TestOutline_Find_ItemsOfALongList(t *testing.T) {
	var b bytes.Buffer
	var starts, ends []int64
	b.WriteString(`{"total": 5, "items": [ `)
	for i := range 20_000 {
		if i > 0 {
			b.WriteString(" ,\n")
		}
		starts = append(starts, int64(b.Len()))
		b.WriteString([]string{`{"a": [1, 2]}`, `"an item"`, "12"}[i%3])
		if i%3 == 2 && i%5000 < 3 {
			b.WriteString(strings.Repeat("0", 3*outlineStep))
		}
		ends = append(ends, int64(b.Len()))
	}
	b.WriteString(" \n] }")
	content := b.Bytes()
	o := outlineOf(content, func() int { return 5000 })
	near := map[int]bool{} // what begins or ends beside a mark
	for _, m := range o.items.marks {
		for i := int(m.index) - 3; i <= int(m.index)+3; i++ {
			near[i] = true
		}
	}
	for i := range starts {
		if !near[i] && i%7 != 0 {
			continue
		}
		first, end, err := o.Find(UnitItems, int64(i), int64(min(len(starts), i+1+i%3)), from(t, content))
		if last := min(len(starts), i+1+i%3) - 1; err != nil || first != starts[i] || end != ends[last] {
			t.Fatalf("items %d to %d are [%d, %d), want [%d, %d): %v", i, last, first, end, starts[i], ends[last], err)
		}
	}
}

func TestOutline_Find_ErrorsOfReading(t *testing.T) {
	content := []byte("[" + strings.Repeat(`"item",`+"\n", 2000) + "1]")
	o := outlineOf(content, func() int { return 1000 })
	broken := errors.New("broken")
	for unit := UnitChars; unit <= UnitItems; unit++ {
		if _, _, err := o.Find(unit, 5, 7, func(int64, int64) ([]byte, error) { return nil, broken }); !errors.Is(err, broken) {
			t.Errorf("unit %d: %v", unit, err)
		}
		if _, _, err := o.Find(unit, 5, 7, func(int64, int64) ([]byte, error) { return nil, nil }); !errors.Is(err, ErrOutline) {
			t.Errorf("unit %d of less: %v", unit, err)
		}
	}
}

func BenchmarkOutliner_Feed(b *testing.B) {
	content := []byte(recordings.Text(b, "json_api", "airline_flights.json"))
	b.SetBytes(int64(len(content)))
	for b.Loop() {
		o := NewOutliner()
		for at := 0; at < len(content); at += 64 << 10 {
			o.Feed(content[at:min(len(content), at+64<<10)])
		}
		o.Outline()
	}
}
