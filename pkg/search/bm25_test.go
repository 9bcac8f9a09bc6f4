package search

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// judged scores text where it stands between before and after, with words over it, where all words weigh 1. It scores twice: what one
// passage holds must not count for the next.
func judged(t *testing.T, k rankingParams, terms, before, text, after string, over ...int32) float64 {
	t.Helper()
	k.saturation = max(k.saturation, 1e-9)
	q, d := NewQuery(terms), prepared(before+text+after)
	sc := newScorer(q, k)
	for i := range sc.weights {
		sc.weights[i] = 1
	}
	b, l := newQueryTermIndex(q), newLexer(d.lang)
	b.add(d.lang)
	r := d.read(b, l, 0, len(d.text), MaxExcerptChars)
	w := r.passage(sc, 0, int32(len(before)), int32(len(before)+len(text)))
	w.titleWords = over
	once := sc.score(&w)
	if again := sc.score(&w); again != once || len(sc.seenWords) != 0 {
		t.Errorf("%q scores %.3f, then %.3f, with %d words left", text, once, again, len(sc.seenWords))
	}
	return once
}

// Each part of a score alone, with every word worth 1: what it counts, and what it does not.
func TestScorer_Score_PartByPart(t *testing.T) {
	all := make([]string, maxPairs+10)
	for i := range all {
		all[i] = fmt.Sprintf("word%dx", i)
	}
	ordered := strings.Join(all, " ")
	for _, c := range []struct {
		name                       string
		k                          rankingParams
		terms, before, text, after string
		over                       []int32
		want                       float64
	}{
		{"words, each once", rankingParams{}, "fee waiver", "", "fee and waiver, a fee", "", nil, 2},
		{"nothing of what stands before", rankingParams{}, "fee waiver", "fee ", "waiver", "", nil, 1},
		{"nothing of what stands after", rankingParams{}, "fee waiver", "", "waiver", " fee", nil, 1},
		{"surroundings alone are nothing", rankingParams{context: 1}, "fee", "fee ", "waiver", " fee", nil, 0},
		{"what stands over it alone is nothing", rankingParams{title: 1}, "fee", "", "waiver", "", []int32{0}, 0},
		{"surroundings add a part", rankingParams{context: 0.25}, "fee waiver", "fee ", "waiver", "", nil, 1.25},
		{"surroundings add no more to what is in it", rankingParams{context: 0.25}, "fee waiver", "fee ", "waiver fee", "", nil, 2},
		{"a sentence", rankingParams{sentence: 1}, "fee waiver", "", "No fee is a waiver.", "", nil, 2 + 2},
		{"the best of two sentences", rankingParams{sentence: 1}, "fee waiver due", "", "A fee is due. A waiver is not.", "", nil, 3 + 2},
		{"each word of a sentence once", rankingParams{sentence: 1}, "fee waiver", "", "A fee is a fee. A waiver is.", "", nil, 2 + 1},
		{"no sentence beside it", rankingParams{sentence: 1}, "fee waiver", "A waiver is a ", "fee", "", nil, 1 + 1},
		{"what stands over each sentence", rankingParams{sentence: 1, title: 1}, "fee waiver due", "", "A waiver. Is due.", "", []int32{0}, 3 + 2},
		{"what stands over it, each word once", rankingParams{sentence: 1, title: 1}, "fee waiver", "", "A waiver.", "", []int32{0, 0}, 2 + 2},
		{"over it and in it, once", rankingParams{sentence: 1, title: 1}, "fee waiver", "", "A fee.", "", []int32{0}, 1 + 1},
		{"a pair", rankingParams{pair: 1}, "fee waiver", "", "a fee waiver", "", nil, 2 + 1},
		{"a pair with one word between", rankingParams{pair: 1}, "fee waiver", "", "fee or waiver", "", nil, 2 + 1},
		{"no pair with two words between", rankingParams{pair: 1}, "fee waiver", "", "fee or a waiver", "", nil, 2},
		{"no pair the other way", rankingParams{pair: 1}, "fee waiver", "", "waiver fee", "", nil, 2},
		{"no pair that the query lacks", rankingParams{pair: 1}, "fee x y z waiver", "", "fee waiver", "", nil, 2},
		{"a pair once", rankingParams{pair: 1}, "fee waiver", "", "fee waiver, fee waiver", "", nil, 2 + 1},
		{"no pair across the border", rankingParams{pair: 1}, "fee waiver", "fee ", "waiver", "", nil, 1},
		{"an identifier follows none of its parts", rankingParams{pair: 1}, "fee feeWaiver", "", "feeWaiver", "", nil, 3 + 1},
		{"what follows an identifier follows its parts", rankingParams{pair: 1}, "fee due feeWaiver", "", "feeWaiver due", "", nil, 4 + 2},
		{"so many pairs", rankingParams{pair: 1}, ordered, "", ordered, "", nil, float64(len(all) + maxPairs)},
	} {
		if got := judged(t, c.k, c.terms, c.before, c.text, c.after, c.over...); math.Abs(got-c.want) > 1e-6 {
			t.Errorf("%s: %.3f, want %.3f", c.name, got, c.want)
		}
	}
}

