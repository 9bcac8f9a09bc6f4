package search

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
)

// threadOf prepares the texts of one conversation.
func threadOf(texts ...string) (t Thread) {
	for i, text := range texts {
		var before *Line
		if i > 0 {
			before = &t[i-1]
		}
		t = append(t, NewLine(text, before))
	}
	return t
}

func ranked(q string, floor float64, threads ...Thread) []LineHit {
	return slices.Collect(RankLines(NewQuery(q), threads, nil, floor))
}

// One thread is searched as messages are.
func TestRankLines_OneThread_IsRankedAsMessages(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(messageText(), 0, 20).Draw(t, "texts")
		query := messageText().Draw(t, "query")
		var got []Hit
		for _, h := range ranked(query, 0, threadOf(texts...)) {
			got = append(got, Hit{h.Line, h.Score})
			if h.Share < 0 || h.Share > 1 {
				t.Fatalf("a share of %v", h.Share)
			}
		}
		if want := RankMessages(NewQuery(query), inBlocks(texts), nil, len(texts)); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%v, as messages %v", got, want)
		}
	})
}

// What stands beside a line counts in its own thread alone.
func TestRankLines_Borders_EndTheContext(t *testing.T) {
	question, answer := "Where did the zeppelin land?", "Near the lake."
	one := ranked("zeppelin", 0, threadOf("Nothing.", question, answer))
	if len(one) != 2 || one[1].Line != 2 {
		t.Errorf("%v", one)
	}
	two := ranked("zeppelin", 0, threadOf("Nothing.", question), Thread{}, threadOf(answer))
	if len(two) != 1 || two[0].Line != 1 {
		t.Errorf("%v", two)
	}
	beside := ranked("zeppelin lake", 0, threadOf("The zeppelin landed.", "The lake is deep."), threadOf("No."), threadOf("No."))
	apart := ranked("zeppelin lake", 0, threadOf("The zeppelin landed."), threadOf("The lake is deep."), threadOf("No."), threadOf("No."))
	if beside[0].Score <= apart[0].Score || beside[0].Share <= apart[0].Share {
		t.Errorf("%v beside each other, %v apart", beside, apart)
	}
}

func TestRankLines_Keep_LeavesLinesOut(t *testing.T) {
	threads := []Thread{threadOf("one zeppelin", "a lake"), threadOf("two zeppelins")}
	hits := slices.Collect(RankLines(NewQuery("zeppelin"), threads, func(line int32) bool { return line != 0 }, 0))
	if len(hits) != 1 || hits[0].Line != 2 {
		t.Errorf("%v", hits)
	}
	for range RankLines(NewQuery("zeppelin"), threads, nil, 0) {
		break // asking for no more is no fault
	}
}

func TestRankLines_Share_IsOfTheWholeQuery(t *testing.T) {
	thread := threadOf("The zeppelin landed near the lake.", "So it did.", "Well, well.", "I can help you with that, hello and thanks.", "What a day.")
	for q, want := range map[string][2]float64{
		"zeppelin":                         {1, 1},
		"where did the zeppelin land":      {1, 1},
		"zeppelin airship":                 {0.25, 0.5}, // what no line has is the rarest
		"the zeppelin tax of my aunt Rosa": {0, 0},      // one of four words
		"hello, can you help me, thanks":   {0, 0},
	} {
		hits := ranked(q, 0, thread)
		if len(hits) == 0 || hits[0].Share < want[0] || hits[0].Share > want[1] {
			t.Errorf("%q: %v, want a share of %v", q, hits, want)
		}
	}
	if hits := ranked("zeppelin airship", 0.7, thread); len(hits) != 0 {
		t.Errorf("%v above the floor", hits)
	}
}

// A word beside a line counts less than one in it.
func TestRankLines_Share_CountsWhatIsBesideForLess(t *testing.T) {
	share := func(texts ...string) float64 {
		for _, h := range ranked("zeppelin lake", 0, threadOf(texts...)) {
			if h.Line == 0 {
				return h.Share
			}
		}
		return -1
	}
	in, beside, far := share("zeppelin lake", "x", "y"), share("zeppelin", "lake", "y"), share("zeppelin", "x", "lake")
	if !(in > beside && beside > far) {
		t.Errorf("%.2f in it, %.2f beside it, %.2f further away", in, beside, far)
	}
}

// A short line is in the language of the one before it, as a message is, also after it was kept elsewhere.
func TestNewLine_Language_IsThatOfTheLineBefore(t *testing.T) {
	before := NewLine("La plaza era vieja y los niños no sabían que el mar estaba tan cerca de la casa.", nil)
	if line := NewLine("canciones", &before); line.Language != before.Language || line.Language == 0 {
		t.Errorf("%d after %d", line.Language, before.Language)
	}
	if line := NewLine("canciones", &Line{Language: 200}); line.Language != 0 {
		t.Errorf("%d after a language that there is not", line.Language)
	}
	RankLines(NewQuery("x"), []Thread{{{Language: 200, Codes: []byte{1}}}}, nil, 0)(func(LineHit) bool { return true })
}

// Lines are kept outside: what codes them differently raises Coding.
func TestNewLine_Codes_AreThoseOfThisCoding(t *testing.T) {
	const want = "1 f13b1432af0917fa"
	sum := sha256.New()
	for _, text := range []string{
		"Ann: where did the zeppelins land?", "Las canciones que cantaban en la plaza eran de su abuela, y todas las conocían.", "Das Haus ist alt, aber es wird noch bewohnt.",
		"Она читала эти книги всю ночь.", "那艘飞艇在湖边降落了。", "HTTPServer_v2 took 12.5 ms at /usr/lib/x.so", "เมื่อวานเรือเหาะลงจอดใกล้ทะเลสาบ", "ＺＥＰＰＥＬＩＮ Straße",
	} {
		line := NewLine(text, nil)
		fmt.Fprintf(sum, "%x %d %d %t\n", line.Codes, line.Language, line.Opening, line.Question)
	}
	if got := fmt.Sprintf("%d %x", Coding, sum.Sum(nil)[:8]); got != want {
		t.Errorf("lines are coded otherwise: %s, and not %s", got, want)
	}
}
