package span

import (
	"strings"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/content"
	"github.com/palimpsest-context/palimpsest/pkg/facts"
	"github.com/palimpsest-context/palimpsest/pkg/summarize/extractive/choice"
)

// mostRules bounds the rules that are looked at.
const mostRules = 400

// rules are the user's sentences that say what must, or must never, be done: the newest first where there is no room for all.
func (s *story) rules() (all []choice.Entry) {
	seen := map[string]bool{}
	for _, rule := range s.old.items(headRules) {
		seen[rule] = true
	}
	for i := len(s.users) - 1; i >= 0 && len(all) < mostRules; i-- {
		for k, rule := range facts.Rules(s.users[i].text) {
			p := item(withoutBullet(rule), s.users[i].at*1000+k, s.recency(s.users[i].at), facts.MaxRule)
			if seen[p.Text] || strings.HasPrefix(p.Text, "#") || content.IsBareTag(p.Text) || !facts.IsRule(rule) {
				continue
			}
			seen[p.Text] = true
			all = append(all, p)
		}
	}
	return all
}

// asked are the user's messages, newer ones in more detail, and the first, which often says what all is for.
func (s *story) asked(room int) (all []choice.Entry) {
	most := room * 3 / 10
	for i := len(s.users) - 1; i >= 0; i-- {
		u := s.users[i]
		worth, n := s.recency(u.at), max(most, 160)
		if i == 0 {
			worth, n = 1, max(room*3/10, 160)
		}
		most /= 2
		if line := oneLine(u.text); utf8.RuneCountInString(line) > n {
			all = append(all, item(digest(u.sentences, n, atBeginning), u.at, worth, n))
		} else if !facts.IsRule(line) || len(u.sentences) > 1 { // what is a rule alone stands among them
			all = append(all, item(line, u.at, worth, n))
		}
	}
	return all
}

// said are the sentences of the assistant's that say most: what was found and decided, not what was to be done next and is done
// since. Newer ones count more.
func (s *story) said(target int) (all []choice.Entry) {
	var lines []choice.Unit
	for _, speech := range s.speeches {
		for _, sentence := range speech.sentences {
			lines = append(lines, choice.Unit{Text: sentence, Line: speech.at})
		}
	}
	t := choice.TermsOf(lines)
	boost := func(i int) float64 {
		if isIntent(lines[i].Text) {
			return 0
		}
		weight := 0.4 + s.recency(lines[i].Line)
		if isFinding(lines[i].Text) {
			weight *= 1.5
		}
		if strings.HasSuffix(lines[i].Text, ":") {
			weight *= 0.4
		}
		return weight
	}
	for rank, i := range t.Cover(lines, boost, 10+target/60) {
		all = append(all, item(lines[i].Text, i, -float64(rank), 400))
	}
	return all
}

// What the lines of what is open begin with, so that a later extract knows them.
const (
	noResult  = "no result: "
	saidLast  = "said last: "
	lastError = "last error: "
	intended  = "intended: "
)

// open is what the next step begins from: what the assistant said last, calls without a result, what it meant to do, the last
// error.
func (s *story) open(target int) (all []choice.Entry) {
	if n := len(s.speeches); n > 0 {
		last := s.speeches[n-1]
		most := max(target*6/100, 200)
		text := oneLine(last.text)
		if utf8.RuneCountInString(text) > most {
			text = digest(last.sentences, most, atEnd)
		}
		all = append(all, item(saidLast+text, last.at, 20, most+len(saidLast)))
	}
	seen := map[string]bool{}
	for i := len(s.actions) - 1; i >= 0; i-- {
		a := s.actions[i]
		if told := a.told(); a.open && !seen[told] {
			seen[told] = true
			all = append(all, item(noResult+told, a.at, 10+s.recency(a.at), 300))
		}
	}
	for i := len(s.actions) - 1; i >= 0; i-- {
		if a := s.actions[i]; a.failed {
			all = append(all, item(lastError+a.told()+": "+a.outcome, a.at, 15, 400))
			break
		}
	}
	return append(all, s.intents()...)
}

// What of the assistant's words is looked at for what it meant to do: its last messages but one, and sentences of some length.
const (
	intentsWithin = 5
	leastIntent   = 30
)

func (s *story) intents() (all []choice.Entry) {
	n := len(s.speeches) - 1
	for i := n - 1; i >= max(0, n-intentsWithin); i-- {
		for _, sentence := range s.speeches[i].sentences {
			if isIntent(sentence) && len(sentence) >= leastIntent {
				return []choice.Entry{item(intended+sentence, s.speeches[i].at, 2, 300)}
			}
		}
	}
	return nil
}
