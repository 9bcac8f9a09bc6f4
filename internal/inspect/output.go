package inspect

import (
	"fmt"
	"io"
	"math"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/palimpsest-context/palimpsest/internal/inspect/sheet"
)

// pages asks for page after page until there is none or there are enough entries, if limit is not 0. It is told how many more
// entries there is room for, and gives back where the next page begins and how many entries were taken.
func pages(token *string, limit int, ask func(room int) (next string, taken int, err error)) error {
	room := limit
	if limit <= 0 {
		room = math.MaxInt
	}
	for {
		next, taken, err := ask(room)
		room -= taken
		if err != nil || next == "" || room <= 0 {
			return err
		}
		*token = next
	}
}

// show prints entries: as rows of a table, or as JSON.
func show[M proto.Message](t *sheet.Table, entries []M, row func(M) []string) error {
	if !t.JSON {
		rows := make([][]string, len(entries))
		for i, e := range entries {
			rows[i] = row(e)
		}
		t.Rows(rows)
		return t.Err()
	}
	for _, e := range entries {
		if err := t.Object(e); err != nil {
			return err
		}
	}
	return nil
}

// printing prints an original, piece by piece.
type printing struct {
	*session
	open bool // what was printed last ends within a line
}

// text prints a piece: as it is into a file or pipe, without what must not reach a terminal on one.
func (p *printing) text(text string) error {
	if p.out.Terminal {
		text = sheet.PlainLines(text, p.out.ASCII)
	}
	if text != "" {
		p.open = !strings.HasSuffix(text, "\n")
	}
	_, err := io.WriteString(p.out.Out, text)
	return err
}

// end leaves a terminal at the start of a line. A file gets no byte that is not the original's.
func (p *printing) end() {
	if p.open && p.out.Terminal {
		p.out.Line("")
	}
}

// tableOf is how entries of a kind are listed.
type tableOf[M proto.Message] struct {
	columns []sheet.Column
	row     func(M) []string
}

func (t tableOf[M]) on(s *session) *sheet.Table {
	return &sheet.Table{Sheet: s.out, Columns: t.columns}
}

// one prints the entry that a call answered with.
func (t tableOf[M]) one(s *session, entry M, err error) error {
	if err != nil {
		return err
	}
	return show(t.on(s), []M{entry}, t.row)
}

// list prints page after page of what calls answer with.
func (t tableOf[M]) list(s *session, token *string, limit int, call func() (next string, page []M, err error)) error {
	list := t.on(s)
	return pages(token, limit, func(room int) (string, int, error) {
		next, page, err := call()
		if err != nil {
			return "", 0, err
		}
		page = page[:min(len(page), room)]
		return next, len(page), show(list, page, t.row)
	})
}

// answer prints what a call answered with: as JSON, or as it is printed for people.
func (s *session) answer(reply proto.Message, err error, forPeople func() error) error {
	switch {
	case err != nil:
		return err
	case s.out.JSON:
		return s.out.Object(reply)
	default:
		return forPeople()
	}
}

// done prints what a call answered with: as JSON, or what it means in a sentence.
func (s *session) done(reply proto.Message, err error, format string, args ...any) error {
	return s.answer(reply, err, func() error {
		s.out.Say(fmt.Sprintf(format, args...))
		return nil
	})
}
