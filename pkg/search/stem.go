package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/arabic"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/tamil"
)

// stemmer reduces the forms of a word to one. A script of one large language has that language's stemmer; for Latin letters it is the
// content's language, whose stemmer languageTable names. It is not safe for concurrent use.
type stemmer struct {
	latin func(*snowballstem.Env) bool
	env   *snowballstem.Env
}

func newStemmer(latin language) stemmer {
	return stemmer{latin: languageTable[latin].stem, env: snowballstem.NewEnv("")}
}

// stem removes the ending and the diacritics of a folded word.
func (s stemmer) stem(word string) string {
	r, _ := utf8.DecodeRuneInString(word)
	switch {
	case unicode.Is(unicode.Latin, r):
		return stripDiacritics(s.run(s.latin, word))
	case unicode.Is(unicode.Cyrillic, r):
		return stripDiacritics(s.run(russian.Stem, word))
	case unicode.Is(unicode.Arabic, r):
		return stripDiacritics(s.run(arabic.Stem, word))
	case unicode.Is(unicode.Devanagari, r):
		return stemHindi(word)
	case unicode.Is(unicode.Tamil, r):
		return s.run(tamil.Stem, word)
	}
	return stripDiacritics(word)
}

func (s stemmer) run(stem func(*snowballstem.Env) bool, word string) string {
	if stem == nil {
		return word
	}
	s.env.SetCurrent(word)
	stem(s.env)
	if out := s.env.Current(); out != "" {
		return out
	}
	return word
}

// hindiEndings are the endings of gender, number, case and tense, longest first (after Ramanathan and Rao, "A lightweight stemmer for
// Hindi", 2003), by how many letters must remain.
var hindiEndings = [...]struct {
	remain  int
	endings string
}{
	{6, "ाएंगी ाएंगे ाऊंगी ाऊंगा ाइयाँ ाइयों ाइयां"},
	{5, "ाएगी ाएगा ाओगी ाओगे एंगी ेंगी एंगे ेंगे ूंगी ूंगा ातीं नाओं नाएं ताओं ताएं ियाँ ियों ियां"},
	{4, "ाकर ाइए ाईं ाया ेगी ेगा ोगी ोगे ाने ाना ाते ाती ाता तीं ाओं ाएं ुओं ुएं ुआं"},
	{3, "कर ाओ िए ाई ाए ने नी ना ते ीं ती ता ाँ ां ों ें"},
	{2, "ो े ू ु ी ि ा"},
}

func stemHindi(word string) string {
	n := utf8.RuneCountInString(word)
	for _, row := range hindiEndings {
		if n <= row.remain {
			continue
		}
		for ending := range strings.FieldsSeq(row.endings) {
			if stem, ok := strings.CutSuffix(word, ending); ok {
				return stem
			}
		}
	}
	return word
}
