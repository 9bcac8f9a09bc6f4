package bound

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/internal/replay/report"
)

// follow measures what it comes to if each message is left out from a build on,
// as an answered build of a sidecar's is measured. Behind a message that has just
// left all is written anew, unless that is free.
func (f *foresight) follow(gone []int, p report.Prices, paid bool, file string) *report.Tally {
	t := report.NewTally(nil)
	t.Conversations, t.Builds, t.File = 1, len(f.builds), file
	whole := 0
	for build, now := range f.builds {
		read, written, broken := f.shown(gone, build, now, paid)
		before := whole
		whole = f.weight(now)
		if build == 0 {
			written, read = written+f.fixed, 0
			t.CostWithout += p.Of(0, whole+f.fixed)
		} else {
			read += f.fixed
			t.CostWithout += p.Of(before+f.fixed, whole-before)
		}
		t.TokensWith += int64(read + written)
		t.TokensWithout += int64(whole + f.fixed)
		t.CostWith += p.Of(read, written)
		if broken {
			t.Rewrites++
		}
		f.recall(t, gone, build)
	}
	return t
}

// shown weighs what a build shows, by what the provider's cache holds of it.
func (f *foresight) shown(gone []int, build, now int, paid bool) (read, written int, broken bool) {
	for i := range f.holdings[:now] {
		switch h := &f.holdings[i]; {
		case gone[i] == build && h.from < build:
			broken = true
		case gone[i] <= build:
		case h.from == build || broken && paid:
			written += h.weight
		default:
			read += h.weight
		}
	}
	return read, written, broken
}

// weight is that of the first n messages.
func (f *foresight) weight(n int) (tokens int) {
	for i := range f.holdings[:n] {
		tokens += f.holdings[i].weight
	}
	return tokens
}

// recall counts what a build shows of what the next message takes up.
func (f *foresight) recall(t *report.Tally, gone []int, build int) {
	for _, d := range f.demands[build] {
		held := slices.ContainsFunc(d.holders, func(i int) bool { return gone[i] > build })
		switch {
		case d.content:
			t.Recall.Content.Count(held)
			if d.foreign {
				t.Recall.ForeignContent.Count(held)
			}
		default:
			t.Recall.References.Count(held)
		}
	}
}
