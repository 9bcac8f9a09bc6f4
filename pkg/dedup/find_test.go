package dedup_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/pkg/dedup"
)

func always(dedup.Run) bool { return true }

// lines writes each letter on a line of its own; a dot is a blank line.
func lines(letters string) []uint64 {
	return dedup.Hash(strings.ReplaceAll(strings.Join(strings.Split(letters, ""), "\n"), ".", " "))
}

// shown is a text that stands before others, and its lines that can be named.
type shown struct {
	lines []uint64
	spans []dedup.Span
}

func whole(letters string) shown { return all(lines(letters)) }

func all(lines []uint64) shown { return shown{lines, []dedup.Span{{First: 0, End: len(lines)}}} }

// find looks for the runs of a text in others.
func find(text []uint64, copies []shown, minLines int, worth func(dedup.Run) bool) []dedup.Run {
	index := dedup.NewIndex(minLines, text)
	for _, c := range copies {
		index.Add(c.lines, c.spans...)
	}
	return index.Find(text, worth)
}

func TestIndex_Find_Runs_AreLongestAndEarliest(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		copies     []shown
		want       []dedup.Run
	}{
		{"nothing before it", "abcdef", nil, nil},
		{"two lines are too few", "abxxx", []shown{whole("ab")}, nil},
		{"in the middle", "xabcy", []shown{whole("zabcz")}, []dedup.Run{{Span: dedup.Span{First: 1, End: 4}, At: 1}}},
		{"the longest", "abcd", []shown{whole("abc"), whole("zabcd")}, []dedup.Run{{Span: dedup.Span{First: 0, End: 4}, Copy: 1, At: 1}}},
		{"the earliest of two", "abc", []shown{whole("abcabc"), whole("abc")}, []dedup.Run{{Span: dedup.Span{First: 0, End: 3}}}},
		{"of two copies", "abcdef", []shown{whole("def"), whole("abc")}, []dedup.Run{
			{Span: dedup.Span{First: 0, End: 3}, Copy: 1}, {Span: dedup.Span{First: 3, End: 6}},
		}},
		{"no blank line first", "..abc", []shown{whole("..abc")}, []dedup.Run{{Span: dedup.Span{First: 2, End: 5}, At: 2}}},
		{"in itself", "abcxabc", nil, []dedup.Run{{Span: dedup.Span{First: 4, End: 7}, Copy: dedup.Own}}},
		{"never over itself", "aaaaaaa", nil, []dedup.Run{{Span: dedup.Span{First: 3, End: 6}, Copy: dedup.Own}}},
		{"lines in a run are not named", "abcabcd", []shown{whole("abc")}, []dedup.Run{
			{Span: dedup.Span{First: 0, End: 3}}, {Span: dedup.Span{First: 3, End: 6}},
		}},
		{"only what is shown", "abcdef", []shown{{lines("abcdef"), []dedup.Span{{First: 0, End: 2}, {First: 3, End: 6}}}}, []dedup.Run{
			{Span: dedup.Span{First: 3, End: 6}, At: 3},
		}},
	} {
		if got := find(lines(tt.text), tt.copies, 3, always); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

func TestIndex_Find_NotWorthIt_LeavesTheRun(t *testing.T) {
	asked := 0
	got := find(lines("abcdxefg"), []shown{whole("abcdyefg")}, 3, func(r dedup.Run) bool { asked++; return r.First > 0 })
	if want := []dedup.Run{{Span: dedup.Span{First: 5, End: 8}, At: 5}}; !slices.Equal(got, want) || asked != 2 {
		t.Errorf("%+v, asked %d times", got, asked)
	}
}

// TestIndex_Find_AnyTexts_RunsAreCopies: every run is in its copy, line by line, where the copy shows it, and in no other run.
func TestIndex_Find_AnyTexts_RunsAreCopies(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		letters := rapid.StringOfN(rapid.RuneFrom([]rune("abcd.")), 0, 60, -1)
		text, size := lines(letters.Draw(t, "text")), rapid.IntRange(2, 4).Draw(t, "size")
		var copies []shown
		for i := range rapid.IntRange(0, 3).Draw(t, "copies") {
			c := whole(letters.Draw(t, fmt.Sprint("copy", i)))
			if cut := rapid.IntRange(0, len(c.lines)).Draw(t, "cut"); cut > 0 {
				c.spans = []dedup.Span{{First: 0, End: cut - 1}, {First: cut, End: len(c.lines)}}
			}
			copies = append(copies, c)
		}
		worth := func(r dedup.Run) bool { return r.First%5 > 0 }
		end := 0
		runs := find(text, copies, size, worth)
		for _, r := range runs {
			n := r.End - r.First
			if r.First < end || n < size || !worth(r) {
				t.Fatalf("run %+v behind %d", r, end)
			}
			end = r.End
			lines, spans := text, []dedup.Span{{First: 0, End: r.First}}
			if r.Copy != dedup.Own {
				lines, spans = copies[r.Copy].lines, copies[r.Copy].spans
			}
			within := func(s dedup.Span) bool { return s.First <= r.At && r.At+n <= s.End }
			if !slices.ContainsFunc(spans, within) || !slices.Equal(lines[r.At:r.At+n], text[r.First:r.End]) {
				t.Fatalf("run %+v is not in its copy", r)
			}
			if r.Copy == dedup.Own && slices.ContainsFunc(runs, func(o dedup.Run) bool { return o.First < r.At+n && r.At < o.End }) {
				t.Fatalf("run %+v names lines that are not shown: %+v", r, runs)
			}
		}
	})
}

