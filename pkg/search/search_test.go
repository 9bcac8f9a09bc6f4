package search

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/internal/recordings"
	"github.com/palimpsest-context/palimpsest/internal/testlane"
	"github.com/palimpsest-context/palimpsest/pkg/content"
)

// checkExcerpts holds excerpts to what they promise whatever was searched.
func checkExcerpts(t interface{ Fatalf(string, ...any) }, o Options, excerpts []Excerpt, readings ...*content.Reading) {
	if len(excerpts) > max(o.Max, DefaultExcerpts) {
		t.Fatalf("%d excerpts, at most %d", len(excerpts), o.Max)
	}
	most := MaxExcerptChars
	if o.MaxChars > 0 {
		most = min(o.MaxChars, most)
	}
	for i, e := range excerpts {
		r := readings[e.Content]
		if n := utf8.RuneCountInString(e.Text); n > most || n == 0 || !utf8.ValidString(e.Text) {
			t.Fatalf("an excerpt of %d characters, at most %d", n, most)
		}
		if e.Bytes[0] < 0 || e.Bytes[1] > int64(len(r.Content)) || e.Bytes[0] >= e.Bytes[1] {
			t.Fatalf("an excerpt of bytes %v of %d", e.Bytes, len(r.Content))
		}
		if r.Kind != content.KindHTML && utf8.ValidString(r.Content) && r.Content[e.Bytes[0]:e.Bytes[1]] != e.Text {
			t.Fatalf("bytes %v are %q, not %q", e.Bytes, r.Content[e.Bytes[0]:e.Bytes[1]], e.Text)
		}
		if e.Location == "" || e.Relevance == "" || len(e.Matched) > maxMatched {
			t.Fatalf("location %q, relevance %q, %d matched", e.Location, e.Relevance, len(e.Matched))
		}
		for _, before := range excerpts[:i] {
			if before.Content == e.Content && before.Bytes == e.Bytes {
				t.Fatalf("bytes %v are there twice", e.Bytes)
			}
		}
	}
}

// lorem are sentences of made-up words, the same for the same seed.
func lorem(seed uint64, sentences int) string {
	random, b := rand.New(rand.NewPCG(seed, 1)), strings.Builder{}
	for range sentences {
		for range 5 + random.IntN(15) {
			fmt.Fprintf(&b, "w%c%c%c ", 'a'+random.IntN(26), 'a'+random.IntN(26), 'a'+random.IntN(26))
		}
		b.WriteString("end. ")
	}
	return b.String()
}

func TestSearch_Excerpts_AnyContentAndTerms_KeepPromises(t *testing.T) {
	pieces := []string{"fee ", "waiver. ", "The premium\n", "中文字", "ญี่ปุ่น ", "किताब ", "\xff", "fooBar_baz ", `{"a": `, "}", "\n\n", "# T\n", "<p>", "e\u0301", "12.5 "}
	proptest.Check(t, func(t *rapid.T) {
		o := Options{Max: rapid.IntRange(0, 8).Draw(t, "max"), MaxChars: rapid.SampledFrom([]int{0, 1, 7, 80, 500, 900}).Draw(t, "chars")}
		s := NewSearch(NewQuery(rapid.SliceOfN(rapid.SampledFrom(append(pieces, `"fee waiver"`, "premium fee")), 0, 6).Draw(t, "terms")...), o)
		var readings []*content.Reading
		for i := range rapid.IntRange(1, 3).Draw(t, "contents") {
			document := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 300).Draw(t, "pieces"), "")
			readings = append(readings, content.Read(content.Kind(rapid.IntRange(0, 5).Draw(t, "kind")), document))
			s.Add(i, NewDocument(readings[i]))
		}
		checkExcerpts(t, o, s.Excerpts(), readings...)
		checkExcerpts(t, o, s.Excerpts(), readings...)
	})
}

