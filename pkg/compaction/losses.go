package compaction

import (
	"slices"
	"sort"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/facts"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
)

// LossList is the list, to be appended to a summary, of the facts that it lacks, in at most limit tokens: open calls and the
// user's rules first, then what was mentioned most. Left is how many did not fit, which its last line says. It is "" if nothing
// is lost, or if not even that line fits (behaviour §8, "No loss unnoticed").
func LossList(known []conversation.Fact, summary string, limit int64, counter tokens.Counter) (list string, left int) {
	l := losses{limit: limit, counter: counter}
	l.sort(known, facts.OneLine(summary))
	if l.must == nil && l.rest == nil {
		return "", 0
	}
	l.fitMust()
	l.fitRest()
	list, left = l.write()
	if !l.fits(list) {
		return "", left
	}
	return list, left
}

// losses are the facts that a summary lacks.
type losses struct {
	limit   int64
	counter tokens.Counter
	must    []conversation.Fact // calls and rules, in order of rank
	time    map[mention]int     // the order in which they came
	calls   int                 // to how many characters calls are cut
	cut     int                 // to how many characters rules are cut
	rest    []conversation.Fact // in order of rank
	within  []int               // for each of the rest, the first other in which it is contained
	beyond  int                 // how many more there are that nobody looked at
	musts   int                 // how many of must are listed
	rests   int                 // how many of rest are listed, or contained in those that are
}

// mostLost bounds the work on the facts of hostile output: what comes after so many in order of rank counts as lost.
const mostLost = 10_000

// sort finds what is lost.
func (l *losses) sort(facts []conversation.Fact, summary string) {
	l.time = make(map[mention]int, len(facts))
	for i, f := range facts {
		l.time[mention{f.Kind, f.Text}] = i
	}
	for i, f := range rank(facts) {
		if len(l.rest) == mostLost {
			l.beyond = len(facts) - i
			break
		}
		switch isMust := weight(f) <= lastMust; {
		case isMust && !strings.Contains(summary, f.Text):
			l.must = append(l.must, f)
		case !isMust && !mentions(summary, f.Text):
			l.rest = append(l.rest, f)
		}
	}
}

// The lengths to which calls and rules are cut, in characters, until all fit that should. A call that is cut shorter than the
// last can hardly be told from others; if not even calls and rules fit, calls keep only their names and ids.
var (
	callCuts = []int{facts.MaxText, 160, 120}
	ruleCuts = []int{facts.MaxRule, facts.MaxRule, 240, 160, 100}
)

// fitMust lists all that must be listed: with the arguments of calls cut if else a name would not fit that was mentioned
// twice or more, with long rules cut if they do not fit themselves, or as many as fit then.
func (l *losses) fitMust() {
	l.musts, l.cut = len(l.must), facts.MaxRule
	l.rests = sort.Search(len(l.rest), func(i int) bool { return weight(l.rest[i]) > nameAgain })
	l.within = containers(l.rest)
	for _, l.calls = range callCuts {
		if list, _ := l.write(); l.fits(list) {
			break
		}
	}
	l.rests = 0
	for _, l.cut = range ruleCuts {
		if list, _ := l.write(); l.fits(list) {
			return
		}
		l.calls = 0
	}
	l.musts = l.most(len(l.must), func(n int) { l.musts = n })
}

// fitRest lists as many of the others as fit: those that what is listed so far does not name anyway.
func (l *losses) fitRest() {
	list, _ := l.write()
	l.rest = slices.DeleteFunc(l.rest, func(f conversation.Fact) bool { return mentions(list, f.Text) })
	l.within = containers(l.rest)
	l.rests = l.most(len(l.rest), func(n int) { l.rests = n })
}

// most is the greatest number up to n with which the list fits, as far as a search by halves can tell; 0 if none does.
func (l *losses) most(n int, set func(int)) int {
	return sort.Search(n, func(i int) bool {
		set(i + 1)
		list, _ := l.write()
		return !l.fits(list)
	})
}

func (l *losses) fits(list string) bool {
	n, _ := l.counter.Count(list)
	return int64(n) <= l.limit
}

// mentions says whether a text holds a name, and not only as a piece of another.
func mentions(text, name string) bool {
	for from := 0; ; {
		at := strings.Index(text[from:], name)
		if at < 0 {
			return false
		}
		start, end := from+at, from+at+len(name)
		if isBorder(text, start) && isBorder(text, end) {
			return true
		}
		from = start + 1
	}
}

// isBorder says whether a name may begin or end at a position.
func isBorder(text string, at int) bool {
	return at == 0 || at == len(text) || !facts.IsWordByte(text[at-1]) || !facts.IsWordByte(text[at])
}

// containers says for each fact which is the first of the others that contains it, or len(facts).
func containers(facts []conversation.Fact) []int {
	number := make(map[string]int, len(facts))
	out := make([]int, len(facts))
	for i, f := range facts {
		out[i] = len(facts)
		if _, ok := number[f.Text]; !ok {
			number[f.Text] = i
		}
	}
	for i, f := range facts {
		if strings.Contains(f.Text, " ") {
			continue // no name
		}
		eachPiece(f.Text, func(piece string) {
			if n, ok := number[piece]; ok && n != i {
				out[n] = min(out[n], i)
			}
		})
	}
	return out
}

// eachPiece calls do for what stands in a text between two borders.
func eachPiece(text string, do func(string)) {
	var borders []int
	for at := 0; at <= len(text); at++ {
		if isBorder(text, at) {
			borders = append(borders, at)
		}
	}
	for i, start := range borders {
		for _, end := range borders[i+1:] {
			if len(text) != end-start {
				do(text[start:end])
			}
		}
	}
}

// byTime is facts in the order in which they came.
func (l *losses) byTime(facts []conversation.Fact) []conversation.Fact {
	out := slices.Clone(facts)
	slices.SortFunc(out, func(a, b conversation.Fact) int {
		return l.time[mention{a.Kind, a.Text}] - l.time[mention{b.Kind, b.Text}]
	})
	return out
}
