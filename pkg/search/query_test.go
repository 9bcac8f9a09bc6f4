package search

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// weightsOf returns what the words of a query weigh.
func weightsOf(terms ...string) map[string]float64 {
	out := map[string]float64{}
	for _, w := range NewQuery(terms...).words {
		out[w.text] = w.weight
	}
	return out
}

func TestNewQuery_Weights_SayWhatIsAskedFor(t *testing.T) {
	if w := weightsOf("fee fee waiver, what"); w["fee"] <= w["waiver"] || w["waiver"] <= w["what"] || w["what"] <= 0 {
		t.Errorf("%v", w)
	}
	if w := weightsOf(strings.Repeat("fee ", 50)); w["fee"] > 1+maxRepeats*repeatWeight {
		t.Errorf("%v", w)
	}
	if w := weightsOf("黑豹 什么"); w["黑"] >= w["黑豹"] || w["什么"] >= w["黑豹"] || w["黑"] <= 0 {
		t.Errorf("%v", w)
	}
	for _, w := range NewQuery("什物 什么").words {
		if w.text == "什" && !w.informative {
			t.Error("a character that once says something says nothing")
		}
	}
}

func TestNewQuery_Pairs_AreOfOneTerm(t *testing.T) {
	for terms, want := range map[string]int{"fee|waiver": 0, "fee waiver": 1, "fee fee": 0, "feeWaiver": 1, "due feeWaiver": 3, "fee waiver fee waiver": 2} {
		if got := NewQuery(strings.Split(terms, "|")...).pairs; len(got) != want {
			t.Errorf("%s: %v", terms, got)
		}
	}
}

func TestNewQuery_Bytes_AreBounded(t *testing.T) {
	if q := NewQuery(strings.Repeat("fee ", maxQueryBytes)); len(q.terms[0]) > maxQueryBytes {
		t.Errorf("a term of %d bytes", len(q.terms[0]))
	}
	if q := NewQuery(make([]string, 2*maxQueryBytes)...); len(q.terms) > maxQueryBytes {
		t.Errorf("%d terms", len(q.terms))
	}
	b := newQueryTermIndex(NewQuery("die alte Stadt und der Krieg sind nicht da"))
	if b.add(b.query.lang); b.byAffix[0] != 0 {
		t.Error("words that are too short have ends")
	}
	if _, ok := b.byAffix[0]; ok {
		t.Error("words that are too short have ends")
	}
}

// placed returns the tokens of a text and where they stand.
func placed(text string) string {
	var out []string
	newLexer(0).scan(text, 0, len(text), func(t token) { out = append(out, fmt.Sprintf("%s@%d", text[t.from:t.to], t.pos)) })
	return strings.Join(out, " ")
}

func TestLexer_Scan_Positions_FollowEachOther(t *testing.T) {
	long := strings.Repeat("aB", maxWordBytes)
	for text, want := range map[string]string{
		"feeWaiver due": "fee@0 Waiver@1 feeWaiver@0 due@2",
		"xAxis due":     "Axis@0 xAxis@0 due@1",
		"黑 豹":           "黑@0 豹@2",
		"កខគ":           "ក@0 ខ@1 កខ@1 គ@2 កខគ@2",
		"ကခဂ":           "က@0 ခ@1 ကခ@1 ဂ@2 ကခဂ@2",
		long:            long + "@0",
		"co\u00adop":    "co\u00adop@0",
	} {
		if got := placed(text); got != want {
			t.Errorf("%q: %s", text, got)
		}
	}
}

