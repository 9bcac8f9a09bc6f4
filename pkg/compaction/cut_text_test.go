package compaction_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/tokens/chars4"
)

func weight(s string) int64 { n, _ := chars4.New().Count(s); return int64(n) }

// TestCutWords_AnyText_FitsAndKeepsBothEnds: a cut weighs at most its limit, and shows the beginning, the end, and at least 200
// characters.
func TestCutWords_AnyText_FitsAndKeepsBothEnds(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		text := strings.Repeat(rapid.StringN(1, 40, -1).Draw(t, "piece"), rapid.IntRange(1, 60).Draw(t, "times"))
		limit := rapid.Int64Range(0, weight(text)+40).Draw(t, "limit")
		cut, ok := compaction.CutWords(text, 7, limit, chars4.New())
		least := weight(compaction.RenderCut(text, compaction.MinCut(text, 7)))
		if ok != (least <= limit) {
			t.Fatalf("%d characters in %d tokens: %v, at its shortest it weighs %d", utf8.RuneCountInString(text), limit, ok, least)
		}
		if !ok {
			return
		}
		shown, chars := compaction.RenderCut(text, cut), int32(utf8.RuneCountInString(text))
		if n := weight(shown); n > limit || cut.Message != 7 {
			t.Fatalf("%+v weighs %d of %d", cut, n, limit)
		}
		if cut.Head == chars {
			if !strings.HasPrefix(shown, text) || cut.Tail != 0 {
				t.Fatalf("%+v of %d characters is shown as %q", cut, chars, shown)
			}
			return
		}
		head, tail := string([]rune(text)[:cut.Head]), string([]rune(text)[cut.From:])
		if !strings.HasPrefix(shown, head) || !strings.HasSuffix(shown, tail) || cut.From+cut.Tail != chars || cut.Head+cut.Tail < min(chars, compaction.MinCutChars)-50 {
			t.Fatalf("%+v of %d characters is shown as %q", cut, chars, shown)
		}
	})
}

// TestCutSummary_AnySummary_FitsTextGivingFirst: the result weighs at most its limit, and the text shrinks before the list does.
func TestCutSummary_AnySummary_FitsTextGivingFirst(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		body := strings.Repeat("words of it ", rapid.IntRange(0, 80).Draw(t, "words"))
		list := strings.TrimSpace(strings.Repeat("/srv/data/file.csv ", rapid.IntRange(0, 60).Draw(t, "names")))
		text := body + "\n\n" + list
		limit := rapid.Int64Range(0, weight(text)+20).Draw(t, "limit")
		listLimit := rapid.Int64Range(0, limit).Draw(t, "list limit")
		cut, ok := compaction.CutSummary(text, len(body), 9, limit, listLimit, chars4.New())
		if !ok {
			return
		}
		shown := compaction.ShowSummary(text, cut)
		if n := weight(shown); n > limit || cut.Summary != 9 {
			t.Fatalf("%+v weighs %d of %d:\n%s", cut, n, limit, shown)
		}
		if !strings.HasPrefix(shown, body[:cut.Head]) || cut.Head+cut.Tail < min(compaction.MinCutChars, int32(len(text))) {
			t.Fatalf("%+v is shown as %q", cut, shown)
		}
		if rest := list[:cut.Tail]; !strings.HasSuffix(shown, rest) || cut.Tail > 0 && int(cut.Tail) < len(list) && list[cut.Tail] != ' ' {
			t.Fatalf("%+v cuts an entry of the list: %q", cut, shown)
		}
	})
}

func TestShowWords_Whole_SaysThatTheRestIsNotShown(t *testing.T) {
	got := compaction.RenderCut("Fix it.", conversation.Cut{Message: 3, Head: 7})
	if want := "Fix it.\n[Shortened to fit: the rest of the message is not shown. Full message: expand_message(3)]"; got != want {
		t.Errorf("got %q", got)
	}
}

// TestCutWords_LongText_FillsItsLimit: how much is shown depends on the room alone, however long the text is.
func TestCutWords_LongText_FillsItsLimit(t *testing.T) {
	const limit = 1000
	for _, chars := range []int{5_000, 100_000, 4_000_000} {
		text := strings.Repeat("a", chars)
		cut, ok := compaction.CutWords(text, 3, limit, chars4.New())
		n, _ := chars4.New().Count(compaction.RenderCut(text, cut))
		if !ok || n > limit || n < limit-10 {
			t.Errorf("of %d characters %d tokens are shown, and may be %d", chars, n, limit)
		}
	}
}