// What ranking is tuned with has an effect, each in its direction.
func TestScorer_Score_RankingParamsHaveTheirDirection(t *testing.T) {
	k, filler := defaultRankingParams(), strings.Repeat("nothing of note ", 6)
	words := rankingParams{saturation: 1, title: k.title}
	score := func(text string, over ...int32) float64 {
		return judged(t, k, "fee waiver", "x. ", filler+text+filler, " y.", over...)
	}
	for name, c := range map[string][2]float64{
		"a second word beats a second time":   {score("fee. nothing of note. waiver "), score("fee fee fee. fee ")},
		"more often is more":                  {score("fee. fee "), score("fee ")},
		"one sentence beats two":              {score("fee nothing of note waiver "), score("fee. Nothing of note. Waiver ")},
		"the order of the query beats others": {score("fee waiver "), score("waiver fee ")},
		"in it beats over it":                 {score("waiver nothing fee "), score("waiver nothing ", 0)},
		"a word in it beats a title":          {judged(t, words, "fee", "", "fee", ""), judged(t, words, "fee waiver", "", "waiver", "", 0) - 0.5},
		"over it beats nothing":               {score("waiver ", 0), score("waiver ")},
		"in it beats around it":               {score("fee nothing waiver "), judged(t, k, "fee waiver", "fee. ", filler+"nothing waiver "+filler, "")},
		"around it beats nothing":             {judged(t, k, "fee waiver", "fee. ", filler+"waiver "+filler, ""), judged(t, k, "fee waiver", "x. ", filler+"waiver "+filler, "")},
		"early beats late":                    {judged(t, k, "fee", "x. ", "fee "+filler, " y."), judged(t, k, "fee", "x. ", filler+" fee", " y.")},
		"the middle beats the edge":           {score("fee "), judged(t, k, "fee waiver", "x. ", "fee "+filler+filler, " y.")},
	} {
		if c[0] <= c[1] {
			t.Errorf("%s: %.3f, %.3f", name, c[0], c[1])
		}
	}
}

// A word that is only like one of the query counts less than that, more than none, and in no sentence and no pair.
func TestScorer_Score_Partial_CountsAsAPart(t *testing.T) {
	q := NewQuery("fee waiver")
	score := func(k rankingParams, second ...hit) float64 {
		k.saturation = max(k.saturation, 1e-9)
		sc := newScorer(q, k)
		sc.weights[0], sc.weights[1] = 1, 1
		near := append([]hit{{from: 0, to: 3, word: 0}}, second...)
		return sc.score(&passage{to: 20, near: append(near, hit{from: 15, to: 18, pos: 9, word: 0})})
	}
	k := defaultRankingParams()
	part, whole := hit{from: 4, to: 8, pos: 1, word: 1, partial: true}, hit{from: 4, to: 8, pos: 1, word: 1}
	if none, some, full := score(k), score(k, part), score(k, whole); none >= some || some >= full {
		t.Errorf("%.3f for none, %.3f for a part, %.3f for the word", none, some, full)
	}
	alone := rankingParams{saturation: 1, partial: k.partial}
	if none, some, full := score(alone), score(alone, part), score(alone, whole); none >= some || some >= full {
		t.Errorf("alone: %.3f for none, %.3f for a part, %.3f for the word", none, some, full)
	}
	if beside := score(rankingParams{sentence: 1, pair: 1, partial: 1}, part); math.Abs(beside-3) > 1e-6 {
		t.Errorf("a part counts in a sentence or a pair: %.3f", beside)
	}
}

