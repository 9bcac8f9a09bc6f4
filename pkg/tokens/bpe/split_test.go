package bpe

import (
	"slices"
	"testing"
)

func TestSplitter_Next_CutsAtPublishedBorders(t *testing.T) {
	tests := []struct {
		text          string
		o200k, cl100k []string
	}{
		{"a b  c", []string{"a", " b", " ", " c"}, []string{"a", " b", " ", " c"}},
		{"HTMLdocFoo", []string{"HTMLdoc", "Foo"}, []string{"HTMLdocFoo"}},
		{"don'tX", []string{"don't", "X"}, []string{"don", "'t", "X"}},
		{"a'ſb", []string{"a'ſ", "b"}, []string{"a", "'ſ", "b"}},
		{"12345", []string{"123", "45"}, []string{"123", "45"}},
		{"!\n/x", []string{"!\n/", "x"}, []string{"!\n", "/x"}},
		{" \n \n  x", []string{" \n \n", " ", " x"}, []string{" \n \n", " ", " x"}},
		{"\u0301AB", []string{"\u0301", "AB"}, []string{"\u0301AB"}},
		{"漢AB", []string{"漢", "AB"}, []string{"漢AB"}},
	}
	for _, tt := range tests {
		for name, want := range map[string][]string{O200k: tt.o200k, Cl100k: tt.cl100k} {
			if got := pieces(name, tt.text); !slices.Equal(got, want) {
				t.Errorf("%s: %q is cut into %q, want %q", name, tt.text, got, want)
			}
		}
	}
}

func pieces(name, text string) (found []string) {
	e, _ := encodingOf(name)
	s := splitter{newClasses(), e.word, e.slash}
	for text != "" {
		end := s.next(text, 0)
		found = append(found, text[:end])
		text = text[end:]
	}
	return found
}
