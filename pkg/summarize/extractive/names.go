package extractive

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// mostNames is how many names of a text are ranked.
const mostNames = 400

// namesWithin is how many bytes from both ends of a text names are looked for.
const namesWithin = 150_000

// names returns the names in a text that a reader may ask for again (addresses, paths, identifiers, codes): those first that
// occur most and say most.
func names(text string) []string {
	if len(text) > 2*namesWithin {
		text = text[:namesWithin] + " " + text[len(text)-namesWithin:]
	}
	count := map[string]int{}
	var inOrder []string
	eachName(text, func(name string) {
		if count[name]++; count[name] == 1 {
			inOrder = append(inOrder, name)
		}
	})
	slices.SortStableFunc(inOrder, func(a, b string) int {
		return cmp.Compare(nameWorth(b, count[b]), nameWorth(a, count[a]))
	})
	return inOrder[:min(len(inOrder), mostNames)]
}

// eachName calls yield for every name in a text, in order.
func eachName(text string, yield func(string)) {
	eachWord(text, func(word string) {
		if isName(word) {
			yield(word)
		}
	})
}

// eachReference calls yield for every name and every number that may be one: a key, a year, the end of a card's.
func eachReference(text string, yield func(string)) {
	eachWord(text, func(word string) {
		if isName(word) || isNumber(word) {
			yield(word)
		}
	})
}

// leastNumber is how many digits a number has that tells one thing from another even in a tool's result.
const leastNumber = 6

// isNumber says whether a word is four digits or more.
func isNumber(s string) bool {
	return 4 <= len(s) && len(s) <= 20 && strings.Trim(s, "0123456789") == ""
}

// eachWord calls yield for every word of a text, without what stands around it.
func eachWord(text string, yield func(string)) {
	for i := 0; i < len(text); {
		if endsName(text[i]) {
			i++
			continue
		}
		end := i + 1
		for end < len(text) && !endsName(text[end]) {
			end++
		}
		if word := strings.TrimRight(strings.TrimLeft(text[i:end], ":!?-#&+~^"), ".:!?-/#&+~^"); word != "" {
			yield(word)
		}
		i = end
	}
}

func endsName(c byte) bool {
	return c <= ' ' || strings.IndexByte("\"'`()[]{}<>,;|=*", c) >= 0
}

// isName says whether a word is a name rather than a word of a language or a bare number.
func isName(s string) bool {
	if len(s) < 4 || len(s) > 100 {
		return false
	}
	letters, marks, digits := 0, 0, 0
	for i := range len(s) {
		switch c := s[i]; {
		case isLetter(c):
			letters++
			if i > 0 && c < 'a' && 'a' <= s[i-1] && s[i-1] <= 'z' {
				marks++ // as in camelCase
			}
		case isDigit(c):
			digits++
		case c >= utf8.RuneSelf || c == '%' || c == '\\':
			return false // a format, an escape
		case i > 0 && i < len(s)-1 && strings.IndexByte("_/.@:", c) >= 0:
			marks++
		}
	}
	return letters > 1 && (marks > 0 || digits > 0)
}

func nameWorth(name string, n int) float64 {
	worth := math.Log1p(float64(n))
	switch {
	case strings.Contains(name, "://"):
		worth *= 1.5
	case strings.Contains(name, "/"):
		worth *= 1.3
	case len(name) > 30:
		worth *= 0.6 // long codes are rarely told apart by reading
	}
	return worth
}

// alsoNamed lists the names that an extract's lines leave out, as many as fit into room characters.
func alsoNamed(ranked []string, body string, room int) string {
	const lead = "\nAlso: "
	var b strings.Builder
	room -= len(lead)
	for _, name := range ranked {
		if len(name)+2 > room || strings.Contains(body, name) || strings.Contains(b.String(), name) {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		b.WriteString(name)
		room -= len(name) + 2
	}
	if b.Len() == 0 {
		return ""
	}
	return lead + b.String()
}
