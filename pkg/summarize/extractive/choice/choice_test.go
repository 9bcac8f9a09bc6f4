package choice_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/pkg/summarize/extractive/choice"
)

func TestPack_LittleRoom_GoesToTheWorthiestInTheirOrder(t *testing.T) {
	entries := []choice.Entry{
		{Label: "L1: ", Text: "first", Order: 1, Score: 2, MaxChars: 10, Represents: 1},
		{Label: "L2: ", Text: "of no worth here", Order: 2, Score: 1, MaxChars: 20, Represents: 7},
		{Label: "L3: ", Text: "last", Order: 3, Score: 3, MaxChars: 10, Represents: 2},
	}
	if body, stands := choice.Pack(entries, 20); body != "\nL1: first\nL3: last" || stands != 3 {
		t.Errorf("%q stands for %d", body, stands)
	}
	whole := []choice.Entry{{Text: strings.Repeat("whole ", 20), MaxChars: 200, Whole: true}}
	if body, _ := choice.Pack(whole, 60); body != "" {
		t.Errorf("an entry that is worthless when cut is cut: %q", body)
	}
	whole[0].Whole = false
	if body, _ := choice.Pack(whole, 60); utf8.RuneCountInString(body) > 60 || !strings.HasSuffix(body, "…") {
		t.Errorf("%q", body)
	}
}

func TestPack_AnyEntries_FitTheirRoom(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		room := rapid.IntRange(0, 300).Draw(t, "room")
		var entries []choice.Entry
		for i := range rapid.IntRange(0, 12).Draw(t, "entries") {
			entries = append(entries, choice.Entry{
				Text: rapid.StringN(0, 80, -1).Draw(t, "text"), Label: "- ", Order: i, Score: rapid.Float64Range(0, 9).Draw(t, "worth"), MaxChars: rapid.IntRange(0, 90).Draw(t, "most"),
			})
		}
		if body, _ := choice.Pack(entries, room); utf8.RuneCountInString(body) > room {
			t.Fatalf("%d characters in room for %d", utf8.RuneCountInString(body), room)
		}
	})
}

func TestTerms_Cover_AddsWhatIsNotSaidYet(t *testing.T) {
	var units []choice.Unit
	for _, text := range []string{"the zeppelin landed at Harbour_7", "the zeppelin landed at Harbour_7", "the ledger of Quay_9 is closed", "left out zeppelin ledger"} {
		units = append(units, choice.Unit{Text: text})
	}
	boost := func(i int) float64 {
		if i == 3 {
			return 0
		}
		return 1
	}
	order := choice.Cover(units, boost, 2)
	slices.Sort(order)
	if len(order) != 2 || order[0] > 1 || order[1] != 2 {
		t.Errorf("%v", order)
	}
	if all := choice.Cover(units, boost, 9); slices.Contains(all, 3) {
		t.Errorf("what counts nothing is chosen: %v", all)
	}
}
