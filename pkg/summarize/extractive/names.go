package extractive

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/facts"
)

// maxNames is how many names of a text are ranked.
const maxNames = 400

// namesWindow is how many bytes at both ends of a text are searched for names.
const namesWindow = 150_000

// rankedNames returns the names in a text that a reader may ask for (addresses, paths, identifiers, codes), the most frequent and most
// specific first.
func rankedNames(text string) []string {
	if len(text) > 2*namesWindow {
		text = text[:namesWindow] + " " + text[len(text)-namesWindow:]
	}
	count := map[string]int{}
	var inOrder []string
	facts.EachName(text, func(name string) {
		if count[name]++; count[name] == 1 {
			inOrder = append(inOrder, name)
		}
	})
	slices.SortStableFunc(inOrder, func(a, b string) int {
		return cmp.Compare(nameWorth(b, count[b]), nameWorth(a, count[a]))
	})
	return inOrder[:min(len(inOrder), maxNames)]
}

func nameWorth(name string, n int) float64 {
	worth := math.Log1p(float64(n))
	switch {
	case strings.Contains(name, "://"):
		worth *= 1.5
	case strings.Contains(name, "/"):
		worth *= 1.3
	case len(name) > 30:
		worth *= 0.6 // a reader can hardly distinguish long codes
	}
	return worth
}

// namesLine lists the names that an extract's lines omit, as many as fit into room characters.
func namesLine(ranked []string, body string, room int) string {
	const lead = "\nAlso: "
	var b strings.Builder
	room -= len(lead)
	for _, name := range ranked {
		if len(name)+2 > room || strings.Contains(body, name) || strings.Contains(b.String(), name) {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		b.WriteString(name)
		room -= len(name) + 2
	}
	if b.Len() == 0 {
		return ""
	}
	return lead + b.String()
}
