package postgres

import (
	"strconv"
	"strings"
)

// statement is one statement that is put together from sections, each of them a WITH query. A question mark stands for the next value.
type statement struct {
	sections []string
	last     string // what follows on the sections, with values behind theirs; empty: as many rows as the section u has
	args     []any
	lastArgs []any
}

// values are all that the statement's text asks for.
func (w *statement) values() []any { return append(w.args, w.lastArgs...) }

func (w *statement) add(section string, args ...any) {
	w.sections = append(w.sections, section)
	w.args = append(w.args, args...)
}

// text is a statement's. It answers with rows if its section u has one.
func (s *Store) text(w *statement) string {
	var id [16]string // no statement has as many
	id[copy(id[:15], w.sections)] = w.last
	if done, ok := s.texts.Load(id); ok {
		return done.(string) //nolint:forcetypeassert // nothing else is in it
	}
	last := w.last
	if last == "" {
		last = "SELECT FROM u"
	}
	done := s.sql(numbered("WITH " + strings.Join(w.sections, ",\n") + "\n" + last))
	s.texts.Store(id, done)
	return done
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
