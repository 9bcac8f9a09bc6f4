package postgres

import (
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/palimpsest-context/palimpsest/internal/dbtest"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// TestDocs_Queries_Run runs what the page for operators tells them to ask, over a store with something in it.
func TestDocs_Queries_Run(t *testing.T) {
	t.Parallel()
	s := opened(t, Options{DSN: dbtest.SharedPostgres(t).DSN, TextColumn: true})
	k := spoken(t, s)
	k.head.NextDue = testTime()
	must(t, k.append(t.Context(), s))
	page, err := os.ReadFile("../../../docs/postgres.md")
	must(t, err)
	blocks := strings.Split(string(page), "```sql\n")[1:]
	if len(blocks) < 10 {
		t.Fatalf("%d queries", len(blocks))
	}
	for _, block := range blocks {
		text, _, _ := strings.Cut(block, "```")
		text = strings.ReplaceAll(text, "palimpsest", s.options.Schema)
		text = strings.ReplaceAll(text, "'my-conversation'", "'"+k.key.Conversation+"'")
		text = strings.ReplaceAll(text, "30 days", "30000 days")
		rows, err := s.pool.Query(t.Context(), text, pgx.QueryExecModeSimpleProtocol)
		must(t, err)
		n := 0
		for rows.Next() {
			n++
		}
		if rows.Err() != nil || n == 0 && !strings.Contains(text, "update_time <") {
			t.Errorf("%s\n%d rows, %v", text, n, rows.Err())
		}
	}
}

// TestDocs_Readable_ShowsAnyBytes: a name that is no text must not break a query over all.
func TestDocs_Readable_ShowsAnyBytes(t *testing.T) {
	t.Parallel()
	s := opened(t, Options{DSN: dbtest.SharedPostgres(t).DSN})
	k := newTalk(0)
	k.key.Conversation = "a\x00\xff"
	must(t, k.append(t.Context(), s))
	var name string
	must(t, s.pool.QueryRow(t.Context(), s.sql(`SELECT context_id FROM {s}.context_messages`)).Scan(&name))
	if name != `a\000\377` {
		t.Errorf("%q", name)
	}
	if kinds := []conversation.EditKind{conversation.EditSummarize}; int(kinds[0]) != 5 { // the view knows it by its number
		t.Error("the view asks for another kind of edit")
	}
}
