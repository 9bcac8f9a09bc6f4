package extractive

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// speaker is who mentions a name, the one that counts most last.
type speaker int8

const (
	byTool speaker = iota
	byAssistant
	byUser
)

// mention is how a name occurs in a stretch of conversation.
type mention struct {
	messages int // that it occurs in
	spoken   int // of those, that no tool wrote
	last     int // the last of them
}

// mentions are the names of a stretch of conversation.
type mentions map[string]*mention

func (m mentions) read(text string, at int, by speaker) {
	eachName(text, func(name string) {
		found := m[name]
		if found == nil {
			found = &mention{}
			m[strings.Clone(name)] = found
		}
		if found.last == at && found.messages > 0 {
			return
		}
		found.messages++
		found.last = at
		if by != byTool {
			found.spoken++
		}
	})
}

// named are the names of a stretch of conversation and of what was told before it: those first that are most likely named again.
func (s *story) named() []string {
	all := make([]string, 0, len(s.mentions))
	worth := make(map[string]float64, len(s.mentions))
	for name, m := range s.mentions {
		all = append(all, name)
		worth[name] = s.nameWorth(name, m)
	}
	for i, name := range s.old.names() {
		if _, again := worth[name]; !again {
			all = append(all, name)
		}
		worth[name] += 1 / (1 + float64(i)/50)
	}
	slices.SortFunc(all, func(a, b string) int {
		return cmp.Or(cmp.Compare(worth[b], worth[a]), cmp.Compare(a, b))
	})
	return all
}

func (s *story) nameWorth(name string, m *mention) float64 {
	worth := math.Log1p(float64(m.messages)) + math.Log1p(float64(m.spoken))
	if len(name) > 40 {
		worth *= 0.7
	}
	return worth * (0.3 + s.recency(m.last))
}

// longestNames is how many names are tried for their room.
const longestNames = 4000

// listNames lists the names that a text leaves out, as many as fit into room characters.
func listNames(ranked []string, shown string, room int) string {
	var b strings.Builder
	known := map[string]bool{}
	eachName(shown, func(name string) { known[name] = true })
	for _, name := range ranked[:min(len(ranked), longestNames)] {
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
