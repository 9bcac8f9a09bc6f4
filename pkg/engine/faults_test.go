package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// dueStore calls a function when it is asked what is due.
type dueStore struct {
	store.Store
	due func() error
}

func (d *dueStore) Due(ctx context.Context, until time.Time, limit int) ([]store.Task, error) {
	if err := d.due(); err != nil {
		return nil, err
	}
	return d.Store.Due(ctx, until, limit)
}

func contextWithCancel() (context.Context, context.CancelFunc) { return context.WithCancel(ctx) }

// TestEngine_StoreFails_KindPerError: errors of the store become errors of the domain, without conversation text (behaviour §15).
func TestEngine_StoreFails_KindPerError(t *testing.T) {
	secret := "secret words of the conversation"
	for _, tt := range []struct {
		err  error
		want conversation.Kind
	}{
		{store.ErrOutcomeUnknown, conversation.OutcomeUnknown}, {store.ErrCorrupt, conversation.CorruptRecord}, {store.ErrFull, conversation.StoreFull},
		{store.ErrClosed, conversation.StoreUnavailable}, {store.ErrUnavailable, conversation.StoreUnavailable}, {context.Canceled, conversation.Cancelled},
		{context.DeadlineExceeded, conversation.Cancelled}, {errors.New("anything else"), conversation.Internal},
	} {
		failing := fmt.Errorf("%w: %s", tt.err, secret)
		f := newFaulty()
		b := newBenchOn(f, 1<<20)
		b.append(t, "c", user("u"))
		b.build(t, "c", conversation.FormatOpenAIChat, 1000)
		before := b.head(t, "c").Version
		writes := map[string]func() error{
			"append": func() error { _, err := appendOnce(b, "", "x"); return err },
			"build":  func() error { _, err := b.ask("c", 1000, nil); return err },
			"create": func() error { _, err := b.Create(ctx, engine.CreateRequest{Key: keyOf("new")}); return err },
			"delete": func() error { _, err := b.Delete(ctx, keyOf("c"), engine.Request{}); return err },
			"usage":  func() error { _, _, err := b.ReportUsage(ctx, keyOf("c"), 1, "", engine.Usage{Input: 9}); return err },
			"update": func() error {
				_, err := b.Update(ctx, engine.UpdateRequest{Key: keyOf("c"), Change: func(i store.Info) (store.Info, error) { return i, nil }})
				return err
			},
			"store content": func() error { _, err := b.keep("c", "", "some words", nil); return err },
			"profile": func() error {
				return b.PutModelProfile(ctx, "default", conversation.ModelProfile{Model: "m"}, engine.Request{})
			},
		}
		check := func(name string, err error) {
			t.Helper()
			if conversation.KindOf(err) != tt.want || !errors.Is(err, tt.err) || strings.Contains(err.Error(), secret) {
				t.Errorf("%s with %v: %v", name, tt.err, err)
			}
		}
		f.commit = func(store.Key, *store.Change) error { return failing }
		for name, write := range writes {
			check(name, write())
		}
		f.commit, f.read = nil, func(store.Query) error { return failing }
		for name, write := range writes {
			check("reading for "+name, write())
		}
		_, err := b.Messages(ctx, engine.MessagesRequest{Key: keyOf("c"), Range: conversation.Range{End: -1}})
		check("list", err)
		_, err = b.Manifest(ctx, keyOf("c"), 1, 0)
		check("manifest", err)
		f.read = nil
		f.stage = func(*store.Upload) error { return failing }
		_, err = b.Append(ctx, engine.AppendRequest{Key: keyOf("c"), Messages: []conversation.Message{user(words(20_000))}})
		check("stage", err)
		if got := b.head(t, "c").Version; got != before {
			t.Errorf("%v: something was committed", tt.err)
		}
	}
}

// TestEngine_OutcomeUnknown_RetryIsSafe: the commit was written although its outcome was unknown, and the request id makes the retry
// safe.
func TestEngine_OutcomeUnknown_RetryIsSafe(t *testing.T) {
	f := newFaulty()
	b := newBenchOn(f, 1<<20)
	b.append(t, "c", user("u"))
	unknown := func(key store.Key, c *store.Change) error {
		f.commit = nil
		if err := f.Store.Commit(ctx, key, c); err != nil {
			t.Fatal(err)
		}
		return store.ErrOutcomeUnknown
	}
	f.commit = unknown
	_, err := appendOnce(b, "r", "x")
	expect(t, err, conversation.OutcomeUnknown)
	if r, err := appendOnce(b, "r", "x"); err != nil || !r.Duplicate || r.Messages[0].Index != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	ask := func(r *engine.BuildRequest) { r.Request = request("BuildContext", "r", "x") }
	f.commit = unknown
	_, err = b.ask("c", 1000, ask)
	expect(t, err, conversation.OutcomeUnknown)
	if r := b.asked(t, "c", 1000, ask); !r.Duplicate || r.Turn != 1 {
		t.Errorf("%+v", r)
	}
	if next := b.build(t, "c", conversation.FormatOpenAIChat, 1000); next.Turn != 2 || next.Prefix.StableBlocks != 2 {
		t.Errorf("turn %d, %+v", next.Turn, next.Prefix)
	}
}

// TestEngine_DamagedContent_IsSaidSo: an incomplete content is never shown as if it were complete.
func TestEngine_DamagedContent_IsSaidSo(t *testing.T) {
	f := newFaulty()
	b := newBenchOn(f, 0)
	b.append(t, "c", user(words(20_000)))
	f.read = func(q store.Query) error {
		for i := range q.Contents {
			q.Contents[i].Length = 10
		}
		return nil
	}
	_, err := b.Message(ctx, keyOf("c"), 0)
	expect(t, err, conversation.CorruptRecord)
	_, err = b.ask("c", 100_000, nil)
	expect(t, err, conversation.CorruptRecord)
}

// TestEngine_Lock_GivesUpWithItsCaller: a call waits for its turn on a conversation no longer than its caller does.
func TestEngine_Lock_GivesUpWithItsCaller(t *testing.T) {
	f := newFaulty()
	b := newBenchOn(f, 0)
	b.append(t, "c", user("u"))
	entered, leave := make(chan struct{}), make(chan struct{})
	f.commit = func(store.Key, *store.Change) error { close(entered); <-leave; return nil }
	done := make(chan error)
	go func() { _, err := appendOnce(b, "", "slow"); done <- err }()
	<-entered
	impatient, cancel := context.WithCancel(ctx)
	cancel()
	_, err := b.Append(impatient, engine.AppendRequest{Key: keyOf("c"), Messages: []conversation.Message{user("u")}})
	expect(t, err, conversation.Cancelled)
	f.commit = nil
	b.append(t, "d", user("other conversations do not wait"))
	close(leave)
	if err := <-done; err != nil {
		t.Error(err)
	}
	b.append(t, "c", user("the turn was given back"))
}
