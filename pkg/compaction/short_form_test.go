package compaction_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/pkg/compaction"
)

// TestFirstChars_Words: the exact words of the annotation. N and M are code points. Characters drawn as one are never cut, so N may be
// less than the requested length (behaviour §5).
func TestFirstChars_Words(t *testing.T) {
	const flag, family, accent, hangul = "🇩🇪", "👨‍👩‍👧", "e\u0301\u0323", "\u1112\u1161\u11ab"
	for _, tt := range []struct {
		name, text string
		n          int
		want       string // what is kept; "-" if nothing is to be compacted
		shown      string
	}{
		{"ascii", "abcdef", 3, "abc", "3 of 6"},
		{"as long as the text", "abcdef", 6, "-", ""},
		{"longer than the text", "abcdef", 7, "-", ""},
		{"empty", "", 1, "-", ""},
		{"one less", "abcdef", 5, "abcde", "5 of 6"},
		{"two bytes", "äöüß", 2, "äö", "2 of 4"},
		{"four bytes", "😀😁😂", 2, "😀😁", "2 of 3"},
		{"flag: half", flag + flag, 1, "", "0 of 4"},
		{"flag: whole", flag + flag, 2, flag, "2 of 4"},
		{"flag: one and a half", flag + flag, 3, flag, "2 of 4"},
		{"joined: inside", "a" + family + "b", 3, "a", "1 of 7"},
		{"joined: just before its end", "a" + family + "b", 5, "a", "1 of 7"},
		{"joined: whole", "a" + family + "b", 6, "a" + family, "6 of 7"},
		{"marks: inside", "a" + accent + "b", 2, "a", "1 of 5"},
		{"marks: between two", "a" + accent + "b", 3, "a", "1 of 5"},
		{"marks: whole", "a" + accent + "b", 4, "a" + accent, "4 of 5"},
		{"hangul: inside", hangul + hangul, 4, hangul, "3 of 6"},
		{"a line break of two", "a\r\nb", 2, "a", "1 of 4"},
		{"behind it", "a\r\nb", 3, "a\r\n", "3 of 4"},
		{"devanagari: a conjunct is two clusters by Unicode 15.0", "क्षि", 3, "क्", "2 of 4"},
		{"keycap", "1\ufe0f\u20e32", 2, "", "0 of 4"},
		{"skin", "👍🏽x", 1, "", "0 of 3"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := compaction.Original{Recall: "expand_message(12)", Chars: utf8.RuneCountInString(tt.text)}
			got, ok := compaction.FirstChars(tt.text, tt.n, o)
			if !ok {
				if tt.want != "-" {
					t.Error("nothing was compacted")
				}
				return
			}
			if want := tt.want + "...\n\n[Compacted: first " + tt.shown + " characters shown. Full text: expand_message(12)]"; got != want {
				t.Errorf("got  %q\nwant %q", got, want)
			}
			o.Erased = true
			got, _ = compaction.FirstChars(tt.text, tt.n, o)
			if want := tt.want + "...\n\n[Compacted: first " + tt.shown + " characters shown.]"; got != want {
				t.Errorf("erased: got %q, want %q", got, want)
			}
		})
	}
}

// TestAnnotations_Words are the exact words of the other forms.
func TestAnnotations_Words(t *testing.T) {
	kept, erased := compaction.Original{Recall: "expand_message(5)", Chars: 1234}, compaction.Original{Recall: "expand_message(5)", Chars: 1234, Erased: true}
	for got, want := range map[string]string{
		compaction.Summarized("gist", kept):                                         "[Summary of 1234 characters. Full text: expand_message(5)]\n\ngist",
		compaction.Summarized("gist", erased):                                       "[Summary of 1234 characters.]\n\ngist",
		compaction.Extracted("gist", kept):                                          "[Extract of 1234 characters. Full text: expand_message(5)]\n\ngist",
		compaction.Extracted("gist", erased):                                        "[Extract of 1234 characters.]\n\ngist",
		compaction.Cleared("tool result", kept):                                     "[Expired tool result removed. Full text: expand_message(5)]",
		compaction.Cleared("tool result", erased):                                   "[Expired tool result removed.]",
		compaction.Cleared("text", kept):                                            "[Expired text removed. Full text: expand_message(5)]",
		compaction.Summarized("", compaction.Original{Recall: "expand_message(0)"}): "[Summary of 0 characters. Full text: expand_message(0)]\n\n",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestFirstChars_NeverCutsACluster: for every text, the result is a prefix of whole clusters with at most n code points, and the
// figures are right. If the first cluster is longer than n, nothing is left.
func TestFirstChars_NeverCutsACluster(t *testing.T) {
	pieces := []string{"a", " ", "\n", "\r\n", "é", "e\u0301", "🇩🇪", "🇫", "👨‍👩‍👧", "\u200d", "각", "\u1112\u1161", "क्षि", "👍🏽", "\u0301", "字", "\t", "\u00a0", "1\ufe0f\u20e3"}
	proptest.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 60).Draw(t, "text"), "")
		chars := utf8.RuneCountInString(text)
		n := rapid.IntRange(1, chars).Draw(t, "n")
		got, ok := compaction.FirstChars(text, n, compaction.Original{Chars: chars})
		if ok != (chars > n) {
			t.Fatalf("compacted: %v", ok)
		}
		if !ok {
			return
		}
		head, _, _ := strings.Cut(got, "...\n\n[Compacted: ")
		var want string // the longest prefix of whole clusters
		for g := uniseg.NewGraphemes(text); g.Next(); {
			if _, end := g.Positions(); utf8.RuneCountInString(text[:end]) <= n {
				want = text[:end]
			}
		}
		if head != want {
			t.Fatalf("kept %q of %q, want %q", head, text, want)
		}
	})
}
