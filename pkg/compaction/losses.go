package compaction

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
)

// LossList is the list of the facts that a summary lost, to be appended to it, of at most limit tokens, and how many did not
// fit; "" if nothing is lost (behaviour §8).
func LossList(facts []conversation.Fact, summary string, limit int64, counter tokens.Counter) (list string, left int) {
	summary = strings.Join(strings.Fields(summary), " ")
	var lost []conversation.Fact
	for _, f := range rank(facts) {
		if !strings.Contains(summary, f.Text) {
			lost = append(lost, f)
		}
	}
	for n := len(lost); n > 0; n-- {
		list = written(lost[:n], len(lost)-n)
		if weight, _ := counter.Count(list); int64(weight) <= limit {
			return list, len(lost) - n
		}
		n -= n / 20
	}
	return "", len(lost)
}

func written(facts []conversation.Fact, left int) string {
	var b strings.Builder
	b.WriteString("Not in the summary above:")
	for _, f := range facts {
		b.WriteString("\n" + f.Text)
	}
	if left > 0 {
		fmt.Fprintf(&b, "\n(and %d more)", left)
	}
	return b.String()
}

// rank is the facts by how much they matter: calls, rules, then what was mentioned most; the newest first.
func rank(facts []conversation.Fact) []conversation.Fact {
	out := slices.Clone(facts)
	slices.Reverse(out)
	slices.SortStableFunc(out, func(a, b conversation.Fact) int {
		return cmp.Or(cmp.Compare(order(a.Kind), order(b.Kind)), cmp.Compare(b.Count, a.Count))
	})
	return out
}

func order(k conversation.FactKind) int {
	return int(min(k, conversation.FactPath))
}
