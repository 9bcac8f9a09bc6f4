package search

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/internal/testlane"
)

func indicesOf(hits []Hit) (out []int32) {
	for _, h := range hits {
		out = append(out, h.Index)
	}
	return out
}

func answering(q string, texts ...string) []int32 {
	return indicesOf(RankMessages(NewQuery(q), inBlocks(texts), nil, 10))
}

func TestRankMessages_Answer_IsFoundByItsQuestion(t *testing.T) {
	texts := []string{
		"Hi, how are you?", "Fine, thanks.", "Where did the zeppelin land?", "Near the lake, we all saw it.", "Good to know.", "Bye now.",
		"The weather is nice today.", "Indeed it is.",
	}
	if got := answering("where did the zeppelin land", texts...); len(got) < 2 || got[0] != 2 || got[1] != 3 {
		t.Errorf("%v", got)
	}
}

func TestRankMessages_Neighbors_CountAcrossBlocks(t *testing.T) {
	texts := []string{"nothing here", "Where did the zeppelin land?", "Near the lake.", "nothing there"}
	whole := RankMessages(NewQuery("zeppelin"), inBlocks(texts), nil, 10)
	var runs []*Messages
	for i, text := range texts {
		runs = append(runs, &Messages{})
		runs[i].Add(int32(i), text)
	}
	if got := RankMessages(NewQuery("zeppelin"), runs, nil, 10); fmt.Sprint(got) != fmt.Sprint(whole) || len(got) < 2 || got[1].Index != 2 {
		t.Errorf("%v in blocks of one, %v in one", got, whole)
	}
}

func TestRankMessages_Keep_ChangesNoScore(t *testing.T) {
	texts := strings.Split(strings.Repeat("the zeppelin landed|it was a zeppelin then|the lake is deep|lakes and zeppelins|", 20), "|")
	runs := inBlocks(texts)
	scores := map[int32]float64{}
	for _, h := range RankMessages(NewQuery("zeppelin lake"), runs, nil, len(texts)) {
		scores[h.Index] = h.Score
	}
	odd := RankMessages(NewQuery("zeppelin lake"), runs, func(i int32) bool { return i%2 == 1 }, len(texts))
	for _, h := range odd {
		if h.Index%2 != 1 || scores[h.Index] != h.Score {
			t.Errorf("%+v, %f among all", h, scores[h.Index])
		}
	}
	if len(odd) != len(texts)/2 {
		t.Errorf("%d of %d", len(odd), len(texts))
	}
}

func TestRankMessages_Phrase_ComesFirst(t *testing.T) {
	all := strings.Repeat("When was the vault opened? The quartz was opened when the vault of quartz was opened. ", 3)
	long := strings.Repeat("Of the many things that were said that day none was of note. ", 20)
	texts := []string{"quartz in a vault, vault of quartz", "vaults, quartz", long + "They opened the quartz vault at noon.", all, "“石英”的拱顶", long + "石英拱顶在中午打开", "拱顶和石英，石英和拱顶"}
	for q, want := range map[string]int32{`quartz vault`: 2, `when was the "quartz vault" opened`: 2, "石英拱顶": 5, "Quartz  VAULT": 2} {
		if got := answering(q, texts...); len(got) == 0 || got[0] != want {
			t.Errorf("%q: %v, want %d first", q, got, want)
		}
	}
}

func TestRankMessages_Order_OfWordsCounts(t *testing.T) {
	got := answering("who has seen a red zeppelin lately", "A zeppelin, red as brick.", "Something else.", "And more.", "", "", "", "", "Brick as a red zeppelin.")
	if len(got) == 0 || got[0] != 7 {
		t.Errorf("%v", got)
	}
}

func TestMessageWords_Scan_RunsEndAtWords(t *testing.T) {
	m := inBlocks([]string{"飞x艇，飞艇"})[0]
	q := NewQuery("飞艇")
	times := map[string]int{}
	terms := newMessageWords(q, m.spoken).scan(m.codes, func(word, _ int32) { times[q.words[word].text]++ })
	if terms != 5 || times["飞艇"] != 1 || times["飞"] != 2 || times["艇"] != 2 {
		t.Errorf("%v in %d terms", times, terms)
	}
}

