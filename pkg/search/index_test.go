package search

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/pkg/content"
)

func TestIndex_Find_IsWhatWasAdded(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		blocks := rapid.IntRange(1, 400).Draw(t, "blocks")
		want := map[term][]int32{}
		x := newIndexer(blocks * blockBytes)
		for b := range blocks {
			for _, v := range rapid.SliceOfN(rapid.Uint32Range(1, 300), 0, 20).Draw(t, "terms") {
				k := mix(uint64(v))
				x.add(token{term: k, from: int32(b * blockBytes)})
				if list := want[k]; len(list) == 0 || list[len(list)-1] != int32(b) {
					want[k] = append(list, int32(b))
				}
			}
		}
		got := x.index()
		shared := 0
		for k, list := range want {
			found := got.find(k, nil)
			if !slices.IsSorted(found) {
				t.Fatalf("term %d: %v is out of order", k, found)
			}
			for _, b := range list {
				if !slices.Contains(found, b) {
					t.Fatalf("term %d: %v, want %v", k, found, list)
				}
			}
			if len(found) > len(list) {
				shared++
			}
		}
		for v := range uint32(100) {
			if k := mix(uint64(v) + 1000); want[k] == nil && len(got.find(k, nil)) > 0 {
				shared++
			}
		}
		if shared > 5+(len(want)+100)/10 {
			t.Fatalf("%d of %d terms share their blocks with others", shared, len(want))
		}
	})
}

// phraseOf makes a phrase, as a query does.
func phraseOf(text string) phrase {
	p := phrase{text: text, runes: foldedRunes(strings.TrimSpace(text))}
	p.prefixFunction = prefixFunction(p.runes)
	return p
}

func TestPhrase_Find_HoldsAfterFolding(t *testing.T) {
	letters := rapid.StringOfN(rapid.SampledFrom([]rune("abA \n\téＡ中")), 1, 60, -1)
	proptest.Check(t, func(t *rapid.T) {
		text, wanted := letters.Draw(t, "text"), strings.TrimSpace(rapid.StringOfN(rapid.SampledFrom([]rune("abA \né")), 1, 4, -1).Draw(t, "phrase"))
		if wanted == "" {
			return
		}
		p, found := phraseOf(wanted), 0
		p.find(text, 0, len(text), func(s span) bool {
			found++
			if string(foldedRunes(text[s.from:s.to])) != string(p.runes) {
				t.Fatalf("%q is no %q", text[s.from:s.to], wanted)
			}
			return true
		})
		want := 0
		all := string(foldedRunes(text))
		for i := range all {
			if strings.HasPrefix(all[i:], string(p.runes)) {
				want++
			}
		}
		if found != want {
			t.Fatalf("%q holds %q %d times, found %d", text, wanted, want, found)
		}
	})
}

// checkSegments holds segments to what they promise: in order, within their size, and all of the text but white space in them.
func checkSegments(t interface{ Fatalf(string, ...any) }, text string, maxChars int32) {
	segs, at := segments(&content.Reading{Text: text, Content: text}, 0, len(text), maxChars), int32(0)
	for _, s := range segs {
		if s.from < at || s.to <= s.from {
			t.Fatalf("segment %d-%d after %d", s.from, s.to, at)
		}
		if strings.TrimSpace(text[at:s.from]) != "" {
			t.Fatalf("%q is in no segment", text[at:s.from])
		}
		if n := utf8.RuneCountInString(text[s.from:s.to]); n != int(s.after-s.first) || n > int(maxChars) {
			t.Fatalf("segment of %d characters says it has %d, at most %d", n, s.after-s.first, maxChars)
		}
		at = s.to
	}
	if strings.TrimSpace(text[at:]) != "" {
		t.Fatalf("%q is in no segment", text[at:])
	}
}

func TestSegments_Text_IsAllInThem(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("aB. ,\n!。中ั́ก”é")), 0, 3000, -1).Draw(t, "text")
		checkSegments(t, text, rapid.SampledFrom([]int32{1, 2, 50, 500}).Draw(t, "most"))
	})
}

func TestSegments_LongCluster_IsNotCut(t *testing.T) {
	for _, one := range []string{"e\u0301", "กี่", "👩‍👩‍👧‍👦", "षि"} {
		text := strings.Repeat(one, 700)
		for _, s := range segments(&content.Reading{Text: text, Content: text}, 0, len(text), 500) {
			if n := uniseg.GraphemeClusterCount(text[s.from:s.to]); n*len(one) != int(s.to-s.from) {
				t.Errorf("%q: a segment of %d bytes has %d clusters", one, s.to-s.from, n)
			}
		}
	}
}

func TestSegments_Sentences_EndThem(t *testing.T) {
	for text, want := range map[string]string{
		"Dr. Smith came. He left!":                 "Dr. Smith came.|He left!",
		"See J. Doe et al. for it. \"Maybe.\" No.": "See J. Doe et al. for it.|\"Maybe.\"|No.",
		"一。二！三":                                    "一。|二！|三",
		"Rule one\n- a\n- b":                       "Rule one|- a|- b",
		"यह एक है। वह दो है।":                      "यह एक है।|वह दो है।",
		strings.Repeat("word ", 14) + "\nwraps on": strings.Repeat("word ", 14) + "\nwraps on",
	} {
		var got []string
		for _, s := range segments(&content.Reading{Text: text, Content: text}, 0, len(text), 500) {
			got = append(got, text[s.from:s.to])
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func FuzzSegments(f *testing.F) {
	f.Add("A. b c\n\nd", 10)
	f.Add(strings.Repeat("\u0301", 600), 3)
	f.Fuzz(func(t *testing.T, text string, most int) {
		checkSegments(t, strings.ToValidUTF8(text, "?"), int32(max(1, most%600)))
	})
}
