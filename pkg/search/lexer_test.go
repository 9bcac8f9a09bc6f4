package search

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// tokensOf returns the texts of the tokens of a text.
func tokensOf(text string) (out []string) {
	newLexer(languageOf(text)).scan(text, 0, len(text), func(t token) { out = append(out, text[t.from:t.to]) })
	return out
}

func TestLexer_Scan_CutsWordsOfAnyScript(t *testing.T) {
	for _, c := range []struct{ text, tokens string }{
		{"The quick-brown fox.", "The quick brown fox"},
		{"URLs getUserId HTTPServer", "URLs get User Id getUserId HTTP Server HTTPServer"},
		{"a_b/c.go:12 E1234 3.14", "a b c go 12 E1234 3 14"},
		{"naïve Straße", "naïve Straße"},
		{"हिन्दी में किताब", "हिन्दी में किताब"},
		{"黑豹队", "黑 豹 黑豹 队 豹队"},
		{"ญี่ปุ่น", "ญี่ ปุ่ ญี่ปุ่ น ญี่ปุ่น"},
		{"中", "中"},
		{" …—!? ", ""},
		{"\xff\xfeword\xff", "word"},
	} {
		if got := strings.Join(tokensOf(c.text), " "); got != c.tokens {
			t.Errorf("%q: %q, want %q", c.text, got, c.tokens)
		}
	}
}

// same reports whether two words are one term in the language of a sentence around them.
func same(around, a, b string) bool {
	var terms []term
	l := newLexer(languageOf(around))
	for _, word := range []string{a, b} {
		l.scan(word, 0, len(word), func(t token) { terms = append(terms, t.term) })
	}
	return len(terms) == 2 && terms[0] == terms[1]
}

func TestLexer_Scan_MakesFormsOfAWordOneTerm(t *testing.T) {
	for _, c := range []struct{ around, a, b string }{
		{"", "Vaccines", "vaccine"},
		{"", "ＡＢＣ", "abc"},
		{"", "café", "CAFE\u0301"},
		{"", "ﬁle", "file"},
		{"los países de la región y sus canciones para el mundo", "canciones", "canción"},
		{"die Häuser und der Garten sind nicht für die Leute von hier", "Häuser", "Haus"},
		{"", "странами", "страна"},
		{"", "الكتب", "كتب"},
		{"", "किताबें", "किताब"},
		{"", "ёлка", "елка"},
	} {
		if !same(c.around, c.a, c.b) {
			t.Errorf("%q and %q are two terms", c.a, c.b)
		}
	}
}

func TestLexer_Scan_NarrowAndWideKana_AreTheSame(t *testing.T) {
	terms := func(text string) (out []term) {
		newLexer(0).scan(text, 0, len(text), func(t token) { out = append(out, t.term) })
		return out
	}
	if narrow, wide := terms("ｶﾌｪ"), terms("カフェ"); len(wide) == 0 || !slices.Equal(narrow, wide) {
		t.Errorf("%v and %v", narrow, wide)
	}
}

func TestLexer_Scan_TellsExactThingsApart(t *testing.T) {
	for _, c := range [][2]string{{"E1234", "E1235"}, {"2024", "2025"}, {"कि", "की"}, {"abc", "abd"}} {
		if same("", c[0], c[1]) {
			t.Errorf("%q and %q are one term", c[0], c[1])
		}
	}
}

func TestLanguageOf_Text_IsToldByFunctionWords(t *testing.T) {
	english, spanish := languageOf("the cat is on the mat"), languageOf("¿Cuántos puntos dejaron escapar en defensa los Panthers?")
	german := languageOf("Wie viele Punkte hat die Verteidigung zugelassen, und wer war der Trainer?")
	if english != 0 || spanish == 0 || german == 0 || spanish == german {
		t.Errorf("languages %d, %d, %d", english, spanish, german)
	}
	if lang := languageOf(strings.Repeat(`{"scheduled_departure_time_est": "06:00", "origin": "PHL"}, `, 100)); lang != 0 {
		t.Errorf("data is of language %d", lang)
	}
}