// TestRankMessages_Nothing_IsFoundWhereNothingAnswers: function words, beginnings of words, and single characters of words are no answer.
func TestRankMessages_Nothing_IsFoundWhereNothingAnswers(t *testing.T) {
	texts := []string{
		"What is the time, and who is there?", "It is as it is.", "The chromosome is a quantity of DNA.", "他的动作很快，颜色也好看。", "So what?",
		"To be or not to be, that is the question.", "The WHO said so.",
	}
	for q, want := range map[string][]int32{
		"quantum chromodynamics": nil, "what is the quantum chromodynamics": nil, "what is it": nil, "the": nil, "量子色动力学": nil,
		`"to be or not to be"`: {5}, "to be or not to be": {5}, "WHO": {0, 1, 6}, "what is a chromosome": {2},
	} {
		got := answering(q, texts...)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", q, got, want)
		}
	}
}

// TestRankMessages_Neighbors_AreNoHits: what says nothing of it is not one for what stands near it, unless that is the question.
func TestRankMessages_Neighbors_AreNoHits(t *testing.T) {
	got := answering("zeppelin", "Nothing.", "The zeppelin landed.", "Nothing more.", "Where did the zeppelin land?", "Near the lake.", "Well.")
	slices.Sort(got)
	if !slices.Equal(got, []int32{1, 3, 4}) {
		t.Errorf("%v", got)
	}
}

// TestMessages_Replacing_IsAsIfItHadBeenSo: and the run itself stays what it is.
func TestMessages_Replacing_IsAsIfItHadBeenSo(t *testing.T) {
	texts := []string{"one zeppelin", "two zeppelins", "a lake", "three zeppelins"}
	run, q := inBlocks(texts)[0], NewQuery("zeppelin lake")
	before := fmt.Sprint(RankMessages(q, []*Messages{run}, nil, 10))
	for i := range texts {
		other := slices.Clone(texts)
		other[i] = "the sea"
		if got, want := RankMessages(q, run.Replacing(int32(i), "the sea"), nil, 10), RankMessages(q, inBlocks(other), nil, 10); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%d: %v, want %v", i, got, want)
		}
	}
	if after := fmt.Sprint(RankMessages(q, run.Replacing(9, "x"), nil, 10)); after != before {
		t.Errorf("%s became %s", before, after)
	}
}

// TestMessageRanking_Weigh_LimitsWords: and those that are kept are the rarest.
func TestMessageRanking_Weigh_LimitsWords(t *testing.T) {
	var texts, words []string
	for i := range 4 * maxStrong {
		words = append(words, fmt.Sprintf("word%dx", i))
		texts = append(texts, strings.Join(words, " "))
	}
	r := newMessageRanking(NewQuery(texts[len(texts)-1]), messageRuns(inBlocks(texts)))
	r.survey()
	r.weigh()
	counted := 0
	for w, weight := range r.weights {
		if weight > 0 {
			counted++
			if r.df[w] > maxStrong {
				t.Errorf("a word counts that %d messages hold", r.df[w])
			}
		}
	}
	if counted != maxStrong {
		t.Errorf("%d words count", counted)
	}
}

func TestRankMessages_Forms_AreFoundInTheirLanguage(t *testing.T) {
	for _, c := range []struct{ q, text string }{
		{"landing zeppelins", "The zeppelin landed."},
		{"canción", "Las canciones que cantaban en la plaza eran de su abuela, y todos las conocían."},
		{"Häuser", "Das Haus ist alt, aber es wird noch bewohnt und ist nicht zu verkaufen."},
		{"книга", "Она читала эти книги всю ночь."},
		{"बच्चा", "बच्चे मैदान में खेल रहे थे।"},
		{"飞艇", "那艘飞艇在湖边降落了。"},
		{"เรือเหาะ", "เมื่อวานเรือเหาะลงจอดใกล้ทะเลสาบ"},
		{"비행선", "비행선이 호수 근처에 착륙했다."},
		{"Straße", "DIE STRASSE WAR LEER"},
		{"ＺＥＰＰＥＬＩＮ", "zeppelin"},
	} {
		texts := []string{"Hello there.", "Nothing to see.", "Das ist gut.", c.text, "Todo está bien.", "没有什么。", "All quiet.", "So it is."}
		if got := answering(c.q, texts...); len(got) == 0 || got[0] != 3 {
			t.Errorf("%q: %v", c.q, got)
		}
	}
}