func TestSearch_Excerpts_ExactPhrase_IsInTheFirst(t *testing.T) {
	for i, phrase := range []string{"late fee of the second year", "})\n\t=>", "ไม่มีค่าธรรมเนียม", "第二年的費用", "E_CONN-4711/retry", "ＦＥＥ １２", "\"quoted fee\""} {
		text := lorem(uint64(i), 400) + "late year, second fee. " + lorem(7, 200) + " so " + phrase + " now " + lorem(8, 600)
		asked := strings.ToUpper(strings.Join(strings.Fields(phrase), "  "))
		excerpts := ask(asked, prepared(text), prepared(lorem(99, 300)+" late fee of a second year "))
		if len(excerpts) == 0 || !strings.Contains(folded(excerpts[0].Text), folded(phrase)) {
			t.Errorf("%q is not in the first of %d excerpts", phrase, len(excerpts))
		}
	}
}

func TestSearch_Excerpts_PhraseAmongMany_IsInTheFirst(t *testing.T) {
	text := strings.Repeat("The waiver of the premium fee is a premium waiver, no fee. ", 400) + "\n\n=== fee waiver\n\n" + lorem(3, 50)
	s := NewSearch(NewQuery("premium", "fee", "=== fee"), Options{})
	s.Add(0, prepared(text))
	if e := s.Excerpts(); len(e) == 0 || !strings.Contains(e[0].Text, "=== fee") {
		t.Error("the phrase is not in the first excerpt")
	}
}

func TestSearch_Excerpts_PhraseAcrossSegments_IsWhole(t *testing.T) {
	phrase := strings.Repeat("one two. Three four! ", 20)
	phrase = strings.TrimSpace(phrase[:400])
	text := lorem(1, 100) + strings.Repeat("x", 300) + " " + phrase + " " + strings.Repeat("y", 400) + lorem(2, 100)
	if e := ask(phrase, prepared(text)); len(e) == 0 || !strings.Contains(e[0].Text, phrase) {
		t.Error("the phrase is not whole in the first excerpt")
	}
}

func TestSearch_Excerpts_SameTextTwice_IsShownOnce(t *testing.T) {
	line := "The premium fee is waived for members who joined in the first year of the programme and stayed."
	e := ask("premium fee", prepared(line+"\n\n"+lorem(1, 60)+"\n\n"+line+"\n\n"+lorem(2, 60)), prepared(line))
	for i, one := range e {
		for _, before := range e[:i] {
			if strings.Contains(one.Text, line) && strings.TrimSpace(one.Text) == strings.TrimSpace(before.Text) {
				t.Errorf("%q is shown twice", one.Text)
			}
		}
	}
}

func TestSearch_Excerpts_SeveralContents_ShareStatistics(t *testing.T) {
	s := NewSearch(NewQuery("fee zeppelin"), Options{})
	for i := range 20 {
		s.Add(i, prepared(strings.Repeat("A fee is a fee. ", 20)))
	}
	s.Add(20, prepared("The zeppelin is here. "+lorem(1, 5)))
	if e := s.Excerpts(); len(e) == 0 || e[0].Content != 20 {
		t.Error("the rare word's content is not first")
	}
}

// Words are weighed by all contents before a passage is chosen in the first. In that alone, the many passages with the word that all
// others have too would leave no room for those with the word that it alone has.
func TestSearch_Add_LaterContents_SayWhatIsRareInTheFirst(t *testing.T) {
	first, other := strings.Builder{}, strings.Repeat("Everybody has bread. "+lorem(1, 6)+"\n\n", 200)
	for i := range 100 {
		first.WriteString(map[bool]string{true: "They sell bread. ", false: "They sell zeppelins, and zeppelins. "}[i%3 == 0] + lorem(uint64(i), 20) + "\n\n")
	}
	rare := prepared(first.String())
	for name, documents := range map[string][]*Document{"first": {rare, prepared(other)}, "last": {prepared(other), rare}} {
		e := ask("bread zeppelins", documents...)
		if len(e) == 0 || !strings.Contains(e[0].Text, "zeppelins") {
			t.Errorf("the content with the rare word comes %s, and is answered with %+v", name, e)
		}
	}
}