func TestScorer_Worth_IsNeverNothing(t *testing.T) {
	k := defaultRankingParams()
	k.edgePenalty = 10
	s := newScorer(NewQuery("a"), k)
	for at := range int32(100) {
		if got := s.positionWeight(at, &passage{to: 99}); got <= 0 || got > 1 {
			t.Fatalf("a word at %d counts %.2f", at, got)
		}
	}
}

func TestRankingParams_IDF_RareWordsSayMore(t *testing.T) {
	k := defaultRankingParams()
	if a, b, c := k.idf(1, 1000), k.idf(500, 1000), k.idf(1000, 1000); a <= b || b <= c || c < k.baseIDF || k.baseIDF <= 0 {
		t.Errorf("%.2f, %.2f, %.2f", a, b, c)
	}
}

// Of a long request the rarest words count, among those that anything holds.
func TestScorer_Weigh_KeepsTheRarest(t *testing.T) {
	var words []string
	for i := range 3 * maxStrong {
		words = append(words, fmt.Sprintf("word%dx", i))
	}
	s, df := newScorer(NewQuery(words...), defaultRankingParams()), make([]int, len(words))
	for i := range df {
		df[i] = max(0, i-10) // the first are nowhere
	}
	s.weigh(df, 1000)
	for i := 11; i < len(df); i++ {
		if counts := s.weights[i] > 0; counts != (df[i] <= maxStrong) {
			t.Errorf("a word in %d passages counts: %t", df[i], counts)
		}
	}
	if s.weigh(df, 1000); s.weights[50] <= s.weights[60] {
		t.Error("a rare word weighs no more than a common one")
	}
}

func TestScorer_Weigh_CommonWordsOfAQueryWeighLess(t *testing.T) {
	s := newScorer(NewQuery("what is the fee"), defaultRankingParams())
	s.weigh(make([]int, len(s.weights)), 10)
	if fee := s.weights[len(s.weights)-1]; slices.Max(s.weights[:len(s.weights)-1]) >= fee/2 {
		t.Errorf("%.2f", s.weights)
	}
}

// passagesOf returns the passages of a text for a query, before the best are chosen.
func passagesOf(s *Search, d *Document) []passage {
	c := s.count(0, d)
	s.scorer.weigh(s.df, s.blocks)
	return s.passages(&c)
}

// A passage is known to hold a phrase exactly if it does, wherever in it the phrase stands; and none is there twice.
func TestSearch_Passages_Phrases_AreKnownInAll(t *testing.T) {
	text := "Late fee. " + lorem(1, 30) + "\nLate fee\n" + lorem(2, 30) + "A late fee is due. Late fee. " + lorem(3, 30) + " late fee"
	s, times := NewSearch(NewQuery("late fee", "end"), Options{}), 0
	seen := map[segmentSpan]bool{}
	for _, w := range passagesOf(s, prepared(text)) {
		holds := strings.Contains(strings.ToLower(text[w.shown.from:w.shown.to]), "late fee")
		if holds != (w.phrases == 1) {
			t.Errorf("%d-%d holds the phrase: %t, is known to: %t", w.shown.from, w.shown.to, holds, !holds)
		}
		if whole := (segmentSpan{w.from, w.to}); seen[whole] {
			t.Errorf("%d-%d is there twice", w.from, w.to)
		} else {
			seen[whole] = true
		}
		times += b2i(holds)
	}
	if times < 4 {
		t.Errorf("%d passages hold the phrase", times)
	}
}

