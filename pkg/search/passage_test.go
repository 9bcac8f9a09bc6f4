package search

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/content"
)

func TestDocument_Read_WordsAreOfTheirSegments(t *testing.T) {
	d, q := prepared("Fee one. Fee two. A fee."), NewQuery("fee")
	b := newQueryTermIndex(q)
	b.add(d.lang)
	r := d.read(b, newLexer(d.lang), 0, len(d.text), MaxExcerptChars)
	for i, h := range r.hits {
		if int(h.segment) != i {
			t.Errorf("the word at %d is in segment %d", h.from, h.segment)
		}
	}
	if len(r.hits) != 3 {
		t.Errorf("%d words", len(r.hits))
	}
}

// What comes before is shown where it fits; an item of data stands for itself.
func TestSearch_Passages_ShowWhatComesBefore(t *testing.T) {
	for _, w := range passagesOf(NewSearch(NewQuery("zeppelin"), Options{}), prepared("It is told here.\n\nOf a zeppelin. The zeppelin landed.")) {
		if w.shown.from != 0 {
			t.Errorf("shown from %d on", w.shown.from)
		}
	}
	items := "[" + strings.Repeat(`{"note": "nothing of note, nothing of note, nothing"}, `, 300) + `{"note": "a zeppelin landed at the lake that day"}]`
	found := passagesOf(NewSearch(NewQuery("zeppelin"), Options{}), NewDocument(content.Read(content.KindJSON, items)))
	for _, w := range found {
		if w.shown.from != w.from {
			t.Errorf("an item from %d on is shown from %d on", w.from, w.shown.from)
		}
	}
	if len(found) == 0 {
		t.Error("no item is found")
	}
}

// Wherever reading begins, passages begin with a sentence.
func TestSearch_Passages_BeginWithSentences(t *testing.T) {
	var b strings.Builder
	for i := range 12 {
		b.WriteString(strings.Repeat(fmt.Sprintf("Nothing of note came to an end. So it went on day %d, without an end. ", i), 70) + "The zeppelin landed at the end. ")
	}
	text := b.String()
	found := passagesOf(NewSearch(NewQuery("zeppelin"), Options{}), prepared(text))
	for _, w := range found {
		if w.shown.from > 0 && !strings.HasSuffix(text[:w.shown.from], " end. ") {
			t.Errorf("a passage begins with %q", text[w.shown.from:w.shown.from+20])
		}
	}
	if len(found) < 12 {
		t.Errorf("%d passages", len(found))
	}
}

func TestStretch_Passages_FillAnExcerpt(t *testing.T) {
	text := "A fee is due. A waiver is not due."
	s := NewSearch(NewQuery("fee"), Options{MaxChars: len(text)})
	if found := passagesOf(s, prepared(text)); len(found) == 0 || int(found[0].to) != len(text) {
		t.Errorf("%+v", found)
	}
}

func TestStretch_Near_IsWithinReach(t *testing.T) {
	var s scannedSpan
	for _, at := range []int32{1000 - surroundingBytes - 1, 1000 - surroundingBytes, 1050, 1100 + surroundingBytes - 1, 1100 + surroundingBytes} {
		s.hits = append(s.hits, hit{from: at, to: at + 1})
	}
	if near := s.near(1000, 1100); len(near) != 3 || near[0].from != 1000-surroundingBytes {
		t.Errorf("%+v", near)
	}
	s.hits = nil
	for i := range int32(4 * maxNear) {
		s.hits = append(s.hits, hit{from: i, to: i + 1})
	}
	if near := s.near(600, 610); len(near) != maxNear || near[0].from != 600 {
		t.Errorf("%d words are near, from %d on", len(near), near[0].from)
	}
}

func shownPassage(from, to int32, score float64) passage {
	return passage{from: from, to: to, shown: segmentSpan{from, to}, score: score, share: 1}
}

