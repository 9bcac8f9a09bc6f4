package memorytest

import (
	"fmt"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/memory"
)

// What is found and listed.
func readCases() []check {
	return []check{
		{"an empty scope holds nothing", emptyScope},
		{"a search keeps to its limit and its floor", ofAnna(searchLimits)},
		{"a search leaves out what only the asking conversation said", ofAnna(searchExcept)},
		{"a list comes in pages", ofAnna(listPages)},
		{"a token of no list gives no foreign memory", listTokens},
	}
}

func emptyScope(b *box) {
	s := b.user("nobody")
	b.equal(b.search(s, facts()[0]), []memory.Memory{})
	b.equal(b.list(s, 10), []memory.Memory{})
}

func searchLimits(b *box, s memory.Scope) {
	for i := range 5 {
		b.put(s, fmt.Sprintf("The walnut cake number %d is in oven %d.", i, 10+i))
	}
	b.remembers(s, "number 0", "number 4")
	for _, q := range []*memory.Query{
		{Text: "walnut cake", Limit: 2, Now: now()},
		{Text: "walnut cake", Limit: 1, Now: now()},
	} {
		found, err := b.target.Search(b.ctx, s, q)
		b.must(err)
		b.equal(len(found), q.Limit)
	}
	for _, floor := range []float64{0.3, 0.9, 1} { // watched compares
		_, err := b.target.Search(b.ctx, s, &memory.Query{Text: "the walnut cake of my aunt", Limit: 5, Floor: floor, Now: now()})
		b.must(err)
	}
}

func searchExcept(b *box, s memory.Scope) {
	b.add(b.batch(s, "this", 0, facts()[0]))
	b.add(b.batch(s, "that", 0, facts()[1]))
	b.put(s, facts()[2])
	b.remembers(s, facts()[:3]...)
	for i, want := range []int{0, 1, 1} {
		found, err := b.target.Search(b.ctx, s, &memory.Query{Text: facts()[i], Limit: 20, Except: "this", Now: now()})
		b.must(err)
		if got := count(found, facts()[i]); min(got, 1) != want && (want == 1 || b.limits.ReturnsIDs) {
			b.Errorf("fact %d is found %d times", i, got)
		}
	}
}

func listPages(b *box, s memory.Scope) {
	want := make([]string, 0, 7)
	for _, text := range facts()[:7] {
		want = append(want, b.put(s, text))
	}
	b.remembers(s, facts()[:7]...)
	for _, limit := range []int{1, 3, 7, 8} {
		got := ids(b.list(s, limit))
		b.equal(sorted(got), sorted(want))
		b.equal(ids(b.list(s, limit)), got) // the order stays
	}
	listing, err := b.target.List(b.ctx, s, &memory.Page{Limit: 3, Now: now()})
	b.must(err)
	if len(listing.Memories) == 0 || listing.Next == "" {
		b.Error("a page of three of seven memories is empty or the last one")
	}
	b.equal(len(b.list(s, 2, memory.Added)), 7)
	b.equal(len(b.list(s, 2, memory.Fact)), 0)
}

func listTokens(b *box) {
	anna, bert := b.user("anna"), b.user("bert")
	for _, text := range facts()[:4] {
		b.put(anna, text)
		b.put(bert, text)
	}
	b.remembers(anna, facts()[:4]...)
	b.remembers(bert, facts()[:4]...)
	first, err := b.target.List(b.ctx, anna, &memory.Page{Limit: 1, Now: now()})
	b.must(err)
	mine := ids(b.list(bert, 50))
	for _, token := range []string{first.Next, "nonsense", "-1", "999999999999999999999", "../x", "\x00", "MTA="} {
		listing, err := b.target.List(b.ctx, bert, &memory.Page{Limit: 2, Token: token, Now: now()})
		if err != nil {
			b.wants(err, memory.ErrRefused)
			continue
		}
		for _, id := range ids(listing.Memories) {
			if !slices.Contains(mine, id) {
				b.Error("a memory of another scope is listed")
			}
		}
	}
}