// A language that puts into endings what others have words for has few function words among many forms.
func TestLanguageCensus_Language_FewFunctionWords_AreEnoughWithoutEnglishOnes(t *testing.T) {
	turkish := []string{"ile", "gibi", "kadar", "sonra", "daha", "olarak", "bazi"}
	for _, c := range []struct {
		english []string
		forms   int
		want    bool
	}{
		{nil, 100, true},
		{[]string{"the", "of"}, 100, true},
		{[]string{"the", "of", "is"}, 100, false},
		{nil, 150, false},
	} {
		count := languageCensus{seen: map[string]struct{}{}}
		for _, word := range append(c.english, turkish...) {
			count.add(word)
		}
		for i := len(count.seen); i < c.forms; i++ {
			count.add("biçim" + strings.Repeat("x", i))
		}
		if lang := count.language(); (lang != 0) != c.want || c.want && languageTable[lang].name != "turkish" {
			t.Errorf("%d forms, %v: language %d", c.forms, c.english, lang)
		}
	}
}

func TestLexer_Ends_AreToldOfInflectedWordsAlone(t *testing.T) {
	for _, c := range []struct {
		around, a, b string
		begin, end   bool
	}{
		{"german", "Touristenstrecken", "touristische", true, false},
		{"german", "Landesverfassung", "Verfassungen", false, true},
		{"german", "Tesla", "Teslas", true, false},
		{"german", "alt", "alte", false, false}, // too short
		{"", "Касаткин", "Касаткиным", true, true},
		{"", "E10042", "E10043", false, false},
		{"", "tourists", "touristic", false, false}, // of English
		{"german", "port8080", "port8081", false, false},
	} {
		var lang language
		if c.around != "" {
			lang = languageOf("der Trainer und die Verteidigung haben nicht mit ihm gesprochen, aber er ist auch noch da")
		}
		ends := func(word string) (out affixes) {
			l := newLexer(lang)
			l.withAffixes = true
			l.scan(word, 0, len(word), func(t token) { out = t.affixes })
			return out
		}
		a, b := ends(c.a), ends(c.b)
		if begin := a[0] == b[0] && a[0] != 0; begin != c.begin {
			t.Errorf("%s and %s begin alike: %t", c.a, c.b, begin)
		}
		if end := a[1] == b[1] && a[1] != 0; end != c.end {
			t.Errorf("%s and %s end alike: %t", c.a, c.b, end)
		}
	}
}

func FuzzLexer_Scan(f *testing.F) {
	for _, s := range []string{"getUserId", "ญี่ปุ่น", "中a", "\xff\u0301", "हिन्दी", strings.Repeat("aB", 100)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var ends []int32
		l := newLexer(languageOf(text))
		l.withAffixes = true
		l.scan(text, 0, len(text), func(k token) {
			if k.from < 0 || k.from >= k.to || int(k.to) > len(text) {
				t.Fatalf("token %d-%d of %d bytes", k.from, k.to, len(text))
			}
			if utf8.ValidString(text) && !utf8.ValidString(text[k.from:k.to]) {
				t.Fatalf("token %q cuts a character", text[k.from:k.to])
			}
			ends = append(ends, k.to)
		})
		if !slices.IsSorted(ends) {
			t.Fatal("tokens end out of order")
		}
		if len(ends) > 3*len(text) {
			t.Fatalf("%d tokens of %d bytes", len(ends), len(text))
		}
	})
}

// TestFunctionWords_Languages_AllHaveTheirs: each language by which words are stemmed is known by words of its own.
func TestFunctionWords_Languages_AllHaveTheirs(t *testing.T) {
	in := map[int]int{}
	for _, languages := range functionWords {
		for l := range 32 {
			in[l] += int(languages >> l & 1)
		}
	}
	for l, row := range languageTable {
		if in[l] < 40 {
			t.Errorf("%s has %d function words", row.name, in[l])
		}
	}
	if lines := strings.Count(functionWordList, "\n"); lines > 32 || in[lines-1] == 0 || in[lines] != 0 {
		t.Errorf("%d languages: %v", lines, in)
	}
}