func TestDiversified_Overlaps_AreWorthLess(t *testing.T) {
	kept := diversify([]passage{shownPassage(0, 100, 10), shownPassage(50, 150, 9), shownPassage(0, 100, 10), shownPassage(300, 400, 6), shownPassage(5, 105, 0)}, 9)
	var order []int32
	for _, w := range kept {
		order = append(order, w.from)
	}
	if !slices.Equal(order, []int32{0, 300, 50}) {
		t.Errorf("order %v", order)
	}
	if kept := diversify([]passage{shownPassage(0, 10, 1), shownPassage(20, 30, 2), shownPassage(40, 50, 3)}, 2); len(kept) != 2 || kept[0].from != 40 {
		t.Errorf("%+v", kept)
	}
	same, other := shownPassage(0, 100, 5), shownPassage(200, 300, 4)
	same.from, same.to = 100, 150 // scored for another part, and shown with the same
	if kept := diversify([]passage{shownPassage(0, 100, 10), same, other}, 9); len(kept) != 2 || kept[1].from != 200 {
		t.Errorf("what is shown before is shown again: %+v", kept)
	}
}

func TestPassage_Trim_LeavesTheRest(t *testing.T) {
	other := shownPassage(100, 500, 1)
	other.phrases = 1
	for _, c := range []struct {
		from, to int32
		phrases  uint32
		want     segmentSpan
		left     bool
	}{
		{50, 400, 0, segmentSpan{50, 100}, true},
		{200, 560, 0, segmentSpan{500, 560}, true},
		{90, 400, 0, segmentSpan{90, 100}, false}, // too little
		{300, 700, 0, segmentSpan{300, 700}, true},
		{50, 400, 2, segmentSpan{50, 400}, true}, // holds what the other lacks
		{50, 400, 1, segmentSpan{50, 100}, true},
	} {
		w := shownPassage(c.from, c.to, 1)
		w.phrases = c.phrases
		whole := c.want == w.shown
		if left := w.trim([]passage{other}); left != c.left || w.shown != c.want || (w.share == 1) != whole || c.left && w.share <= 0 || !whole && w.phrases != 0 {
			t.Errorf("%d-%d: left %t, %+v", c.from, c.to, left, w)
		}
	}
}

func TestUnsaid_MoreInCommon_LeavesLess(t *testing.T) {
	if noveltyFactor(0) != 1 || noveltyFactor(0.5) >= 1 || noveltyFactor(0.9) >= noveltyFactor(0.5) || noveltyFactor(0.9) <= 0 || noveltyFactor(1) != 0 {
		t.Errorf("%.2f, %.2f, %.2f", noveltyFactor(0), noveltyFactor(0.5), noveltyFactor(1))
	}
	for _, c := range []struct {
		values []float64
		want   int
	}{{[]float64{0, 2, 3, 3, 1}, 2}, {[]float64{0, -1}, -1}, {nil, -1}} {
		if got := largest(c.values); got != c.want {
			t.Errorf("of %v, number %d is the largest", c.values, got)
		}
	}
}

func TestMerged_TouchingSpans_AreOne(t *testing.T) {
	if got := mergeSpans([]span{{10, 12}, {0, 10}, {2, 5}, {20, 30}}); !slices.Equal(got, []span{{0, 12}, {20, 30}}) {
		t.Errorf("%v", got)
	}
	if !charsWithin("飞艇a", 3) || charsWithin("飞艇a", 2) || !charsWithin("", 0) {
		t.Error("characters are counted wrongly")
	}
}

// A title counts in each block of its section, and no more of it than is bounded.
func TestDocument_Postings_TitlesAreOverAllTheirBlocks(t *testing.T) {
	for _, sentences := range []int{60, 400} {
		d, s := NewDocument(content.Read(content.KindMarkdown, "# Zeppelin\n\n"+lorem(1, sentences))), NewSearch(NewQuery("zeppelin"), Options{})
		if got := s.count(0, d).postings[0]; len(got) < d.blocks()-1 {
			t.Errorf("in %d of %d blocks", len(got), d.blocks())
		}
	}
	d := NewDocument(content.Read(content.KindMarkdown, "# "+strings.Repeat("long ", 200)+"\n\n"+lorem(1, 60)))
	if titles := d.titles(len(d.text) - 1); len(titles) != 1 || titles[0][1]-titles[0][0] > maxTitleBytes {
		t.Errorf("%v", titles)
	}
}