func TestRankMessages_Speaker_CountsForWhatTheySay(t *testing.T) {
	texts := []string{"Ann: I bought a canoe, Bob.", "Bob: I bought a canoe, Ann.", "Ann: Well.", "Bob: So."}
	for q, want := range map[string]int32{"canoe of Ann": 0, "canoe of Bob": 1} {
		if got := answering(q, texts...); len(got) == 0 || got[0] != want {
			t.Errorf("%s: %v", q, got)
		}
	}
}

func TestRankMessages_LongRequest_DoesNotDrown(t *testing.T) {
	var texts []string
	for i := range 300 {
		texts = append(texts, fmt.Sprintf("The customer would like to know about their account and what they can do with it, number %d.", i))
	}
	texts[200] = "A forgotten passphrase is reset at the counter."
	request := strings.Repeat("You are a customer and would like to know what you can do with your account. ", 24) + "You forgot your passphrase."
	if got := answering(request, texts...); len(got) == 0 || got[0] != 200 {
		t.Errorf("%v", got)
	}
}

func TestRankMessages_Several_SearchAtOnce(t *testing.T) {
	runs, q := inBlocks(strings.Split(strings.Repeat("the zeppelin landed|near the lake|", 200), "|")), NewQuery("where did the zeppelin land")
	want := fmt.Sprint(RankMessages(q, runs, nil, 20))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if got := fmt.Sprint(RankMessages(q, runs, nil, 20)); got != want {
				t.Errorf("%s, alone %s", got, want)
			}
		})
	}
	all.Wait()
}

func TestRankMessages_Limits_Hold(t *testing.T) {
	runs := inBlocks([]string{"one zeppelin", "two zeppelins", "no airship"})
	for q, limit := range map[string]int{"zeppelin": 0, "": 5, "?!": 5, "unheard": 5} {
		if got := RankMessages(NewQuery(q), runs, nil, limit); len(got) != 0 {
			t.Errorf("%q: %v", q, got)
		}
	}
	if got := RankMessages(NewQuery("zeppelin"), runs, nil, -1); len(got) != 0 {
		t.Errorf("%v", got)
	}
	if got := RankMessages(NewQuery("zeppelin"), nil, nil, 5); len(got) != 0 {
		t.Errorf("%v", got)
	}
	if got := RankMessages(NewQuery("zeppelin"), []*Messages{{}, {}}, nil, 5); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

// messageText returns text of many scripts, and some that is none.
func messageText() *rapid.Generator[string] {
	pieces := []string{
		"zeppelin ", "landing ", "the ", "Ann: ", "? ", "HTTPServer_v2 ", "飞艇", "เรือ", "भाषा ", "книги ", "ß", "e\u0301", "\xff", "\xe9\xa3", " ", "\n", ":", "42",
		"\u200d", "\U0001F469\u200d\U0001F680", "\u0000",
	}
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 60).Draw(t, "pieces"), "")
	})
}

func TestRankMessages_Any_IsOrderedAndTheSameInAnyBlocks(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(messageText(), 0, 20).Draw(t, "texts")
		cut := rapid.IntRange(0, len(texts)).Draw(t, "cut")
		q, limit := NewQuery(messageText().Draw(t, "query")), rapid.IntRange(0, 30).Draw(t, "limit")
		one, two := &Messages{}, []*Messages{{}, {}}
		for i, text := range texts {
			half := two[0]
			if i >= cut {
				half = two[1]
			}
			half.last = one.last // what a message is written in may be told by the one before it
			half.Add(int32(3*i), text)
			one.Add(int32(3*i), text)
		}
		hits := RankMessages(q, []*Messages{one}, nil, limit)
		if other := RankMessages(q, two, nil, limit); fmt.Sprint(hits) != fmt.Sprint(other) {
			t.Fatalf("%v, in two %v", hits, other)
		}
		if len(hits) > limit {
			t.Fatalf("%d hits, at most %d", len(hits), limit)
		}
		for i, h := range hits {
			if h.Score <= 0 || math.IsNaN(h.Score) || math.IsInf(h.Score, 0) || int(h.Index) > 3*len(texts) {
				t.Fatalf("%+v", h)
			}
			if i > 0 && (hits[i-1].Score < h.Score || hits[i-1].Score == h.Score && hits[i-1].Index >= h.Index) {
				t.Fatalf("%v", hits)
			}
		}
	})
}

