package inspect

import (
	"math"

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
		return t.Rows(rows)
	}
	for _, e := range entries {
		if err := t.Object(e); err != nil {
			return err
		}
	}
	return nil
}