func TestLexer_Scan_WhatIsNoWord_IsNotStemmed(t *testing.T) {
	for _, c := range [][2]string{
		{strings.Repeat("x", maxWordBytes) + "ts", strings.Repeat("x", maxWordBytes) + "t"},
		{strings.Repeat("ж", 2*maxWordBytes) + "ами", strings.Repeat("ж", 2*maxWordBytes) + "а"},
	} {
		if same("", c[0], c[1]) {
			t.Errorf("%d letters are stemmed", len(c[0]))
		}
	}
	var terms []term
	newLexer(0).scan("loadPort80s port80s", 0, 19, func(t token) { terms = append(terms, t.term) })
	if len(terms) != 4 || terms[1] != terms[3] {
		t.Error("a part of an identifier with digits is stemmed")
	}
	l, text := newLexer(0), strings.Builder{}
	for i := range maxSeen + 1000 {
		text.WriteString(strings.Map(func(r rune) rune { return r - '0' + 'a' }, fmt.Sprintf("%07d", i)) + " ")
	}
	if l.scan(text.String(), 0, text.Len(), func(token) {}); len(l.seen) > maxSeen {
		t.Errorf("%d words are remembered", len(l.seen))
	}
}

func TestLexer_Scan_SpellingsAreOneTerm(t *testing.T) {
	for _, c := range [][2]string{
		{"co\u00adop", "coop"}, {"λόγος", "ΛΟΓΟΣ"}, {"كِتَاب", "كتاب"}, {"مـكـتب", "مكتب"}, {"שָׁלוֹם", "שלום"}, {"smørbrød", "smorbrod"},
		{"łódź", "lodz"}, {"groß", "gross"}, {"đorđo", "dordo"}, {"cæsar", "caesar"}, {"zep\u200dpelin", "zeppelin"},
	} {
		if !same("", c[0], c[1]) {
			t.Errorf("%q and %q are two terms", c[0], c[1])
		}
	}
	if got := stemHindi("का"); got != "का" {
		t.Errorf("nothing but an ending becomes %q", got)
	}
	if word := "மரங்கள்"; newStemmer(0).stem(word) == word {
		t.Error("Tamil is not stemmed")
	}
}

func TestSnippet_Phrase_BeatsWords(t *testing.T) {
	filler := strings.Repeat("Nothing of note was said that day. ", 20)
	heavy := "The premium fee waiver of the card is due in the year. "
	for _, text := range []string{filler + heavy + filler + "Here -> ) stands. " + filler, filler + "Here -> ) stands. " + filler + heavy + filler} {
		if got := Snippet(NewQuery("premium", "fee", "waiver", "card", "due", "year", "-> )"), text, 200); !strings.Contains(got, "-> )") {
			t.Errorf("%q", got)
		}
	}
}

func TestMessages_Add_Opening_Question_Language(t *testing.T) {
	for text, want := range map[string]int{"Ann: well": 3, "Anna：好": 4, "Well. So: no": 0, ": no": 0, strings.Repeat("x", 60) + ": no": 0, "none": 0} {
		if got := openingOf(text); got != want {
			t.Errorf("%q opens with %d bytes", text, got)
		}
	}
	for text, want := range map[string]bool{"why?": true, "为什么？": true, "لماذا؟": true, "no": false, "why? " + strings.Repeat("so it is. ", 30): false} {
		if endsWithQuestion(text) != want {
			t.Errorf("%q asks: %t", text, !want)
		}
	}
	var m Messages
	m.Add(0, "La plaza era vieja y los niños no sabían que el mar estaba tan cerca de la casa.")
	spanish := m.last
	if m.Add(1, "canciones"); m.last != spanish || spanish == 0 {
		t.Error("a short message is in no language")
	}
	if m.Add(2, strings.Repeat("scheduled_departure 06:00 PHL ", 20)); m.last != 0 {
		t.Error("data is in the language of the message before it")
	}
}

