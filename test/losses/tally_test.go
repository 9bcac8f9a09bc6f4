package losses

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// tally counts, over summaries of one generation, what they had to keep and what is missing.
type tally struct {
	summaries int
	tokens    int // of the longest
	all, lost map[string]int
	missing   map[string][]string
}

// tallies are by generation: a second summary stands for what the first stood for, too.
type tallies map[int]*tally

func (s tallies) of(generation int) *tally {
	if s[generation] == nil {
		s[generation] = &tally{all: map[string]int{}, lost: map[string]int{}, missing: map[string][]string{}}
	}
	return s[generation]
}

// look notes whether something stands in a text.
func (c *tally) look(f found, text, plainText string) {
	c.all[f.kind]++
	there := strings.Contains(text, f.text)
	switch f.kind {
	case rules:
		there = strings.Contains(plainText, plain(f.text))
	case openCalls:
		there = there && strings.Contains(plainText, plain(f.more))
	}
	if !there {
		c.lost[f.kind]++
		c.missing[f.kind] = append(c.missing[f.kind], fmt.Sprintf("%s (%d times) %s", f.text, f.count, f.more))
	}
}

// bar is how much must be kept, in percent. Paths and ids are one class.
const bar = 98

// judge holds the sums over all generations to the bar.
func (s tallies) judge(t *testing.T) {
	t.Helper()
	var generations []int
	for g := range s {
		generations = append(generations, g)
	}
	slices.Sort(generations)
	if len(generations) == 0 {
		t.Error("nothing was summarized")
	}
	names, kept := 0, 0
	for _, g := range generations {
		c := s[g]
		t.Logf("generation %d: %d summaries of at most %d tokens: %s, %s, %s, %s", g, c.summaries, c.tokens,
			c.share(openCalls), c.share(rules), c.share(paths), c.share(ids))
		for _, kind := range []string{openCalls, rules} {
			if c.lost[kind] > 0 {
				t.Errorf("generation %d: %d of %d %s are lost: %q", g, c.lost[kind], c.all[kind], kind, few(c.missing[kind]))
			}
		}
		for _, kind := range []string{paths, ids} {
			names, kept = names+c.all[kind], kept+c.all[kind]-c.lost[kind]
			if c.lost[kind] > 0 {
				t.Logf("lost %s: %q", kind, few(c.missing[kind]))
			}
		}
	}
	if kept*100 < names*bar {
		t.Errorf("%d of %d paths and ids are kept, %.1f %%, and %d %% must be", kept, names, 100*float64(kept)/float64(names), bar)
	}
}

func (c *tally) share(kind string) string {
	return fmt.Sprintf("%s %d/%d", kind, c.all[kind]-c.lost[kind], c.all[kind])
}

func few(list []string) []string { return list[:min(len(list), 12)] }
