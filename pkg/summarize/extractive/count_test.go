package extractive_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/pkg/summarize/extractive"
)

// TestExtract_AnyJSON_CountsAreExact compares the counts of the first line with those of encoding/json.
func TestExtract_AnyJSON_CountsAreExact(t *testing.T) {
	scalar := rapid.OneOf(rapid.Just(any(nil)), rapid.Map(rapid.Int(), asAny), rapid.Map(rapid.Bool(), asAny), rapid.Map(rapid.StringN(0, 30, 90), asAny))
	object := rapid.Map(rapid.MapOfN(rapid.StringMatching(`[a-z]{1,6}[0-9]?`), scalar, 0, 6), asAny)
	item := rapid.OneOf(scalar, object, rapid.Map(rapid.SliceOfN(scalar, 0, 5), asAny))
	proptest.Check(t, func(t *rapid.T) {
		items := rapid.SliceOfN(item, 1, 80).Draw(t, "items")
		indent := rapid.SampledFrom([]string{"", "  "}).Draw(t, "indent")
		text, err := json.MarshalIndent(items, "", indent)
		if err != nil {
			t.Fatal(err)
		}
		size := utf8.RuneCount(text)
		n := size - 1
		if n < 60 {
			return
		}
		got := extractive.Extract(string(text), n)
		want := fmt.Sprintf("JSON array, %s items, %s characters.", commas(len(items)), commas(size))
		if len(items) == 1 {
			want = strings.Replace(want, "1 items", "1 item", 1)
		}
		if !strings.HasPrefix(got, want) {
			t.Fatalf("want %q first:\n%s", want, got)
		}
	})
}

func asAny[T any](v T) any { return v }

// TestExtract_Lines_CountsAreExact compares the count of lines with the line breaks of the text.
func TestExtract_Lines_CountsAreExact(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(12, 400).Draw(t, "n")
		every := rapid.IntRange(2, 9).Draw(t, "every")
		var b strings.Builder
		for i := range n {
			if i%every == 0 {
				fmt.Fprintf(&b, "2024-01-01 00:00:%02d gc pause %d ms\n", i%60, i)
			} else {
				fmt.Fprintf(&b, "2024-01-01 00:00:%02d served request %d\n", i%60, i)
			}
		}
		pauses := (n + every - 1) / every
		got := extractive.Extract(b.String(), 300)
		for _, want := range []string{fmt.Sprintf("Log, %s lines in 2 templates, ", commas(n)), fmt.Sprintf("×%s: ", commas(n-pauses))} {
			if !strings.Contains(got, want) {
				t.Fatalf("want %q:\n%s", want, got)
			}
		}
	})
}