// What is around a message counts as far as it reaches: an answer most, then what follows, then what comes before, then the others.
func TestMessageRanking_Surrounded_ByDistance(t *testing.T) {
	r := messageRanking{messageRankingParams: defaultMessageRankingParams(), own: make([]float64, 21), exact: make([]float64, 21)}
	r.own[10] = 1
	itself, answer, after, before := r.surrounded(10, 0, len(r.own), false), r.surrounded(11, 0, len(r.own), true), r.surrounded(11, 0, len(r.own), false), r.surrounded(9, 0, len(r.own), false)
	near, far, beyond := r.surrounded(8, 0, len(r.own), false), r.surrounded(10-r.reach, 0, len(r.own), false), r.surrounded(10-r.reach-1, 0, len(r.own), false)
	if itself != 1 || answer >= itself || after >= answer || before >= after || near >= before || near <= 0 || far != near || beyond != 0 {
		t.Errorf("%.2f, answer %.2f, after %.2f, before %.2f, near %.2f, far %.2f, beyond %.2f", itself, answer, after, before, near, far, beyond)
	}
	if r.surrounded(10+r.reach, 0, len(r.own), false) != near || r.surrounded(10+r.reach+1, 0, len(r.own), false) != 0 || r.surrounded(12, 0, len(r.own), false) != near {
		t.Error("it reaches not as far ahead as back")
	}
	r.exact[5] = 1
	if r.surrounded(5, 0, len(r.own), false) != 1 || r.surrounded(4, 0, len(r.own), false) != 0 {
		t.Error("a phrase counts for another message")
	}
}

// ownScores returns what messages score by themselves.
func ownScores(q string, texts ...string) []float64 {
	r := newMessageRanking(NewQuery(q), messageRuns(inBlocks(texts)))
	r.survey()
	r.weigh()
	r.score()
	return r.own
}

func TestMessageScorer_End_PartByPart(t *testing.T) {
	own := ownScores("fee waiver due", "fee waiver so so", "fee so waiver so", "fee so so waiver", "waiver fee so so", "fee so so so", "waiver so so so", "so so so so",
		"fee so so so so so so so so so so so so so so so", "fee waiver waiver fee", "fee waiver fee waiver", "fee fee so so")
	same := func(a, b int) bool { return math.Abs(own[a]-own[b]) < 1e-9 }
	if !same(0, 1) || own[1] <= own[2] || !same(2, 3) || !same(8, 9) {
		t.Errorf("pairs: %.3f", own)
	}
	if own[2] <= own[4]+own[5] || own[6] != 0 || own[7] >= own[4] || own[10] <= own[4] || own[10] >= 2*own[4] {
		t.Errorf("words: %.3f", own)
	}
	if own := ownScores("fee x y z waiver", "fee waiver", "waiver fee"); math.Abs(own[0]-own[1]) > 1e-9 {
		t.Errorf("a pair that the query lacks: %.3f", own)
	}
	if own := ownScores("fee of Ann", "Ann: so fee", "so: Ann fee", "of: Ann fee", "fee"); own[0] <= own[1] {
		t.Errorf("an opening: %.3f", own)
	}
	if own := ownScores("what is a fee", "what: so", "so: what", "a fee"); math.Abs(own[0]-own[1]) > 1e-9 {
		t.Errorf("an opening that says nothing: %.3f", own)
	}
}

func TestQuery_Named_OftenIsMore(t *testing.T) {
	k := defaultMessageRankingParams()
	q := NewQuery(strings.Repeat("fee ", 40), "card card", "waiver", "what")
	w := q.named(k)
	if !slices.Equal(w, []float64{float64(k.named), 2, 1, k.function}) || k.function <= 0 || k.function >= 1 {
		t.Errorf("%v", w)
	}
	r := newMessageRanking(NewQuery("fee card"), messageRuns(inBlocks([]string{"fee card", "fee", "fee", "fee"})))
	r.survey()
	if r.weigh(); r.weights[0] >= r.weights[1] || r.df[0] != 4 {
		t.Errorf("rare and common words weigh %.2f", r.weights)
	}
}

func TestRankMessages_Identifier_BeatsItsParts(t *testing.T) {
	got := answering("open src/fee_rate.go", "no", "src go, fee rate", "no", "no", "no", "no", "no", "no", "go src, src/fee_rate.go", "no")
	if len(got) == 0 || got[0] != 8 {
		t.Errorf("%v", got)
	}
	q := NewQuery("fee_rate")
	if r := newMessageRanking(q, messageRuns(inBlocks([]string{"fee_rate", "fee", "rate"}))); len(r.phrases) != 1 {
		t.Fatalf("%d phrases", len(r.phrases))
	} else if r.survey(); !r.weigh() || r.phrases[0].weight <= 0 {
		t.Errorf("a phrase weighs %.2f", r.phrases[0].weight)
	}
}
