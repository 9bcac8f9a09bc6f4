package span

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/content"
	"github.com/palimpsest-context/palimpsest/pkg/summarize/extractive/choice"
)

// toolEntries counts the calls of each tool, and the failed ones, including those in earlier summaries.
func (s *transcript) toolEntries() (all []choice.Entry) {
	var calls, failed tally
	for _, line := range s.earlier.items(headTools) {
		if list, isFailed := strings.CutPrefix(line, failedCalls); isFailed {
			failed.parse(list)
		} else {
			calls.parse(line)
		}
	}
	for _, a := range s.actions {
		calls.add(content.Clip(oneLine(a.tool), 60), 1)
		if a.failed {
			failed.add(content.Clip(oneLine(a.tool), 60), 1)
		}
	}
	if len(calls.names) > 0 {
		all = append(all, newEntry(calls.text(), 0, 1, 1000))
	}
	if len(failed.names) > 0 {
		all = append(all, newEntry(failedCalls+failed.text(), 1, 0, 1000))
	}
	return all
}

const failedCalls = "failed: "

// touchedTarget is a file or an address, with what was done to it how often.
type touchedTarget struct {
	target      string
	verbs       tally
	lastMessage int
	writes      bool
}

func (s *transcript) targets() []*touchedTarget {
	byTarget := map[string]*touchedTarget{}
	var all []*touchedTarget
	for _, a := range s.actions {
		if a.target == "" {
			continue
		}
		t := byTarget[a.target]
		if t == nil {
			t = &touchedTarget{target: a.target}
			byTarget[a.target] = t
			all = append(all, t)
		}
		t.verbs.add(content.Clip(oneLine(a.verb), 40), 1)
		t.lastMessage = a.message
		t.writes = t.writes || a.writes
	}
	return all
}

// targetMark separates a file from what was done to it.
const targetMark = ": "

// targetEntries says what was done to which files and addresses, now and before: changed ones first, then the most recent. old are those of
// before that were not used again.
func (s *transcript) targetEntries() (now, old []choice.Entry) {
	before := map[string]string{}
	for _, line := range s.earlier.items(headFiles) {
		if at := strings.LastIndex(line, targetMark); at > 0 {
			before[line[:at]] = line[at+len(targetMark):]
		}
	}
	again := map[string]bool{}
	for i, t := range s.targets() {
		target := oneLine(t.target)
		again[target] = true
		var done tally
		done.parse(before[target])
		done.addAll(&t.verbs)
		worth := s.recency(t.lastMessage) + 0.3*math.Log(float64(done.sum()))
		if t.writes {
			worth++
		}
		p := newEntry(target+targetMark+done.text(), i, worth, maxTargetBytes+100)
		p.Whole = true
		now = append(now, p)
	}
	old = slices.DeleteFunc(s.earlier.entries(headFiles), func(p choice.Entry) bool {
		return again[p.Text[:max(strings.LastIndex(p.Text, targetMark), 0)]]
	})
	return now, old
}

// recency returns 0 for the oldest message to 1 for the newest.
func (s *transcript) recency(at int) float64 { return float64(at) / float64(max(s.messageCount, 1)) }

// callEntries lists commands and other calls that are not about a file, and all that failed: the newest first, those that changed something
// before others.
func (s *transcript) callEntries() (all []choice.Entry) {
	place := map[string]int{}
	count := map[string]int{}
	for _, a := range s.actions {
		if a.open || a.target != "" && !a.failed {
			continue
		}
		text := a.describeWithOutcome()
		worth := s.recency(a.message)
		if a.writes {
			worth += 0.5
		}
		if a.failed {
			worth += 0.1
		}
		count[text]++
		p := newEntry(text, a.message, worth, maxCommandBytes+maxFailureChars)
		if at, again := place[text]; again {
			p.Label = fmt.Sprintf("- ×%d ", count[text])
			all[at] = p
			continue
		}
		place[text] = len(all)
		all = append(all, p)
	}
	return all
}
