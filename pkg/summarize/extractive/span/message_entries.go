package span

import (
	"strings"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/content"
	"github.com/palimpsest-context/palimpsest/pkg/facts"
	"github.com/palimpsest-context/palimpsest/pkg/summarize/extractive/choice"
)

// maxRules limits how many rules are considered.
const maxRules = 400

// ruleEntries returns the user's sentences that say what must, or must never, be done; the newest come first if there is no room for all.
func (s *transcript) ruleEntries() (all []choice.Entry) {
	seen := map[string]bool{}
	for _, rule := range s.earlier.items(headRules) {
		seen[rule] = true
	}
	for i := len(s.userMessages) - 1; i >= 0 && len(all) < maxRules; i-- {
		for k, rule := range facts.Rules(s.userMessages[i].text) {
			p := newEntry(withoutBullet(rule), s.userMessages[i].message*1000+k, s.recency(s.userMessages[i].message), facts.MaxRule)
			if seen[p.Text] || strings.HasPrefix(p.Text, "#") || content.IsBareTag(p.Text) || !facts.IsRule(rule) {
				continue
			}
			seen[p.Text] = true
			all = append(all, p)
		}
	}
	return all
}

// userEntries returns the user's messages, newer ones in more detail, and the first, which often says what everything is for.
func (s *transcript) userEntries(room int) (all []choice.Entry) {
	most := room * 3 / 10
	for i := len(s.userMessages) - 1; i >= 0; i-- {
		u := s.userMessages[i]
		worth, n := s.recency(u.message), max(most, 160)
		if i == 0 {
			worth, n = 1, max(room*3/10, 160)
		}
		most /= 2
		if line := oneLine(u.text); utf8.RuneCountInString(line) > n {
			all = append(all, newEntry(digest(u.sentences, n, atBeginning), u.message, worth, n))
		} else if !facts.IsRule(line) || len(u.sentences) > 1 { // a message that is only a rule is listed there
			all = append(all, newEntry(line, u.message, worth, n))
		}
	}
	return all
}

// assistantEntries returns the assistant's most informative sentences: findings and decisions rather than plans, which have been carried
// out since. Newer ones count more.
func (s *transcript) assistantEntries(target int) (all []choice.Entry) {
	var lines []choice.Unit
	for _, speech := range s.assistantMessages {
		for _, sentence := range speech.sentences {
			lines = append(lines, choice.Unit{Text: sentence, Line: speech.message})
		}
	}
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
	for rank, i := range choice.Cover(lines, boost, 10+target/60) {
		all = append(all, newEntry(lines[i].Text, i, -float64(rank), 400))
	}
	return all
}

// The prefixes of open items, by which a later extract recognizes them.
const (
	noResult  = "no result: "
	saidLast  = "said last: "
	lastError = "last error: "
	intended  = "intended: "
)

// openEntries returns what the next step starts from: the assistant's last message, unanswered calls, its last plan, and the last error.
func (s *transcript) openEntries(target int) (all []choice.Entry) {
	if n := len(s.assistantMessages); n > 0 {
		last := s.assistantMessages[n-1]
		most := max(target*6/100, 200)
		text := oneLine(last.text)
		if utf8.RuneCountInString(text) > most {
			text = digest(last.sentences, most, atEnd)
		}
		all = append(all, newEntry(saidLast+text, last.message, 20, most+len(saidLast)))
	}
	seen := map[string]bool{}
	for i := len(s.actions) - 1; i >= 0; i-- {
		a := s.actions[i]
		if told := a.describe(); a.open && !seen[told] {
			seen[told] = true
			all = append(all, newEntry(noResult+told, a.message, 10+s.recency(a.message), 300))
		}
	}
	for i := len(s.actions) - 1; i >= 0; i-- {
		if a := s.actions[i]; a.failed {
			all = append(all, newEntry(lastError+a.describe()+": "+a.outcome, a.message, 15, 400))
			break
		}
	}
	return append(all, s.intentEntries()...)
}

// Where plans of the assistant are searched: its last messages but one, in sentences of some length.
const (
	maxIntentMessages = 5
	minIntentBytes    = 30
)

func (s *transcript) intentEntries() (all []choice.Entry) {
	n := len(s.assistantMessages) - 1
	for i := n - 1; i >= max(0, n-maxIntentMessages); i-- {
		for _, sentence := range s.assistantMessages[i].sentences {
			if isIntent(sentence) && len(sentence) >= minIntentBytes {
				return []choice.Entry{newEntry(intended+sentence, s.assistantMessages[i].message, 2, 300)}
			}
		}
	}
	return nil
}
