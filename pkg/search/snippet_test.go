package search

import (
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/internal/testlane"
)

func TestSnippet_ShortText_IsItsOwn(t *testing.T) {
	for _, text := range []string{"", " a short text\n", "飞艇", "\xff\xfe"} {
		if got := Snippet(NewQuery("text"), text, 20); got != text {
			t.Errorf("%q: %q", text, got)
		}
	}
	if got := Snippet(NewQuery("text"), "text", 0); got != "" {
		t.Errorf("%q", got)
	}
}

func TestSnippet_LongText_HoldsTheAnswer(t *testing.T) {
	filler := strings.Repeat("Nothing of note was said that day, and nobody wrote anything down. ", 40)
	for _, c := range []struct{ q, answer string }{
		{"where did the zeppelin land", "The zeppelin landed near the lake at dawn."},
		{"飞艇在哪里降落", "那艘飞艇在湖边降落了。"},
		{"где приземлился дирижабль", "Дирижабль приземлился у озера."},
		{"error 4711", "ERROR 4711: the valve did not close."},
	} {
		got := Snippet(NewQuery(c.q), filler+c.answer+" "+filler, 200)
		if !strings.Contains(got, c.answer) || utf8.RuneCountInString(got) > 200 {
			t.Errorf("%s: %q", c.q, got)
		}
		if !strings.HasPrefix(got, "Nothing") && !strings.HasPrefix(got, c.answer) {
			t.Errorf("%s: begins within a sentence: %q", c.q, got)
		}
	}
	if got := Snippet(NewQuery("unheard"), strings.Repeat("e\u0301", 200), 99); got != strings.Repeat("e\u0301", 49) {
		t.Errorf("%q", got)
	}
	if got := Snippet(NewQuery("unheard"), filler, 100); !strings.HasPrefix(filler, got) || len(got) < 50 || !strings.HasSuffix(got, ".") {
		t.Errorf("%q", got)
	}
}

// checkSnippet fails unless a snippet is a part of the text, within its limit, that begins and ends between characters with their marks.
func checkSnippet(t interface{ Fatalf(string, ...any) }, text, got string, maxChars int) {
	if !strings.Contains(text, got) || utf8.RuneCountInString(got) > max(0, maxChars) {
		t.Fatalf("%q of %q in %d", got, text, maxChars)
	}
	whole, at, state := map[int]bool{0: true}, 0, -1
	for rest := text; rest != ""; {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if utf8.RuneCountInString(cluster) > maxChars {
			return // such a one may have to be cut
		}
		if r, n := utf8.DecodeRuneInString(cluster); unicode.IsSpace(r) {
			whole[at+n] = true // white space is left out, whatever joins it
		}
		at += len(cluster)
		whole[at] = true
	}
	for from := 0; from <= len(text)-len(got); from++ {
		if text[from:from+len(got)] == got && whole[from] && whole[from+len(got)] {
			return
		}
	}
	t.Fatalf("%q of %q cuts a character", got, text)
}

func TestSnippet_MarksAtItsBorders_AreNotCutOff(t *testing.T) {
	for _, c := range []struct {
		text, query string
		maxChars    int
		want        string
	}{
		{"เรือ", "เรือ", 2, "เ"}, // a limit below that of the shortest segment
		{"zeppelin zeppelin :\u200dzeppelin ", "", 20, "zeppelin zeppelin"},
		{"เรือ\u200d", "เรือ", 4, "เรื"},      // the phrase and its mark do not fit
		{"เรือ\u200dเรือ", "เรือ", 4, "เรือ"}, // the second time they do
		{strings.Repeat("e\u0301", 9), "x", 1, "e"},
	} {
		got := Snippet(NewQuery(c.query), c.text, c.maxChars)
		if checkSnippet(t, c.text, got, c.maxChars); got != c.want {
			t.Errorf("%q of %q in %d, want %q", got, c.text, c.maxChars, c.want)
		}
	}
}

func TestSnippet_Any_IsWithinItsLimit(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		text, q := messageText().Draw(t, "text"), messageText().Draw(t, "query")
		maxChars := rapid.IntRange(-1, 60).Draw(t, "most")
		checkSnippet(t, text, Snippet(NewQuery(q), text, maxChars), maxChars)
	})
}

// longest is what nothing may take, on the slowest machine: with time that grows with the square of a text it would take minutes.
const longest = 20 * time.Second

func TestSnippet_HostileText_TakesNoLong(t *testing.T) {
	for name, text := range hostileTexts(256 << 10) {
		for kind, query := range map[string]string{"itself": text, "a word": "zeppelin", "a letter": "a", "a character": "飞"} {
			began := time.Now()
			got := Snippet(NewQuery(query), text, 200)
			if took := time.Since(began); took > testlane.Slack(longest) || utf8.RuneCountInString(got) > 200 {
				t.Errorf("%s, looked for %s: %d bytes in %v", name, kind, len(got), took)
			} else if testing.Verbose() && took > 200*time.Millisecond {
				t.Logf("%s, looked for %s: %v", name, kind, took)
			}
		}
	}
}
