package demo

import (
	"fmt"
	"strings"

	palimpsestv1 "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// strip writes the record as a row of letters, one for each message that the model sees: s, u, a and t for who speaks, T for a
// clipped result, c for a compacted one and - for one that a placeholder stands for. What it does not see is a number: between dots,
// or in brackets where a summary stands for it.
func (a *agent) strip(view []*palimpsestv1.ContextMessage) (row string, inView int) {
	seen := seenIn(view)
	var b strings.Builder
	for i := 0; i < len(a.entries); {
		if seen[int32(i)] {
			b.WriteByte(a.entries[i].letter())
			i++
			continue
		}
		first, summarized := i, a.entries[i].summarized()
		for i < len(a.entries) && !seen[int32(i)] && a.entries[i].summarized() == summarized {
			i++
		}
		b.WriteString(gap(i-first, summarized))
	}
	return b.String(), len(seen)
}

// seenIn says which messages of the record a context shows.
func seenIn(view []*palimpsestv1.ContextMessage) map[int32]bool {
	seen := make(map[int32]bool, len(view))
	for _, m := range view {
		if index, ok := originOf(m); ok {
			seen[index] = true
		}
	}
	return seen
}

// originOf is the message of the record that a message of a context shows; false if it shows none.
func originOf(m *palimpsestv1.ContextMessage) (int32, bool) {
	origin, ok := m.GetOrigin().GetSource().(*palimpsestv1.Origin_MessageIndex)
	if !ok {
		return 0, false
	}
	return origin.MessageIndex, true
}

func gap(n int, summarized bool) string {
	if summarized {
		return fmt.Sprintf("[%d]", n)
	}
	return fmt.Sprintf("·%d·", n)
}

func (e *entry) summarized() bool {
	return e.shown == palimpsestv1.DecisionKind_DECISION_KIND_SUMMARIZED
}

func (e *entry) letter() byte {
	switch e.shown {
	case palimpsestv1.DecisionKind_DECISION_KIND_CLIPPED:
		return 'T'
	case palimpsestv1.DecisionKind_DECISION_KIND_COMPACTED:
		return 'c'
	case palimpsestv1.DecisionKind_DECISION_KIND_CLEARED, palimpsestv1.DecisionKind_DECISION_KIND_PRUNED:
		return '-'
	}
	switch e.role {
	case palimpsestv1.Role_ROLE_TOOL:
		return 't'
	case palimpsestv1.Role_ROLE_ASSISTANT:
		return 'a'
	case palimpsestv1.Role_ROLE_USER:
		return 'u'
	}
	return 's'
}
