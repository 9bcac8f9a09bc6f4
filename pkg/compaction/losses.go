package compaction

import (
	"slices"
	"sort"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/facts"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
)

// LossList returns the list, to be appended to a summary, of the facts that it lacks, in at most limit tokens, in order of rank: unanswered
// calls and the user's rules first, then what was mentioned twice or more. left is how many did not fit or were dropped before, as the last
// line says. The list is "" if nothing is lost, or if not even that line fits (behaviour §8, "No loss unnoticed").
func LossList(known []conversation.Fact, dropped int, summary string, limit int64, counter tokens.Counter) (list string, left int) {
	l := lossLister{limit: limit, counter: counter, unlisted: dropped}
	l.sort(known, facts.OneLine(summary))
	if l.required == nil && l.optional == nil && dropped == 0 {
		return "", 0
	}
	l.fitRequired()
	l.fitOptional()
	list, left = l.write()
	if !l.fits(list) {
		return "", left
	}
	return list, left
}

// lossLister selects which of the facts that a summary lacks are listed.
type lossLister struct {
	limit          int64
	counter        tokens.Counter
	required       []conversation.Fact // calls and rules, in order of rank
	order          map[factKey]int     // the original order
	callChars      int                 // maximum length of calls
	ruleChars      int                 // maximum length of rules
	optional       []conversation.Fact // in order of rank
	containedIn    []int               // for each optional fact, the first other one that contains it
	unlisted       int                 // number of facts that were dropped before, and of those beyond maxRanked
	requiredListed int                 // number of required facts that are listed
	optionalListed int                 // number of optional facts that are listed, or contained in listed ones
}

// maxRanked limits the work on hostile output: facts beyond so many in order of rank count as lost.
const maxRanked = 10_000

// sort finds the facts that are lost.
func (l *lossLister) sort(facts []conversation.Fact, summary string) {
	l.order = make(map[factKey]int, len(facts))
	for i, f := range facts {
		l.order[factKey{f.Kind, f.Text}] = i
	}
	for i, f := range rank(facts) {
		if len(l.optional) == maxRanked {
			l.unlisted += len(facts) - i
			break
		}
		switch isMust := weight(f) <= lastRequired; {
		case isMust && !strings.Contains(summary, f.Text):
			l.required = append(l.required, f)
		case !isMust && !mentions(summary, f.Text):
			l.optional = append(l.optional, f)
		}
	}
}

// The lengths to which calls and rules are cut, in characters, until all required ones fit. A call that is cut shorter than the last can
// hardly be told from others; if not even calls and rules fit, calls keep only their names and ids.
var (
	callLimits = []int{facts.MaxText, 160, 120}
	ruleLimits = []int{facts.MaxRule, facts.MaxRule, 240, 160, 100}
)

// fitRequired lists everything required: cuts the arguments of calls if a name mentioned at least twice would not fit otherwise, and long
// rules if the rules do not fit; if that is not enough, it lists as many as fit.
func (l *lossLister) fitRequired() {
	l.requiredListed, l.ruleChars = len(l.required), facts.MaxRule
	l.optionalListed = sort.Search(len(l.optional), func(i int) bool { return weight(l.optional[i]) > nameAgain })
	l.containedIn = containers(l.optional)
	for _, l.callChars = range callLimits {
		if list, _ := l.write(); l.fits(list) {
			break
		}
	}
	l.optionalListed = 0
	for _, l.ruleChars = range ruleLimits {
		if list, _ := l.write(); l.fits(list) {
			return
		}
		l.callChars = 0
	}
	l.requiredListed = l.mostThatFit(len(l.required), func(n int) { l.requiredListed = n })
}

// fitOptional lists as many of the others as fit, except those that the list already names.
func (l *lossLister) fitOptional() {
	list, _ := l.write()
	l.optional = slices.DeleteFunc(l.optional, func(f conversation.Fact) bool { return mentions(list, f.Text) })
	l.containedIn = containers(l.optional)
	l.optionalListed = l.mostThatFit(len(l.optional), func(n int) { l.optionalListed = n })
}

// mostThatFit returns the greatest number up to n with which the list fits, by binary search; 0 if none does.
func (l *lossLister) mostThatFit(n int, set func(int)) int {
	return sort.Search(n, func(i int) bool {
		set(i + 1)
		list, _ := l.write()
		return !l.fits(list)
	})
}

func (l *lossLister) fits(list string) bool {
	n, _ := l.counter.Count(list)
	return int64(n) <= l.limit
}

// mentions reports whether a text contains a name as a whole, not just as part of another.
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

// isBorder reports whether a name may begin or end at a position.
func isBorder(text string, at int) bool {
	return at == 0 || at == len(text) || !facts.IsWordByte(text[at-1]) || !facts.IsWordByte(text[at])
}

// containers returns for each fact the first other one that contains it, or len(facts).
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
		eachSubname(f.Text, func(part string) {
			if n, ok := number[part]; ok && n != i {
				out[n] = min(out[n], i)
			}
		})
	}
	return out
}

// eachSubname calls do for every part of a text between two borders.
func eachSubname(text string, do func(string)) {
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

// byTime returns facts in the order in which they came.
func (l *lossLister) byTime(facts []conversation.Fact) []conversation.Fact {
	out := slices.Clone(facts)
	slices.SortFunc(out, func(a, b conversation.Fact) int {
		return l.order[factKey{a.Kind, a.Text}] - l.order[factKey{b.Kind, b.Text}]
	})
	return out
}
