package postgres

import (
	"cmp"
	"strconv"
	"strings"
	"sync"
)

// statement is assembled from sections. Each is a WITH query or, if it begins with a space, the continuation of the section before. A
// question mark stands for the next value.
type statement struct {
	sections []string
	last     string // the end of the statement, whose values come after those of the sections; empty: the number of rows of section u
	args     []any
	lastArgs []any
}

// values returns the values for all placeholders of the statement.
func (w *statement) values() []any { return append(w.args, w.lastArgs...) }

func (w *statement) add(section string, args ...any) {
	w.sections = append(w.sections, section)
	w.args = append(w.args, args...)
}

// text returns the text of a statement. The statement returns rows if its section u does.
func (s *Store) text(w *statement) string {
	var id [20]string // no statement has more sections
	id[copy(id[:19], w.sections)] = w.last
	return s.texts.of(id, func() string {
		return s.sql(numbered(w.compose()))
	})
}

func (w *statement) compose() string {
	var b strings.Builder
	b.WriteString("WITH ")
	for i, section := range w.sections {
		if i > 0 && !strings.HasPrefix(section, " ") {
			b.WriteString(",\n")
		}
		b.WriteString(section)
	}
	b.WriteString("\n" + cmp.Or(w.last, "SELECT FROM u"))
	return b.String()
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

// numbered writes into a statement which incarnation the read is about, and numbers its placeholders.
func (s *Store) numbered(text, which string) string {
	return s.texts.of([2]string{text, which}, func() string { return s.sql(numbered(strings.Replace(text, "{i}", which, 1))) })
}

// sql writes the schema into a statement.
func (s *Store) sql(text string) string {
	return s.texts.of(text, func() string { return strings.ReplaceAll(text, "{s}", s.schema) })
}

// texts caches statements by what they are made from. There are as many as there are kinds of calls.
type texts struct{ made sync.Map }

func (t *texts) of(id any, compose func() string) string {
	if text, ok := t.made.Load(id); ok {
		if text, ok := text.(string); ok {
			return text
		}
	}
	text := compose()
	t.made.Store(id, text)
	return text
}
