package property

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/memory"
)

// flaky is a store whose calls fail now and then: before they did anything, or, worse, a commit after it stood.
type flaky struct {
	store.Store
	t  *rapid.T
	on bool
}

func (f *flaky) fails(what string) bool { return f.on && rapid.IntRange(0, 7).Draw(f.t, what) == 0 }

func (f *flaky) Read(ctx context.Context, k store.Key, q store.Query) (*store.Snapshot, error) {
	if f.fails("read fails") {
		return nil, context.Canceled
	}
	return f.Store.Read(ctx, k, q)
}

func (f *flaky) Commit(ctx context.Context, k store.Key, c *store.Change) error {
	if f.fails("commit fails") {
		return context.Canceled
	}
	err := f.Store.Commit(ctx, k, c)
	if err == nil && f.fails("commit is forgotten") {
		return store.ErrOutcomeUnknown
	}
	return err
}

// TestEngine_AnyHistory_FailuresInBetween: whatever fails in between, a retry with the same request id puts each message on
// record once and in order, and a window that was warm through it all builds what a cold one builds.
func TestEngine_AnyHistory_FailuresInBetween(t *testing.T) {
	proptest.CheckN(t, cases, func(t *rapid.T) {
		s := &flaky{Store: memory.New(memory.Options{}), t: t}
		defer func() { _ = s.Close() }()
		warm := newEngine(s, 1<<20)
		g := newGenerator(t)
		request := engine.BuildRequest{Key: key, Format: conversation.FormatAnthropic, Budget: engine.BudgetOverride{ReservedOutput: new(int32)}}
		request.PolicyOverride = g.policy()
		request.PolicyOverride.Expiration.Results.CompactMode = conversation.CompactFirstChars
		for n := range rapid.IntRange(1, 20).Draw(t, "messages") {
			s.on = true
			m := g.message()
			g.lived(&m)
			appendOnce(t, warm, m, g.extraOf(&m), n)
			if rapid.IntRange(0, 4).Draw(t, "expand") == 4 {
				expandOnce(t, warm, int32(rapid.IntRange(0, n).Draw(t, "expanded")), n)
			}
			if rapid.Bool().Draw(t, "build") {
				budget := rapid.SampledFrom([]int32{150, 600, 3000}).Draw(t, "budget")
				request.Budget.ContextWindow = &budget
				_, _ = warm.Build(ctx, request)
				s.on = false
				sameAsCold(t, s.Store, warm, request)
			}
		}
	})
}

// appendOnce tries until the append is acknowledged.
func appendOnce(t *rapid.T, e *engine.Engine, m conversation.Message, extra engine.AppendExtra, index int) {
	for range 200 {
		again := m
		again.Parts = conversation.CloneParts(m.Parts)
		r, err := e.Append(ctx, engine.AppendRequest{
			Key: key, Messages: []conversation.Message{again}, Extras: []engine.AppendExtra{extra}, Request: engine.Request{RPC: "AppendMessage", ID: fmt.Sprint(index)},
		})
		switch {
		case err == nil && r.Messages[0].Index != int32(index):
			t.Fatalf("message %d got index %d", index, r.Messages[0].Index)
		case err == nil:
			return
		case conversation.KindOf(err) != conversation.Cancelled && conversation.KindOf(err) != conversation.OutcomeUnknown:
			t.Fatalf("message %d: %v", index, err)
		}
	}
	t.Fatalf("message %d is never acknowledged", index)
}

// expandOnce tries until the expansion is answered, which must put one edit on record, or none.
func expandOnce(t *rapid.T, e *engine.Engine, index int32, n int) {
	for range 200 {
		_, err := e.Expand(ctx, engine.ExpandRequest{Key: key, Index: &index, Request: engine.Request{RPC: "ExpandMessage", ID: fmt.Sprint("x", n)}})
		if kind := conversation.KindOf(err); kind != conversation.Cancelled && kind != conversation.OutcomeUnknown {
			return
		}
	}
	t.Fatalf("the expansion of message %d is never answered", index)
}

func sameAsCold(t *rapid.T, s store.Store, warm *engine.Engine, r engine.BuildRequest) {
	r.DryRun = true
	got, err := warm.Build(ctx, r)
	want, coldErr := newEngine(s, 0).Build(ctx, r)
	if (err == nil) != (coldErr == nil) || err != nil && conversation.KindOf(err) != conversation.KindOf(coldErr) {
		t.Fatalf("warm answers %v, cold %v", err, coldErr)
	}
	if err == nil && (!bytes.Equal(got.MessagesJSON, want.MessagesJSON) || !bytes.Equal(got.System, want.System)) {
		t.Fatalf("warm builds\n%s\ncold builds\n%s", got.MessagesJSON, want.MessagesJSON)
	}
	if err == nil && got.Prefix != want.Prefix {
		t.Fatalf("warm reports %+v, cold %+v", got.Prefix, want.Prefix)
	}
}
