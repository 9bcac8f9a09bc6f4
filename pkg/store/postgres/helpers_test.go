package postgres

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// opened is a store that the test closes; a second one of the same options is another process.
func opened(t testing.TB, o Options) *Store {
	t.Helper()
	if o.Schema == "" {
		o.Schema = schemaOf(t.Name())
	}
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func keyOf(n int) store.Key {
	return store.Key{Namespace: "default", Conversation: fmt.Sprintf("conversation-%06d", n)}
}

// talk is a conversation that a test appends to.
type talk struct {
	mu   sync.Mutex
	key  store.Key
	head store.Head
	text string
}

func newTalk(n int) *talk {
	var id conversation.ID
	binary.BigEndian.PutUint64(id[:], uint64(n+1)*0x9e3779b97f4a7c15)
	return &talk{key: keyOf(n), head: store.Head{Incarnation: id, Request: -1, Opening: -1, CreateTime: testTime(), UpdateTime: testTime()}, text: "words"}
}

func testTime() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 89, time.UTC) }

func (k *talk) change() *store.Change {
	c := &store.Change{Expect: k.head.Version, Head: k.head}
	c.Head.Version++
	c.Head.Revision++
	return c
}

func (k *talk) appending() *store.Change {
	c := k.change()
	c.Messages = []conversation.Message{{
		ID: fmt.Sprintf("m%d", c.Head.Messages), Index: c.Head.Messages, Role: conversation.RoleUser, Tokens: 5, Commit: c.Head.Version,
		CreateTime: testTime(), Parts: []conversation.Part{{Kind: conversation.PartText, Text: conversation.Content{Inline: k.text}}},
	}}
	c.Head.Messages++
	c.Head.Tokens += 5
	return c
}

// append appends a message; the talk moves if that worked.
func (k *talk) append(ctx context.Context, s store.Store) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.commit(ctx, s, k.appending())
}

func (k *talk) commit(ctx context.Context, s store.Store, c *store.Change) error {
	err := s.Commit(ctx, k.key, c)
	if err == nil && !c.Aside {
		k.head = c.Head
	}
	return err
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// run runs statements beside the store, as an operator would.
func run(t testing.TB, dsn string, statements ...string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	must(t, err)
	defer conn.Close(context.Background())
	for _, text := range statements {
		if _, err := conn.Exec(t.Context(), text, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
}