// TestIndex_Find_ManyTexts_IsAsOneByOne: an index of many texts finds in each of them what an index of that text alone does.
func TestIndex_Find_ManyTexts_IsAsOneByOne(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		letters := rapid.StringOfN(rapid.RuneFrom([]rune("abcd.")), 0, 40, -1)
		var texts [][]uint64
		for i := range rapid.IntRange(1, 6).Draw(t, "texts") {
			texts = append(texts, lines(letters.Draw(t, fmt.Sprint("text", i))))
		}
		index, before := dedup.NewIndex(3, texts...), []shown(nil)
		for i, text := range texts {
			got, want := index.Find(text, always), find(text, before, 3, always)
			if !slices.Equal(got, want) {
				t.Fatalf("text %d: %+v, alone %+v", i, got, want)
			}
			before = append(before, all(text))
			index.Add(text, dedup.Span{First: 0, End: len(text)})
		}
	})
}

// TestIndex_Find_HostileLines_IsLinear: what repeats itself, and what is blank for the most part, takes no longer than its length, nor do many
// texts.
func TestIndex_Find_HostileLines_IsLinear(t *testing.T) {
	begun := time.Now()
	named := "a line\nof a copy\nthat is named\n"
	for name, c := range map[string]struct{ text, copy string }{
		"one line":                     {text: strings.Repeat("x\n", 200_000)},
		"blank lines":                  {text: strings.Repeat("x\n"+strings.Repeat("\n", 999), 200)},
		"a period":                     {text: strings.Repeat("a\nb\nc\n\n", 50_000)},
		"named lines between it":       {text: strings.Repeat("a\nb\nc\n"+named, 33_000), copy: named},
		"named lines, and a line more": {text: strings.Repeat("a\nb\nc\n"+named+"d\n", 28_000), copy: named},
	} {
		l, copied := dedup.Hash(c.text), dedup.Hash(c.copy)
		if c.copy == "" {
			copied = l
		}
		for _, worth := range []func(dedup.Run) bool{always, func(dedup.Run) bool { return false }, func(r dedup.Run) bool { return r.Copy != dedup.Own }} {
			asked := 0
			find(l, []shown{all(copied)}, 3, func(r dedup.Run) bool { asked++; return worth(r) })
			if asked > len(l) {
				t.Errorf("%s: asked %d times", name, asked)
			}
		}
	}
	texts := make([][]uint64, 4000)
	for i := range texts {
		texts[i] = dedup.Hash(strings.Repeat(fmt.Sprintf("a line of text %d\n", i), 50))
	}
	index := dedup.NewIndex(3, texts...)
	for _, text := range texts {
		index.Find(text, always)
		index.Add(text, dedup.Span{First: 0, End: len(text)})
	}
	if took := time.Since(begun); took > 20*time.Second { // about a second; where it is not linear, minutes
		t.Errorf("%v", took)
	}
}

func BenchmarkIndex_Find(b *testing.B) {
	var copies []shown
	for i := range 200 {
		var text strings.Builder
		for j := range 60 {
			fmt.Fprintf(&text, "line %d of text %d\n", j, i)
		}
		copies = append(copies, all(dedup.Hash(text.String())))
	}
	for b.Loop() {
		find(copies[100].lines, copies[:100], 3, always)
	}
}