// A phrase that weighs next to nothing comes first, among any number of passages that hold all the other words.
func TestSearch_Excerpts_LightPhrase_IsFirst(t *testing.T) {
	var b strings.Builder
	for i := range 80 {
		fmt.Fprintf(&b, "The premium fee waiver of the card is due in the year, %d. %s\n\n", i, lorem(uint64(i), 8))
	}
	text := b.String() + "Here -> ) stands.\n\n" + lorem(99, 20)
	e := ask("-> )", prepared(text))
	if len(e) == 0 || !strings.Contains(e[0].Text, "-> )") {
		t.Error("the phrase alone is not found")
	}
	s := NewSearch(NewQuery("premium", "fee", "waiver", "card", "due", "year", "-> )"), Options{})
	s.Add(0, prepared(text))
	if e := s.Excerpts(); len(e) == 0 || !strings.Contains(e[0].Text, "-> )") {
		t.Error("the phrase is not in the first excerpt")
	}
}

// An identifier as it stands beats its parts, which are as many and in the same order, however many passages hold those.
func TestSearch_Excerpts_Identifier_BeatsItsParts(t *testing.T) {
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, "See src fee rate go for it. %s\n\n", lorem(uint64(i), 8))
	}
	b.WriteString("See src/fee_rate.go for it. " + lorem(70, 8))
	if e := ask("open src/fee_rate.go please", prepared(b.String())); len(e) == 0 || !strings.Contains(e[0].Text, "src/fee_rate.go") {
		t.Error("the identifier is not in the first excerpt")
	}
}

func TestSearch_PhraseScore_GrowsWithWhatIsHeld(t *testing.T) {
	s := NewSearch(NewQuery("fee waiver", "card", "a=>b", "-> ("), Options{})
	s.scorer.weigh(s.df, 10)
	bit := func(text string) uint32 {
		for i, p := range s.query.phrases {
			if p.text == text {
				return 1 << i
			}
		}
		t.Fatalf("%q is no phrase", text)
		return 0
	}
	words, code, marks := bit("fee waiver"), bit("a=>b"), bit("-> (")
	if s.phraseScore(0) != 0 || s.phraseScore(marks) <= 0 || s.phraseScore(words) <= s.phraseScore(marks) || s.phraseScore(words|marks) <= s.phraseScore(words) {
		t.Errorf("words %.2f, code %.2f, marks %.2f", s.phraseScore(words), s.phraseScore(code), s.phraseScore(marks))
	}
	whole := s.phraseScore(words)
	if s.wholePhrase(words) != 1 || s.wholePhrase(0) != 0 {
		t.Error("a term of several words need not be first")
	}
	for i := range s.query.phrases {
		s.query.phrases[i].whole = false
	}
	if s.wholePhrase(words) != 0 || s.phraseScore(words) >= whole {
		t.Error("a part of a term counts as a whole one does")
	}
}

func TestSearch_Excerpts_MaxChars_IsAtMostTheLimit(t *testing.T) {
	text := strings.Repeat("The fee is due in the year. ", 100)
	for _, most := range []int{-1, 0, 900, 200} {
		s := NewSearch(NewQuery("fee"), Options{MaxChars: most})
		s.Add(0, prepared(text))
		limit := MaxExcerptChars
		if most > 0 {
			limit = min(most, limit)
		}
		if e := s.Excerpts(); len(e) == 0 || utf8.RuneCountInString(e[0].Text) > limit || utf8.RuneCountInString(e[0].Text) < limit/2 {
			t.Errorf("at most %d: %+v", most, e)
		}
	}
}

// distinct returns a text of so many passages that hold the words and say otherwise each something else.
func distinct(words string, n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(words + ". " + lorem(uint64(i), 10) + "\n\n")
	}
	return b.String()
}

func TestSearch_Excerpts_Max_IsReachedInOneContent(t *testing.T) {
	s := NewSearch(NewQuery("fee"), Options{Max: 2 * candidatesEach})
	s.Add(0, prepared(distinct("The fee", 3*candidatesEach)))
	if e := s.Excerpts(); len(e) != 2*candidatesEach {
		t.Errorf("%d excerpts", len(e))
	}
}

