package span

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/facts"
)

// speaker is who mentions a name, in ascending order of importance.
type speaker int8

const (
	byTool speaker = iota
	byAssistant
	byUser
)

// minNumberDigits is the length of a number that identifies something even in a tool's result.
const minNumberDigits = 6

// mention counts how a name occurs in a stretch of conversation.
type mention struct {
	messages int // that it occurs in
	spoken   int // of those, that no tool wrote
	last     int // the last of them
	users    bool
}

// mentions are the names of a stretch of conversation.
type mentions map[string]*mention

func (m mentions) read(text string, at int, by speaker) {
	facts.EachReference(text, func(name string) {
		if by == byTool && len(name) < minNumberDigits && facts.IsNumber(name) {
			return
		}
		found := m[name]
		if found == nil {
			found = &mention{}
			m[strings.Clone(name)] = found
		}
		found.users = found.users || by == byUser
		if found.last == at {
			return
		}
		found.messages++
		found.last = at
		if by != byTool {
			found.spoken++
		}
	})
}

// rankedNames returns the names of a stretch of conversation and of earlier summaries, those most likely to be named again first.
func (s *transcript) rankedNames() []string {
	before := map[string]float64{}
	for i, name := range s.earlier.names() {
		before[name] = max(before[name], 1/(1+float64(i)/50))
	}
	type ranked struct {
		name  string
		worth float64
	}
	all := make([]ranked, 0, len(s.mentions)+len(before))
	for name, m := range s.mentions {
		all = append(all, ranked{name, s.nameWorth(name, m) + before[name]})
		delete(before, name)
	}
	for name, worth := range before {
		all = append(all, ranked{name, worth})
	}
	slices.SortFunc(all, func(a, b ranked) int { return cmp.Or(cmp.Compare(b.worth, a.worth), cmp.Compare(a.name, b.name)) })
	names := make([]string, min(len(all), maxRankedNames))
	for i := range names {
		names[i] = all[i].name
	}
	return names
}

func (s *transcript) nameWorth(name string, m *mention) float64 {
	worth := math.Log1p(float64(m.messages)) + math.Log1p(float64(m.spoken))
	if len(name) > 40 {
		worth *= 0.7
	}
	recency := s.recency(m.last)
	if m.users {
		worth += 0.7
		recency = max(recency, 0.7)
	}
	return worth * (0.5 + recency)
}

// maxRankedNames is how many names are tried at most.
const maxRankedNames = 8000

// listNames lists the names that a text omits, as many as fit into room characters.
func listNames(ranked []string, shown string, room int) string {
	var b strings.Builder
	known := map[string]bool{}
	facts.EachReference(shown, func(name string) { known[name] = true })
	for _, name := range ranked {
		if room < 6 {
			break
		}
		if len(name)+2 > room || known[name] {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		b.WriteString(name)
		room -= len(name) + 2
	}
	return b.String()
}
