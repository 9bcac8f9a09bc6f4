package demo

import (
	"fmt"
	"strings"

	palimpsestv1 "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// strip writes the record as a row of letters, one for each message that the model sees: s, u, a and t for who speaks, T for a
// clipped result. What it does not see is a number between dots.
func (a *agent) strip(view []*palimpsestv1.ContextMessage) (row string, inView int) {
	seen := make(map[int32]bool, len(view))
	for _, m := range view {
		if origin, ok := m.GetOrigin().GetSource().(*palimpsestv1.Origin_MessageIndex); ok {
			seen[origin.MessageIndex] = true
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

func writeGap(b *strings.Builder, n int) {
	if n > 0 {
		fmt.Fprintf(b, "·%d·", n)
	}
}

func (e *entry) letter() byte {
	switch {
	case e.role == palimpsestv1.Role_ROLE_TOOL && e.saved > 0:
		return 'T'
	case e.role == palimpsestv1.Role_ROLE_TOOL:
		return 't'
	case e.role == palimpsestv1.Role_ROLE_ASSISTANT:
		return 'a'
	case e.role == palimpsestv1.Role_ROLE_USER:
		return 'u'
	}
	return 's'
}
