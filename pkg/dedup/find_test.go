package dedup_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/pkg/dedup"
)

func always(dedup.Run) bool { return true }

// lines writes each letter on a line of its own; a dot is a blank line.
func lines(letters string) []uint64 {
	return dedup.Hash(strings.ReplaceAll(strings.Join(strings.Split(letters, ""), "\n"), ".", " "))
}

func whole(letters string) dedup.Copy {
	l := lines(letters)
	return dedup.Copy{Lines: l, Shown: []dedup.Span{{First: 0, End: len(l)}}}
}

func TestFind_Runs_AreLongestAndEarliest(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		copies     []dedup.Copy
		want       []dedup.Run
	}{
		{"nothing before it", "abcdef", nil, nil},
		{"two lines are too few", "abxxx", []dedup.Copy{whole("ab")}, nil},
		{"in the middle", "xabcy", []dedup.Copy{whole("zabcz")}, []dedup.Run{{Span: dedup.Span{First: 1, End: 4}, At: 1}}},
		{"the longest", "abcd", []dedup.Copy{whole("abc"), whole("zabcd")}, []dedup.Run{{Span: dedup.Span{First: 0, End: 4}, Copy: 1, At: 1}}},
		{"the earliest of two", "abc", []dedup.Copy{whole("abcabc"), whole("abc")}, []dedup.Run{{Span: dedup.Span{First: 0, End: 3}}}},
		{"of two copies", "abcdef", []dedup.Copy{whole("def"), whole("abc")}, []dedup.Run{
			{Span: dedup.Span{First: 0, End: 3}, Copy: 1}, {Span: dedup.Span{First: 3, End: 6}},
		}},
		{"no blank line first", "..abc", []dedup.Copy{whole("..abc")}, []dedup.Run{{Span: dedup.Span{First: 2, End: 5}, At: 2}}},
		{"in itself", "abcxabc", nil, []dedup.Run{{Span: dedup.Span{First: 4, End: 7}, Copy: dedup.Own}}},
		{"never over itself", "aaaaaaa", nil, []dedup.Run{{Span: dedup.Span{First: 3, End: 6}, Copy: dedup.Own}}},
		{"lines in a run are not named", "abcabcd", []dedup.Copy{whole("abc")}, []dedup.Run{
			{Span: dedup.Span{First: 0, End: 3}}, {Span: dedup.Span{First: 3, End: 6}},
		}},
		{"only what is shown", "abcdef", []dedup.Copy{{Lines: lines("abcdef"), Shown: []dedup.Span{{First: 0, End: 2}, {First: 3, End: 6}}}}, []dedup.Run{
			{Span: dedup.Span{First: 3, End: 6}, At: 3},
		}},
	} {
		if got := dedup.Find(lines(tt.text), tt.copies, 3, always); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

func TestFind_NotWorthIt_LeavesTheRun(t *testing.T) {
	asked := 0
	got := dedup.Find(lines("abcdxefg"), []dedup.Copy{whole("abcdyefg")}, 3, func(r dedup.Run) bool { asked++; return r.First > 0 })
	if want := []dedup.Run{{Span: dedup.Span{First: 5, End: 8}, At: 5}}; !slices.Equal(got, want) || asked != 2 {
		t.Errorf("%+v, asked %d times", got, asked)
	}
}

// TestFind_AnyTexts_RunsAreCopies: every run is in its copy, line by line, where the copy shows it, and in no other run.
func TestFind_AnyTexts_RunsAreCopies(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		letters := rapid.StringOfN(rapid.RuneFrom([]rune("abcd.")), 0, 60, -1)
		text, size := lines(letters.Draw(t, "text")), rapid.IntRange(2, 4).Draw(t, "size")
		var copies []dedup.Copy
		for i := range rapid.IntRange(0, 3).Draw(t, "copies") {
			c := whole(letters.Draw(t, fmt.Sprint("copy", i)))
			if cut := rapid.IntRange(0, len(c.Lines)).Draw(t, "cut"); cut > 0 {
				c.Shown = []dedup.Span{{First: 0, End: cut - 1}, {First: cut, End: len(c.Lines)}}
			}
			copies = append(copies, c)
		}
		worth := func(r dedup.Run) bool { return r.First%5 > 0 }
		end := 0
		runs := dedup.Find(text, copies, size, worth)
		for _, r := range runs {
			n := r.End - r.First
			if r.First < end || n < size || !worth(r) {
				t.Fatalf("run %+v behind %d", r, end)
			}
			end = r.End
			lines, shown := text, []dedup.Span{{First: 0, End: r.First}}
			if r.Copy != dedup.Own {
				lines, shown = copies[r.Copy].Lines, copies[r.Copy].Shown
			}
			within := func(s dedup.Span) bool { return s.First <= r.At && r.At+n <= s.End }
			if !slices.ContainsFunc(shown, within) || !slices.Equal(lines[r.At:r.At+n], text[r.First:r.End]) {
				t.Fatalf("run %+v is not in its copy", r)
			}
			if r.Copy == dedup.Own && slices.ContainsFunc(runs, func(o dedup.Run) bool { return o.First < r.At+n && r.At < o.End }) {
				t.Fatalf("run %+v names lines that are not shown: %+v", r, runs)
			}
		}
	})
}

// TestFind_HostileLines_IsLinear: what repeats itself, and what is blank for the most part, takes no longer than its length.
func TestFind_HostileLines_IsLinear(t *testing.T) {
	for name, text := range map[string]string{
		"one line":    strings.Repeat("x\n", 200_000),
		"blank lines": strings.Repeat("x\n"+strings.Repeat("\n", 999), 200),
		"a period":    strings.Repeat("a\nb\nc\n\n", 50_000),
	} {
		l := dedup.Hash(text)
		for _, worth := range []bool{true, false} {
			asked := 0
			dedup.Find(l, []dedup.Copy{{Lines: l, Shown: []dedup.Span{{First: 0, End: len(l)}}}}, 3, func(dedup.Run) bool { asked++; return worth })
			if asked > len(l) {
				t.Errorf("%s: asked %d times", name, asked)
			}
		}
	}
}

func BenchmarkFind(b *testing.B) {
	var copies []dedup.Copy
	for i := range 200 {
		var text strings.Builder
		for j := range 60 {
			fmt.Fprintf(&text, "line %d of text %d\n", j, i)
		}
		l := dedup.Hash(text.String())
		copies = append(copies, dedup.Copy{Lines: l, Shown: []dedup.Span{{First: 0, End: len(l)}}})
	}
	for b.Loop() {
		dedup.Find(copies[100].Lines, copies[:100], 3, always)
	}
}
