package postgres

import (
	"strconv"
	"strings"
)

// statement is one statement that is put together from sections, each of them a WITH query. A question mark stands for the next value.
type statement struct {
	sections []string
	args     []any
}

func (w *statement) add(section string, args ...any) {
	w.sections = append(w.sections, section)
	w.args = append(w.args, args...)
}

// text is the whole, which answers with as many rows as the section u has.
func (w *statement) text() string {
	return numbered("WITH " + strings.Join(w.sections, ",\n") + "\nSELECT FROM u")
}

// numbered replaces question marks with $1, $2 and so on.
func numbered(text string) string {
	var b strings.Builder
	b.Grow(len(text) + 64)
	n := 0
	for {
		before, after, found := strings.Cut(text, "?")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		n++
		b.WriteByte('$')
		b.WriteString(strconv.Itoa(n))
		text = after
	}
}

// numbered writes the incarnation that a read is about into a statement, and numbers its values.
func (s *Store) numbered(text, which string) string {
	id := [2]string{text, which}
	if done, ok := s.texts.Load(id); ok {
		return done.(string) //nolint:forcetypeassert // nothing else is in it
	}
	done := numbered(strings.Replace(text, "{i}", which, 1))
	s.texts.Store(id, done)
	return done
}