// What is known later may make another passage the best: enough are kept, whatever is asked for.
func TestSearch_Gather_KeepsMoreThanIsAskedFor(t *testing.T) {
	s := NewSearch(NewQuery("fee"), Options{Max: 1})
	s.Add(0, prepared(distinct("The fee", 3*candidatesEach)))
	if s.gather(); len(s.candidates) != candidatesEach {
		t.Errorf("%d candidates", len(s.candidates))
	}
	if s.df[0] > s.blocks {
		t.Errorf("%d blocks of %d hold a word", s.df[0], s.blocks)
	}
}

// Of more than can be kept, the best are, wherever they come.
func TestSearch_Gather_TooMany_KeepsTheBest(t *testing.T) {
	s, common := NewSearch(NewQuery("fee zeppelin"), Options{}), prepared(distinct("The fee", 2*candidatesEach))
	best := prepared("The fee of the zeppelin. " + lorem(99, 10))
	for i := range 2 * candidatesAll / candidatesEach {
		d := common
		if i == candidatesAll/candidatesEach+5 {
			d = best
		}
		s.Add(i, d)
		if s.gather(); len(s.candidates) > candidatesAll {
			t.Fatalf("%d candidates", len(s.candidates))
		}
	}
	if e := s.Excerpts(); len(e) == 0 || !strings.Contains(e[0].Text, "zeppelin") {
		t.Error("the best is lost")
	}
}

func TestSearch_Rank_BestFirst(t *testing.T) {
	s := NewSearch(NewQuery("fee waiver", "card"), Options{})
	near := []hit{{from: 0, to: 3, word: 2}}
	add := func(share float64, phrases uint32) {
		s.candidates = append(s.candidates, candidate{content: len(s.candidates), passage: passage{to: 9, near: near, share: share, phrases: phrases}})
	}
	add(0.5, 0)
	add(1, 0)
	add(0.7, 0)
	add(0.01, 1)
	s.scorer.weigh(s.df, s.blocks)
	s.rank()
	var order []int
	for _, c := range s.candidates {
		order = append(order, c.content)
	}
	if !slices.Equal(order, []int{3, 1, 2, 0}) {
		t.Errorf("order %v", order)
	}
}

// What a chosen passage shows is taken off those it overlaps in its own content, and adds nothing to any.
func TestSearch_Discount_IsOfWhatOverlaps(t *testing.T) {
	s := NewSearch(NewQuery("fee"), Options{})
	for _, w := range []struct{ content, from, to int }{{0, 100, 200}, {0, 150, 250}, {0, 0, 100}, {0, 200, 300}, {1, 100, 200}, {0, 150, 250}, {0, 101, 200}} {
		s.candidates = append(s.candidates, candidate{content: w.content, passage: passage{score: 1, from: int32(w.from), to: int32(w.to), share: 1}})
	}
	worth := []float64{0, 1, 1, 1, 1, 0.1, 1}
	s.discount(worth, &s.candidates[0])
	if !slices.Equal(worth[2:6], []float64{1, 1, 1, 0.1}) || worth[1] >= 1 || worth[1] <= 0 || worth[0] != 0 || worth[6] != 0 {
		t.Errorf("%v", worth)
	}
}

func TestSearch_Excerpts_SameTextInTwoContents_IsShownOnce(t *testing.T) {
	line := "The premium fee is waived for all who joined in 2019 and stayed."
	if e := ask("premium fee", prepared(line), prepared(" "+line)); len(e) != 1 {
		t.Errorf("%d excerpts of one line", len(e))
	}
	if e := ask("premium fee", prepared(line), prepared(strings.Replace(line, "2019", "2020", 1))); len(e) != 2 {
		t.Errorf("%d excerpts of two lines that differ in a number", len(e))
	}
	if e := ask("-> (", prepared("-> ("), prepared("-> ( ->"), prepared("-> (")); len(e) != 2 {
		t.Errorf("%d excerpts of marks alone", len(e))
	}
}

// Words are looked for in the forms of the content's language, whatever the query shows.
func TestSearch_Excerpts_Forms_AreOfTheContentsLanguage(t *testing.T) {
	text := "La plaza era vieja y los niños no sabían que el mar estaba tan cerca de la casa. Las canciones eran de su abuela."
	if e := ask("canción", prepared(text)); len(e) != 1 || !slices.Equal(e[0].Matched, []string{"canción"}) {
		t.Errorf("%+v", e)
	}
}
