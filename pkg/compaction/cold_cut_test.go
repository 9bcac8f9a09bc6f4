package compaction_test

import (
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/compaction"
)

// TestColdCut_Pays: each condition by itself, on both sides of its limit. 4,000 of 10,000 tokens would leave, at .1 for reading and 1.25
// for writing: 5,000 at once, and 400 in each turn.
func TestColdCut_Pays(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*compaction.ColdCut)
		want   bool
	}{
		"an extract":                    {func(*compaction.ColdCut) {}, true},
		"an extract, and no later turn": {func(c *compaction.ColdCut) { c.Turns = 0 }, true},
		"it shrinks by enough":          {func(c *compaction.ColdCut) { c.Shrink = 40 }, true},
		"it does not":                   {func(c *compaction.ColdCut) { c.Shrink = 41 }, false},
		"a quarter goes, of a view that might shrink by less": {func(c *compaction.ColdCut) { c.Before = 16_000 }, true},
		"less than a quarter goes":                            {func(c *compaction.ColdCut) { c.Before = 16_001 }, false},
		"nothing goes":                                        {func(c *compaction.ColdCut) { c.Saved, c.Shrink = 0, 0 }, false},
		"it would grow":                                       {func(c *compaction.ColdCut) { c.Saved = -100 }, false},
		"a call that pays at once":                            {func(c *compaction.ColdCut) { c.Turns, c.Call = 0, 4999 }, true},
		"a call that does not":                                {func(c *compaction.ColdCut) { c.Turns, c.Call = 0, 5001 }, false},
		"a call that pays in 30 turns":                        {func(c *compaction.ColdCut) { c.Call = 16_999 }, true},
		"a call that does not by then":                        {func(c *compaction.ColdCut) { c.Call = 17_001 }, false},
	} {
		cut := compaction.ColdCut{Before: 10_000, Saved: 4000, Shrink: 10, Turns: 30, Read: .1, Write: 1.25}
		c.change(&cut)
		if got := cut.Pays(); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
