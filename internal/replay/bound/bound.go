// Package bound works out what is possible on recordings for somebody who knows the future. docs/replay.md defines it.
package bound

import (
	"context"
	"slices"

	"github.com/palimpsest-context/palimpsest/internal/replay/recording"
	"github.com/palimpsest-context/palimpsest/internal/replay/report"
	"github.com/palimpsest-context/palimpsest/internal/validate"
)

// The names of bounds.
const (
	Paid = "bound: rewriting paid"
	Free = "bound: rewriting free"
)

// leastRecall is what is kept of references and of content at least where
// rewriting is free.
const leastRecall = 0.97

// Of works out the bounds on recordings, which lie in these files, with no sidecar.
func Of(ctx context.Context, recordings []recording.Recording, files []string, count validate.Counter, prices report.Prices) []report.Bound {
	paid, free := report.NewTally(files), report.NewTally(files)
	for i := range recordings {
		if ctx.Err() != nil {
			break
		}
		f := foresee(&recordings[i], validate.Memoized(count))
		paid.Merge(f.follow(f.rewriting(prices), prices, true, recordings[i].File))
		free.Merge(f.follow(f.forgetting(leastRecall), prices, false, recordings[i].File))
	}
	return []report.Bound{
		{Name: Paid, FileReport: paid.Result().FileReport, Files: paid.Files},
		{Name: Free, FileReport: free.Result().FileReport, Files: free.Files},
	}
}

// rewriting says from which build on each message is left out by somebody who
// pays for what is written anew. Before each build all cuts are weighed: at a
// message that nothing refers to any more, with all others of its kind behind
// it, for the reading that this saves in all builds that are left, against
// writing anew what stays behind it. The best is made if it pays.
func (f *foresight) rewriting(p report.Prices) (gone []int) {
	gone = slices.Repeat([]int{forever}, len(f.holdings))
	old := 0
	for build, now := range f.builds {
		kept, dropped, at, best := 0, 0, old, 0.0
		for i := old - 1; i >= 0; i-- {
			switch h := &f.holdings[i]; {
			case gone[i] <= build:
			case h.last(need.refers) >= build:
				kept += h.weight
			default:
				dropped += h.weight
				left := len(f.builds) - build
				if gain := p.Of(dropped*left, 0) - p.Of(-kept, kept); gain > best {
					at, best = i, gain
				}
			}
		}
		for i := at; i < old; i++ {
			if gone[i] == forever && f.holdings[i].last(need.refers) < build {
				gone[i] = build
			}
		}
		old = now
	}
	return gone
}

// last is the last build that must show a message, or whose message takes up
// something of it that counts.
func (h *holding) last(counts func(need) bool) int {
	for _, n := range slices.Backward(h.needs) {
		if counts(n) {
			return max(h.until, n.build)
		}
	}
	return h.until
}

func (n need) refers() bool { return n.references > 0 }

// forgetting says the same of somebody who changes old text for nothing: each
// message stays for as long as it is needed, and those go first that weigh most
// for what is taken up of them, for as long as such a share is kept of
// references and of content.
func (f *foresight) forgetting(share float64) (gone []int) {
	var all need
	for i := range f.holdings {
		for _, n := range f.holdings[i].needs {
			all.references, all.content = all.references+n.references, all.content+n.content
		}
	}
	kept := make([]int, len(f.holdings)) // how many of each message's needs
	for i := range kept {
		kept[i] = len(f.holdings[i].needs)
	}
	room := need{references: int((1 - share) * float64(all.references)), content: int((1 - share) * float64(all.content))}
	for {
		best, at, to, lost := 0.0, -1, 0, need{}
		for i := range f.holdings {
			if worth, n, loses := f.holdings[i].cheapest(kept[i], room, all); worth > best {
				best, at, to, lost = worth, i, n, loses
			}
		}
		if at < 0 {
			break
		}
		kept[at], room.references, room.content = to, room.references-lost.references, room.content-lost.content
	}
	gone = make([]int, len(f.holdings))
	for i := range gone {
		if gone[i] = forever; f.holdings[i].lastOf(kept[i]) < forever {
			gone[i] = f.holdings[i].lastOf(kept[i]) + 1
		}
	}
	return gone
}

// lastOf is the last build that shows a message if only its first n needs count.
func (h *holding) lastOf(n int) int {
	if n == 0 {
		return h.until
	}
	return max(h.until, h.needs[n-1].build)
}

// cheapest says which of a message's needs to give up last ones of, so that most
// weight is saved for what is lost of all, within what may be lost.
func (h *holding) cheapest(kept int, room, all need) (worth float64, to int, lost need) {
	var loses need
	for n := kept - 1; n >= 0; n-- {
		loses.references, loses.content = loses.references+h.needs[n].references, loses.content+h.needs[n].content
		if loses.references > room.references || loses.content > room.content {
			break
		}
		saved := h.weight * (h.lastOf(kept) - h.lastOf(n))
		if w := float64(saved) / (report.Share(float64(loses.references), float64(all.references)) + report.Share(float64(loses.content), float64(all.content))); w > worth {
			worth, to, lost = w, n, loses
		}
	}
	return worth, to, lost
}

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