// A word that begins or ends like one of the query decides between passages that hold as many of its words, and is not named.
func TestSearch_Excerpts_PartsAndForms_Count(t *testing.T) {
	for _, c := range []struct{ about, other, right, query string }{
		{
			"Die Stadt liegt am Fluss und hat einen Hafen, der nicht groß ist. ", "Im Jahr 1901 entstand die neue Brücke. ",
			"Im Jahr 1855 entstand die neue Kolonialverfassung. ", "In welchem Jahr kam die Verfassung?",
		},
		{
			"Die Stadt liegt am Fluss und hat einen Hafen, der nicht groß ist. ", "Die Bahn fährt im Winter selten. ",
			"Die Bahn fährt als touristische Strecke durch das Tal. ", "Welche Bahn hat Touristenzüge?",
		},
		{
			"Город стоит на реке, и в нём есть порт, который не так велик. ", "В музее хранится старая карта города. ",
			"В музее хранится карта ленинградской обороны. ", "Что в музее из Ленинграда?",
		},
	} {
		filler := strings.Repeat(c.about, 9)
		text := filler + "\n\n" + c.other + filler + "\n\n" + c.right + filler
		e := ask(c.query, prepared(text))
		if len(e) == 0 || !strings.Contains(e[0].Text, strings.TrimSpace(c.right)) {
			t.Errorf("%q is answered with %+v", c.query, e)
			continue
		}
		if words := strings.Fields(strings.Trim(c.query, "?")); slices.Contains(e[0].Matched, words[len(words)-1]) {
			t.Errorf("%q is named, and is not in %q", e[0].Matched, e[0].Text)
		}
	}
}

func TestQueryTermIndex_Affixes_AreOfWordsThatSaySomething(t *testing.T) {
	q := NewQuery("Welche Verfassung haben diese Länder während des Krieges?")
	b := newQueryTermIndex(q)
	if b.add(q.lang); len(b.byAffix) == 0 {
		t.Error("no ends are known")
	}
	for _, word := range b.byAffix {
		if !q.words[word].informative {
			t.Errorf("the ends of %q count", q.words[word].text)
		}
	}
}

// What only looks like a word of the query is no answer by itself.
func TestSearch_Excerpts_NothingButParts_IsNothing(t *testing.T) {
	text := strings.Repeat("Die Landesverfassung ist alt, und die Verfassungen der Länder sind es auch nicht. ", 20)
	if e := ask("Verfassungsrecht", prepared(text)); len(e) > 0 {
		t.Errorf("found %+v", e)
	}
}

func TestSearch_Add_LargeContents_AreNotHeld(t *testing.T) {
	s, d := NewSearch(NewQuery("end"), Options{}), prepared(lorem(1, 5000))
	for i := range 200 {
		if s.Add(i, d); s.pendingBytes >= maxPendingBytes || len(s.pending) > int(maxPendingBytes/int64(len(d.text))) {
			t.Fatalf("%d contents of %d bytes are held", len(s.pending), s.pendingBytes)
		}
	}
}

func TestScorer_Worth_EndsOfContents_LackNothing(t *testing.T) {
	s := newScorer(NewQuery("a"), defaultRankingParams())
	for _, c := range []struct {
		at          int32
		first, last bool
		whole       bool
	}{{1000, false, false, false}, {1000, true, false, true}, {1000, false, true, false}, {1099, false, false, false}, {1099, true, false, false}, {1099, false, true, true}} {
		if got := s.positionWeight(c.at, &passage{from: 1000, to: 1100, first: c.first, last: c.last}); (got == 1) != c.whole || got > 1 || got <= 0 {
			t.Errorf("%+v counts %.2f", c, got)
		}
	}
}

