package demo

import (
	"fmt"
	"strings"

	palimpsestv1 "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// strip writes the record as a row of letters, one for each message that the model sees: s, u, a and t for who speaks, T for a
// clipped result, c for a compacted one and - for one that a placeholder stands for. What it does not see is a number between dots.
func (a *agent) strip(view []*palimpsestv1.ContextMessage) (row string, inView int) {
	seen := make(map[int32]bool, len(view))
	for _, m := range view {
		if index, ok := originOf(m); ok {
			seen[index] = true
		}
	}
	var b strings.Builder
	gap := 0
	for i := range a.entries {
		if !seen[int32(i)] {
			gap++
			continue
		}
		writeGap(&b, gap)
		gap = 0
		b.WriteByte(a.entries[i].letter())
	}
	writeGap(&b, gap)
	return b.String(), len(seen)
}

// originOf is the message of the record that a message of a context shows; false if it shows none.
func originOf(m *palimpsestv1.ContextMessage) (int32, bool) {
	origin, ok := m.GetOrigin().GetSource().(*palimpsestv1.Origin_MessageIndex)
	if !ok {
		return 0, false
	}
	return origin.MessageIndex, true
}

func writeGap(b *strings.Builder, n int) {
	if n > 0 {
		fmt.Fprintf(b, "·%d·", n)
	}
}

func (e *entry) letter() byte {
	switch e.shown {
	case palimpsestv1.DecisionKind_DECISION_KIND_CLIPPED:
		return 'T'
	case palimpsestv1.DecisionKind_DECISION_KIND_COMPACTED:
		return 'c'
	case palimpsestv1.DecisionKind_DECISION_KIND_CLEARED:
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
