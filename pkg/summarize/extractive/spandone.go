package extractive

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// tools counts the calls of each tool, as one line.
func (s *story) tools() []piece {
	type count struct{ calls, failed int }
	counted := map[string]*count{}
	var names []string
	for _, a := range s.actions {
		if counted[a.tool] == nil {
			counted[a.tool] = &count{}
			names = append(names, a.tool)
		}
		counted[a.tool].calls++
		if a.failed {
			counted[a.tool].failed++
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(counted[b].calls, counted[a].calls) })
	for i, name := range names {
		c := counted[name]
		if names[i] = clip(name, 60) + counts(c.calls); c.failed > 0 {
			names[i] += fmt.Sprintf(" (%d failed)", c.failed)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []piece{item(strings.Join(names, ", "), 0, 0, 1000)}
}

// touched is a file or an address, and how often what was done to it.
type touched struct {
	target string
	verbs  []string
	counts map[string]int
	last   int
	writes bool
}

func (s *story) touched() []*touched {
	byTarget := map[string]*touched{}
	var all []*touched
	for _, a := range s.actions {
		if a.target == "" {
			continue
		}
		t := byTarget[a.target]
		if t == nil {
			t = &touched{target: a.target, counts: map[string]int{}}
			byTarget[a.target] = t
			all = append(all, t)
		}
		if t.counts[a.verb]++; t.counts[a.verb] == 1 {
			t.verbs = append(t.verbs, a.verb)
		}
		t.last = a.at
		t.writes = t.writes || a.writes
	}
	return all
}

// files tells what was done to which files and addresses: what was changed first, then what was touched last.
func (s *story) files() (all []piece) {
	for _, t := range s.touched() {
		var done []string
		for _, verb := range t.verbs {
			done = append(done, clip(verb, 40)+counts(t.counts[verb]))
		}
		worth := s.recency(t.last)
		if t.writes {
			worth++
		}
		p := item(t.target+fileMark+strings.Join(done, ", "), len(all), worth, longestTarget+100)
		p.whole = true
		all = append(all, p)
	}
	return all
}

const fileMark = ": "

// oldFiles are the files that were told of before and are not touched again.
func (s *story) oldFiles() []piece {
	again := map[string]bool{}
	for _, t := range s.touched() {
		again[oneLine(t.target)] = true
	}
	return slices.DeleteFunc(s.old.pieces(headFiles), func(p piece) bool {
		target := p.text[:max(strings.LastIndex(p.text, fileMark), 0)]
		return again[target]
	})
}

// recency is from 0 for the oldest message to 1 for the newest.
func (s *story) recency(at int) float64 { return float64(at) / float64(max(s.now, 1)) }

// calls tells of commands and of other calls that are not about a file, and of all that failed: newer ones first, and those
// before others that changed something.
func (s *story) calls() (all []piece) {
	place := map[string]int{}
	times := map[string]int{}
	for _, a := range s.actions {
		if a.open || a.target != "" && !a.failed {
			continue
		}
		text := a.toldWithOutcome()
		worth := s.recency(a.at)
		if a.writes {
			worth += 0.5
		}
		if a.failed {
			worth += 0.1
		}
		times[text]++
		p := item(text, a.at, worth, longestCommand+longestFailure)
		if at, again := place[text]; again {
			p.label = fmt.Sprintf("- ×%d ", times[text])
			all[at] = p
			continue
		}
		place[text] = len(all)
		all = append(all, p)
	}
	return all
}