// What begins and ends a content is known, whichever parts of it are read.
func TestSearch_Passages_KnowTheEnds(t *testing.T) {
	text := "zeppelin. " + lorem(1, 2000) + "zeppelin. " + lorem(2, 2000) + " zeppelin."
	first, last := 0, 0
	for _, terms := range []string{"zeppelin", `"` + text[len(text)/3:len(text)/3+400] + `"`} {
		s := NewSearch(NewQuery(terms), Options{})
		c := s.count(0, prepared(text))
		s.scorer.weigh(s.df, s.blocks)
		for _, w := range s.passages(&c) {
			if w.first != (w.from == 0) || w.last != (int(w.to) == len(text)) {
				t.Errorf("%d-%d of %d is first: %t, last: %t", w.from, w.to, len(text), w.first, w.last)
			}
			first, last = first+b2i(w.first), last+b2i(w.last)
		}
	}
	if first != 1 || last == 0 {
		t.Errorf("%d begin the content, %d end it", first, last)
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestSearch_Excerpts_Matched_AreTheCallersWords(t *testing.T) {
	s := NewSearch(NewQuery("Premium-Fees", "waivers", "黑豹队", "what is the"), Options{Max: 1})
	s.Add(0, prepared("The premium fee has a waiver. 黑豹队赢了。"))
	e := s.Excerpts()
	if len(e) != 1 || !slices.Equal(e[0].Matched, []string{"黑豹队", "Premium", "Fees", "waivers"}) && !slices.Equal(e[0].Matched, []string{"Premium", "Fees", "waivers", "黑豹队"}) {
		t.Fatalf("matched %q", e[0].Matched)
	}
	s = NewSearch(NewQuery(`"premium fee"`, "waiver", "year", "bank"), Options{Max: 1})
	s.Add(0, prepared("The Premium  Fee is due."))
	s.Add(1, prepared("Nothing of it."))
	if e := s.Excerpts(); len(e) != 1 || e[0].Relevance != `holds the phrase "premium fee"` {
		t.Fatalf("%+v", e)
	}
	s = NewSearch(NewQuery("fee", "waiver", "premium", "zeppelin"), Options{Max: 1})
	s.Add(0, prepared("A waiver of the fee of premium cards."))
	if e := s.Excerpts(); len(e) != 1 || e[0].Relevance != "3 of 4 terms: fee, waiver, premium" {
		t.Fatalf("%+v", e)
	}
}

func TestSearch_Excerpts_KeysOverAnItem_SayWhatItIs(t *testing.T) {
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, "%s\"card%03d\": {\"bank\": %q, \"years\": {", map[bool]string{true: "{", false: ", "}[i == 0], i, lorem(uint64(i), 8))
		for year := range 12 {
			fmt.Fprintf(&b, "%s\"%d\": {\"fee\": %d, \"note\": %q}", map[bool]string{true: "", false: ", "}[year == 0], 2000+year, year*i, lorem(uint64(year), 3))
		}
		b.WriteString("}}")
	}
	b.WriteString("}")
	s := NewSearch(NewQuery("card123 fee 2007"), Options{})
	s.Add(0, NewDocument(content.Read(content.KindJSON, b.String())))
	if e := s.Excerpts(); len(e) == 0 || !strings.HasPrefix(e[0].Location, "/card123/years/") || !strings.Contains(e[0].Text, `"2007": {"fee": 861`) {
		t.Errorf("first is %q", e[0].Location)
	}
}

func TestQuery_Empty_SaysWhetherAnythingIsLookedFor(t *testing.T) {
	for _, term := range []string{"a", "=>", "中"} {
		if NewQuery(term).Empty() {
			t.Errorf("%q is nothing to look for", term)
		}
	}
	if !NewQuery().Empty() || !NewQuery("", " \n", "\xff").Empty() {
		t.Error("nothing is something to look for")
	}
}