func matchedIn(text string, terms ...string) ([]string, string) {
	s := NewSearch(NewQuery(terms...), Options{Max: 1})
	s.Add(0, prepared(text))
	if e := s.Excerpts(); len(e) == 1 {
		return e[0].Matched, e[0].Relevance
	}
	return nil, ""
}

func TestSearch_Excerpts_Matched_IsWhatIsShown(t *testing.T) {
	many := make([]string, 2*maxMatched)
	for i := range many {
		many[i] = fmt.Sprintf("w%dx", i)
	}
	if got, _ := matchedIn(strings.Join(many, " "), many...); len(got) != maxMatched {
		t.Errorf("%d terms are named", len(got))
	}
	for _, c := range []struct{ text, terms, want, relevance string }{
		{"A fee, fee. " + lorem(1, 9) + lorem(2, 9) + " waiver", "fee|waiver", "fee", "1 of 2 terms: fee"},
		{"A fee waiver.", "fee waiver", "fee waiver", `holds the phrase "fee waiver"`},
		{"A fee or a card.", "fee|card|Fee|fee", "fee|card|Fee", "holds fee, card, Fee"},
		{"豹队和黑人", "黑豹队", "豹队", "holds 豹队"},
		{"黑豹和豹队", "黑豹队", "黑豹队", "holds 黑豹队"},
		{"黑人", "黑", "黑", "holds 黑"},
		{"黑人", "黑豹队", "", ""},
		{"It is a fee.", "is it a fee", "fee", "1 of 1 terms: fee"},
		{"It is here.", "is it here", "", ""},
	} {
		got, relevance := matchedIn(c.text, strings.Split(c.terms, "|")...)
		if strings.Join(got, "|") != c.want || relevance != c.relevance {
			t.Errorf("%s: %q, %s", c.terms, got, relevance)
		}
	}
}

func TestDocument_Postings_FormsOfAWord_AreInOrder(t *testing.T) {
	q := NewQuery("die Häuser und das Haus sind nicht für die Leute von hier")
	text := lorem(1, 30) + "Haus. " + lorem(2, 60) + "Häuser Haus. " + lorem(3, 60) + "Häuser. " + lorem(4, 200) + "Haus and the end of it."
	d, s := prepared(text), NewSearch(q, Options{})
	if q.lang == d.lang || d.index == nil {
		t.Fatalf("language %d and %d, indexed: %t", q.lang, d.lang, d.index != nil)
	}
	for w, blocks := range s.count(0, d).postings {
		if q.words[w].text != "Häuser" {
			continue
		}
		if !slices.IsSorted(blocks) || len(slices.Compact(slices.Clone(blocks))) != len(blocks) || len(blocks) != 4 {
			t.Errorf("blocks %v", blocks)
		}
	}
}

// What is read again is the blocks that hold the most and what is next to them, from character to character.
func TestDocument_SpansToScan_ReachesBeyondTheBlocks(t *testing.T) {
	d := prepared(strings.Repeat("飞艇在湖边", 4000))
	parts := d.spansToScan([][]int32{{10}, {30}}, []float64{1, 2}, []span{{20 * blockBytes, 20*blockBytes + 3}})
	if len(parts) != 3 {
		t.Fatalf("%v", parts)
	}
	parts = append(parts, d.candidateSpans(&phrase{words: []int32{0}}, [][]int32{{10}})...)
	for i, block := range []int{10, 20, 30, 10} {
		p, reach := parts[i], blockBytes
		if i == 3 {
			reach = utf8.UTFMax * MaxExcerptChars
		}
		if p.from > block*blockBytes-reach+3 || p.to < (block+1)*blockBytes+reach-3 || p.to > (block+1)*blockBytes+reach || !utf8.ValidString(d.text[p.from:p.to]) {
			t.Errorf("block %d: %v", block, p)
		}
	}
}

