package extractive

import (
	"strings"
	"unicode/utf8"
)

// mostRules bounds the rules that are looked at.
const mostRules = 400

// rules are the user's sentences that say what must, or must never, be done: the newest first where there is no room for all.
func (s *story) rules() (all []piece) {
	seen := map[string]bool{}
	for _, rule := range s.old.items(headRules) {
		seen[rule] = true
	}
	for i := len(s.users) - 1; i >= 0 && len(all) < mostRules; i-- {
		for k, sentence := range sentencesOf(s.users[i].text) {
			p := item(sentence, s.users[i].at*1000+k, s.recency(s.users[i].at), longestSentence)
			if !saysRule(sentence) || seen[p.text] {
				continue
			}
			seen[p.text] = true
			all = append(all, p)
		}
	}
	return all
}

// sentencesOf are the sentences of a text, each on one line.
func sentencesOf(text string) (all []string) {
	for _, p := range paragraphs(strings.Split(text, "\n"), 0) {
		for _, sentence := range sentences(p.text) {
			all = append(all, oneLine(sentence))
		}
	}
	return all
}

// asked are the user's messages, newer ones in more detail, and the first, which often says what all is for.
func (s *story) asked(room int) (all []piece) {
	most := room * 3 / 10
	for i := len(s.users) - 1; i >= 0; i-- {
		u := s.users[i]
		worth, n := s.recency(u.at), max(most, 160)
		if i == 0 {
			worth, n = 1, max(room*3/10, 160)
		}
		all = append(all, item(shortened(u.text, n), u.at, worth, n))
		most /= 2
	}
	return all
}

// longText is how many characters a text has of which an extract is worth more than its beginning.
const longText = 600

// shortened is a text in at most n characters, on one line.
func shortened(text string, n int) string {
	if utf8.RuneCountInString(text) > max(n, longText) {
		text = strings.ReplaceAll(Extract(text, n), "\n", " / ")
	}
	return clip(oneLine(text), n)
}

// said are the sentences of the assistant's that say most: what was found and decided, not what was to be done next and is done
// since. Newer ones count more.
func (s *story) said(target int) (all []piece) {
	var lines []unit
	for _, speech := range s.speeches {
		for _, sentence := range sentencesOf(speech.text) {
			lines = append(lines, unit{text: sentence, line: speech.at})
		}
	}
	t := termsOf(lines)
	boost := func(i int) float64 {
		if isIntent(lines[i].text) {
			return 0
		}
		weight := 0.4 + s.recency(lines[i].line)
		if isFinding(lines[i].text) {
			weight *= 1.5
		}
		return weight
	}
	for rank, i := range t.cover(lines, boost, 10+target/60) {
		all = append(all, item(lines[i].text, i, -float64(rank), 400))
	}
	return all
}

// open is what the next step begins from: calls without a result, the last error, what the assistant said last.
func (s *story) open(target int) (all []piece) {
	for _, a := range s.actions {
		if a.open {
			all = append(all, item("no result: "+a.told(), a.at, 10+s.recency(a.at), 300))
		}
	}
	for i := len(s.actions) - 1; i >= 0; i-- {
		if a := s.actions[i]; a.failed {
			all = append(all, item("last error: "+a.told()+": "+a.outcome, a.at, 3, 400))
			break
		}
	}
	if n := len(s.speeches); n > 0 {
		most := max(target*6/100, 200)
		all = append(all, item("said last: "+shortened(s.speeches[n-1].text, most), s.speeches[n-1].at, 5, most+20))
	}
	return append(all, s.intents()...)
}

// intents are the assistant's last words on what it is about to do.
func (s *story) intents() (all []piece) {
	for i := len(s.speeches) - 1; i >= max(0, len(s.speeches)-5) && len(all) < 2; i-- {
		for _, sentence := range sentencesOf(s.speeches[i].text) {
			if isIntent(sentence) && i < len(s.speeches)-1 {
				all = append(all, item("intended: "+sentence, s.speeches[i].at, 2+s.recency(s.speeches[i].at), 300))
				break
			}
		}
	}
	return all
}