func TestNewQuery_ManyTerms_IsBounded(t *testing.T) {
	terms := make([]string, 100_000)
	for i := range terms {
		terms[i] = fmt.Sprintf("term%d of \"it\"", i)
	}
	begun := time.Now()
	q := NewQuery(terms...)
	s := NewSearch(q, Options{})
	s.Add(0, prepared(strings.Join(terms[:20_000], ". ")))
	s.Excerpts()
	if d := time.Since(begun); d > testlane.Slack(5*time.Second) || len(q.words) > maxQueryWords || len(q.phrases) > maxQueryPhrases {
		t.Errorf("%d words, %d phrases in %v", len(q.words), len(q.phrases), d)
	}
}

func TestSearch_Excerpts_LongRequest_IsNotDrowned(t *testing.T) {
	request := strings.Repeat("You are a customer who calls the bank and you would like to know what there is to know about your account. ", 18) +
		"You want to know about the Zephyr overdraft waiver."
	text := strings.Repeat("A customer of the bank who would like to know about an account calls the bank about it. ", 300) +
		"\n\nThe Zephyr account has an overdraft waiver of 30 days.\n\n" + strings.Repeat("The bank knows what a customer would like to know about your account. ", 300)
	if e := ask(request, prepared(text)); len(e) == 0 || !strings.Contains(e[0].Text, "Zephyr account") {
		t.Error("the passage is not first")
	}
}

func FuzzSearch(f *testing.F) {
	f.Add("The fee is waived.", "fee", 0, 100)
	f.Add(`{"a": [1, 2, {"b": "fee"}]}`, `"a": [`, 3, 5)
	f.Add(strings.Repeat("中文", 400), "文中 文", 1, 500)
	f.Fuzz(func(t *testing.T, document, term string, kind, chars int) {
		r := content.Read(content.Kind(max(0, kind)%6), document)
		o := Options{MaxChars: chars % 600}
		s := NewSearch(NewQuery(term, "fee"), o)
		s.Add(0, NewDocument(r))
		checkExcerpts(t, o, s.Excerpts(), r)
	})
}

// flights returns a large JSON result.
func flights(t testing.TB) *content.Reading {
	t.Helper()
	document, err := os.ReadFile(recordings.Path(t, "json_api", "airline_flights.json"))
	if err != nil {
		t.Skip("the recorded data lacks a file: " + err.Error())
	}
	return content.Read(content.KindJSON, string(document))
}

func BenchmarkPrepare_LargeJSON(b *testing.B) {
	r := flights(b)
	b.SetBytes(int64(len(r.Text)))
	b.ReportAllocs()
	for b.Loop() {
		d := NewDocument(r)
		b.ReportMetric(float64(d.Size())/float64(len(r.Text)), "size/content")
	}
}

func BenchmarkSearch_LargeJSON(b *testing.B) {
	d := NewDocument(flights(b))
	for _, c := range []struct{ name, term string }{
		{"one key", "HAT136"},
		{"question", "What does flight HAT136 from Boston to Minneapolis cost in business class on May 20?"},
		{"common words", "available economy business prices"},
		{"absent", "zeppelin"},
		{"phrase", `"status": "available"`},
		{"marks", `": {"`},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s := NewSearch(NewQuery(c.term), Options{})
				s.Add(0, d)
				s.Excerpts()
			}
		})
	}
}

// TestSearch_Excerpts_NothingAnswers_HasNone: function words and single characters of words are no answer.
func TestSearch_Excerpts_NothingAnswers_HasNone(t *testing.T) {
	text := "What is the time, and who is there?\n\nThe chromosome is a quantity of DNA.\n\n他的动作很快，颜色也好看。\n\nTo be or not to be."
	for q, want := range map[string]int{
		"quantum chromodynamics": 0, "what is the quantum chromodynamics": 0, "what is it": 0, "量子色动力学": 0, "chromosome": 1, "to be or not to be": 1, "颜色": 1,
	} {
		s := NewSearch(NewQuery(q), Options{})
		s.Add(0, prepared(text))
		if got := s.Excerpts(); len(got) != want {
			t.Errorf("%q: %+v", q, got)
		}
	}
}