// TestHoldsCodes_Any_AgreesWithReading: what is searched for as bytes is found where reading the codes finds it.
func TestHoldsCodes_Any_AgreesWithReading(t *testing.T) {
	code := rapid.OneOf(rapid.Just([]byte{0, 0, 0}), rapid.Just([]byte{0, 0, 1}), rapid.Just([]byte{0, 0x80, 0}), rapid.Just([]byte{0x80, 0}), rapid.Just([]byte{0x80, 0x80}))
	proptest.Check(t, func(t *rapid.T) {
		codes, form := rapid.SliceOfN(code, 0, 20).Draw(t, "codes"), rapid.SliceOfN(code, 2, 4).Draw(t, "form")
		want := false
		for i := range codes {
			want = want || i+len(form) <= len(codes) && fmt.Sprint(codes[i:i+len(form)]) == fmt.Sprint(form)
		}
		if got := holdsCodes(bytes.Join(codes, nil), bytes.Join(form, nil)); got != want {
			t.Fatalf("%v in %v: %v", form, codes, got)
		}
	})
}

// TestMessages_Size_IsSmallerThanTheTexts: of recorded conversations and texts.
func TestMessages_Size_IsSmallerThanTheTexts(t *testing.T) {
	check := func(name string, texts []string) {
		size, bytes := int64(0), 0
		for _, m := range inBlocks(texts) {
			size += m.Size()
		}
		for _, text := range texts {
			bytes += len(text)
		}
		t.Logf("%s: %d messages of %d bytes, %.2f of it held", name, len(texts), bytes, float64(size)/float64(bytes))
		if size > int64(bytes) {
			t.Errorf("%s: larger than the texts", name)
		}
	}
	for _, name := range []string{"locomo10", "tau2_gpt41", "pi_sessions", "mini_swe_agent"} {
		var texts []string
		for _, d := range recorded[dialogue](t, name, "conversations.jsonl") {
			for _, m := range d.Messages {
				texts = append(texts, m.Content)
			}
		}
		check(name, texts)
	}
	for _, language := range []string{"en", "es", "zh"} {
		var texts []string
		for _, a := range recorded[article](t, "xquad", language+".jsonl") {
			texts = append(texts, strings.Split(a.Text, "\n\n")...)
			for _, q := range a.QA {
				texts = append(texts, q.Question)
			}
		}
		check("xquad "+language, texts)
	}
}

func TestRankMessages_HostileText_TakesNoLong(t *testing.T) {
	for name, text := range hostileTexts(512 << 10) {
		began := time.Now()
		runs := inBlocks([]string{text, "zeppelin", text[:len(text)/2], "?"})
		built := time.Since(began)
		for kind, query := range map[string]string{"itself": text, "a word": "zeppelin", "in quotes": `"` + text[:min(len(text), 1500)] + `"`} {
			began := time.Now()
			RankMessages(NewQuery(query), runs, nil, 10)
			if took := time.Since(began); took > testlane.Slack(longest) || built > testlane.Slack(longest) {
				t.Errorf("%s: built in %v, looked for %s in %v", name, built, kind, took)
			} else if testing.Verbose() && took > 200*time.Millisecond {
				t.Logf("%s, looked for %s: %v", name, kind, took)
			}
		}
		if size := runs[0].Size(); size > int64(4*len(text)) {
			t.Errorf("%s: %d bytes held of %d", name, size, len(text)*3/2)
		}
	}
}

func FuzzRankMessages(f *testing.F) {
	f.Add("where did the zeppelin land", "The zeppelin landed.", "Ann: 飞艇在哪里？", 20)
	f.Add(`"a b" c_d`, "a b", "c_d\xff", 1)
	f.Fuzz(func(t *testing.T, query, first, second string, maxChars int) {
		q := NewQuery(query)
		for _, h := range RankMessages(q, inBlocks([]string{first, second, first}), nil, 3) {
			if h.Score <= 0 || h.Index > 2 {
				t.Fatalf("%+v", h)
			}
		}
		checkSnippet(t, first, Snippet(q, first, maxChars), maxChars)
	})
}

func TestMessages_Size_IsWhatTheHeapHolds(t *testing.T) {
	texts := hostileTexts(1 << 20)
	texts["prose"] = strings.Repeat("The fee of the premium card is waived in the first year, and 12.50 after it. ", 10000)
	for name, text := range texts {
		m, held := heapOf(func() *Messages { return inBlocks([]string{text, "and more"})[0] })
		if says := m.Size(); held > says+says/10+4096 || says > held+held/10+4096 {
			t.Errorf("%s: %d bytes are said, %d held", name, says, held)
		}
	}
}
