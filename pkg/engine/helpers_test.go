package engine_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/memory"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // histories are short: their memory costs less than its collection
	goleak.VerifyTestMain(m)
}

// faulty is a store that fails as a test says, or calls a function right before a commit.
type faulty struct {
	store.Store
	commit  func(key store.Key, c *store.Change) error // called before a commit, which is not made if it returns an error
	read    func(q store.Query) error
	stage   func(u *store.Upload) error
	commits int
	reads   int
}

func (f *faulty) Commit(ctx context.Context, key store.Key, c *store.Change) error {
	f.commits++
	if f.commit != nil {
		if err := f.commit(key, c); err != nil {
			return err
		}
	}
	return f.Store.Commit(ctx, key, c)
}

func (f *faulty) Read(ctx context.Context, key store.Key, q store.Query) (*store.Snapshot, error) {
	f.reads++
	if f.read != nil {
		if err := f.read(q); err != nil {
			return nil, err
		}
	}
	return f.Store.Read(ctx, key, q)
}

func (f *faulty) Stage(ctx context.Context, key store.Key, u *store.Upload) error {
	if f.stage != nil {
		if err := f.stage(u); err != nil {
			return err
		}
	}
	return f.Store.Stage(ctx, key, u)
}

func newFaulty() *faulty { return &faulty{Store: memory.New(memory.Options{})} }

// head is the head of a conversation as it is stored.
func (b *bench) head(t testing.TB, id string) store.Head {
	t.Helper()
	snap, err := b.store.Read(ctx, keyOf(id), store.Query{})
	if err != nil {
		t.Fatal(err)
	}
	return snap.Head
}

// expect fails the test unless the error is of the kind.
func expect(t testing.TB, err error, want conversation.Kind) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %s", want)
	}
	if got := conversation.KindOf(err); got != want {
		t.Fatalf("%s: %v (%v), want %s", got, err, causeOf(err), want)
	}
}

func causeOf(err error) error {
	var e *conversation.Error
	if errors.As(err, &e) {
		return e.Cause
	}
	return nil
}

// violation returns the field of the first violation in an error.
func violation(err error) string {
	var e *conversation.Error
	if !errors.As(err, &e) || len(e.Violations) == 0 {
		return ""
	}
	return e.Violations[0].Field
}

// request is a request id of an RPC with content.
func request(rpc, id, content string) engine.Request {
	return engine.Request{RPC: rpc, ID: id, Digest: sha256.Sum256([]byte(content))}
}

func user(s string) conversation.Message { return text(conversation.RoleUser, s) }

func answer(s string) conversation.Message { return text(conversation.RoleAssistant, s) }

func pinned(m conversation.Message) conversation.Message {
	m.Pinned = true
	return m
}

// words returns a text of the given number of tokens by chars4.
func words(tokens int) string { return strings.Repeat("word", tokens) }

// ask builds with a request that a test changes.
func (b *bench) ask(id string, budget int32, change func(*engine.BuildRequest)) (*engine.BuildResult, error) {
	r := engine.BuildRequest{Key: keyOf(id), Format: conversation.FormatOpenAIChat, Budget: budgetOf(budget)}
	if change != nil {
		change(&r)
	}
	return b.Build(ctx, r)
}

func (b *bench) asked(t testing.TB, id string, budget int32, change func(*engine.BuildRequest)) *engine.BuildResult {
	t.Helper()
	r, err := b.ask(id, budget, change)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// records lists all messages of a conversation as they were appended.
func (b *bench) records(t testing.TB, id string) []conversation.Message {
	t.Helper()
	r, err := b.Messages(ctx, engine.MessagesRequest{
		Key: keyOf(id), Range: conversation.Range{End: -1}, Limit: 100_000, MaxBytes: 1 << 30,
		Size: func(*engine.MessageInView) int { return 1 },
	})
	if err != nil {
		t.Fatal(err)
	}
	var out []conversation.Message
	for i := range r.Messages {
		out = append(out, r.Messages[i].Message)
	}
	return out
}

// edit commits edits of the view directly.
func (b *bench) edit(t testing.TB, id string, edits ...conversation.Edit) {
	t.Helper()
	h := b.head(t, id)
	c := &store.Change{Expect: h.Version, Head: h, Edits: edits}
	c.Head.Version++
	for i := range c.Edits {
		c.Head.EditSeq++
		c.Edits[i].Seq, c.Edits[i].Commit, c.Edits[i].Time = c.Head.EditSeq, c.Head.Version, b.now
	}
	if err := b.store.Commit(ctx, keyOf(id), c); err != nil {
		t.Fatal(err)
	}
}

// rewriteHead commits a head that a test changed.
func (b *bench) rewriteHead(t testing.TB, id string, change func(*store.Head)) {
	t.Helper()
	h := b.head(t, id)
	c := &store.Change{Expect: h.Version, Head: h}
	c.Head.Version++
	change(&c.Head)
	if err := b.store.Commit(ctx, keyOf(id), c); err != nil {
		t.Fatal(err)
	}
}

func hide(first, end int32) conversation.Edit {
	return conversation.Edit{Kind: conversation.EditHide, Range: conversation.Range{First: first, End: end}}
}

// steps appends n exchanges of an agent: a call, and its result of the given number of tokens.
func (b *bench) steps(t testing.TB, id string, n, tokens int) {
	t.Helper()
	for i := range n {
		callID := fmt.Sprint("k", i)
		b.append(t, id, call(callID), result(callID, words(tokens)))
	}
}

func ptr[T any](v T) *T { return &v }

// tb is the common interface of tests and properties.
type tb interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

func buildRequest(id string, f conversation.Format, budget int32) engine.BuildRequest {
	return engine.BuildRequest{Key: keyOf(id), Format: f, Budget: budgetOf(budget)}
}