func TestHeaviest_Blocks_CountByWeightAndNeighbors(t *testing.T) {
	for _, c := range []struct {
		postings [][]int32
		weights  []float64
		limit    int
		want     []int
	}{{[][]int32{{1}, {5}}, []float64{1, 3}, 9, []int{5, 1}}, {[][]int32{{1, 4, 5}}, []float64{1}, 2, []int{4, 5}}} {
		const blocks = 9
		if got := topBlocks(c.postings, c.weights, blocks, c.limit); !slices.Equal(got, c.want) {
			t.Errorf("%v, not %v", got, c.want)
		}
	}
}

func TestIndex_Find_TermsThatShareAKey_ShareTheirBlocks(t *testing.T) {
	x, first, second := newIndexer(0), term(0x80000000), term(0x80000001)
	for _, p := range []struct {
		t     term
		block int32
	}{{second, 1}, {first, 5}, {second, 5}} {
		x.add(token{term: p.t, from: p.block * blockBytes})
	}
	found := x.index()
	for _, k := range []term{first, second} {
		if got := found.find(k, nil); !slices.Equal(got, []int32{1, 5}) {
			t.Errorf("%v", got)
		}
	}
	if prepared(lorem(1, 300)).index == nil {
		t.Error("a large text has no index")
	}
}

func TestNewQuery_Phrases_AreWhatStandsTogether(t *testing.T) {
	for _, c := range []struct{ terms, phrases string }{
		{"fee waiver|fee waiver|Fee  waiver", "fee waiver"},
		{"fee", ""},
		{`"fee"`, ""},
		{"请问 黑豹队", "请问 黑豹队"},
		{`"a b" or "c d"`, `"a b" or "c d"|a b|c d`},
		{`"a b"`, "a b"},
		{strings.Repeat("x", maxWordBytes+1), strings.Repeat("x", maxWordBytes+1)},
		{strings.Repeat("x y ", MaxExcerptChars/4+1), ""},
		{strings.Repeat("飞", MaxExcerptChars+1), ""},
	} {
		var got []string
		for _, p := range NewQuery(strings.Split(c.terms, "|")...).phrases {
			got = append(got, p.text)
		}
		if strings.Join(got, "|") != c.phrases {
			t.Errorf("%q: %q", c.terms, got)
		}
	}
}

// The first and the last word of a phrase may be parts of words, and white space is of any kind.
func TestSearch_Excerpts_Phrase_AsItStands(t *testing.T) {
	for asked, stands := range map[string]string{"ee due waiv": "the fee due waiver", "late fee": "Late\u00a0Fee", "fee　due": "fee \u2003 due", "ＬＡＴＥ ｆｅｅ": "late fee"} {
		text := lorem(1, 300) + " due, late. " + lorem(2, 300) + " so " + stands + " now " + lorem(3, 300)
		if e := ask(asked, prepared(text)); len(e) == 0 || !strings.Contains(e[0].Text, stands) {
			t.Errorf("%q is not found", asked)
		}
	}
}

func TestDocument_Phrases_SoManyPlaces(t *testing.T) {
	d, q := prepared(strings.Repeat("a late fee, ", 2000)), NewQuery("late fee")
	s := NewSearch(q, Options{})
	if n := len(d.wholePhrases(q, s.count(0, d).postings, MaxExcerptChars)); n != maxOccurrences {
		t.Errorf("%d places in a content", n)
	}
	if n := len(d.phrasesIn(q, span{0, len(d.text)}, MaxExcerptChars)); n != maxOccurrences {
		t.Errorf("%d places in a part of it", n)
	}
}
