package engine_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/memory"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

// beside returns one of several processes on a store, with a service of its own.
func beside(t testing.TB, s store.Store, n uint64, m summarize.Model, change func(*conversation.Policy)) *bench {
	service := summarize.New(summarize.Options{Providers: map[string]summarize.Model{"m": m}, Models: []string{"m/x"}})
	b := lifeBench(s, func(o *engine.Options) {
		o.Summaries = service
		o.Defaults.Compaction.Strategy = conversation.StrategySummarize
		if change != nil {
			change(&o.Defaults)
		}
	})
	b.ids.Store(n << 32)
	t.Cleanup(func() {
		b.Close()
		service.Close()
	})
	return b
}

// nearlyFull builds until a summary is being prepared.
func (b *bench) nearlyFull(t testing.TB, id string) {
	t.Helper()
	for i := range 100 {
		if b.worked(t, id, i, 1, 100, 8000)[0].Compaction.State == engine.CompactionPreparing {
			synctest.Wait()
			return
		}
	}
	t.Fatal("nothing is prepared")
}

// drafts is what the slots hold of drafts.
func (b *bench) drafts(t testing.TB, id string) string {
	t.Helper()
	var all []string
	for _, prefix := range []string{"build/draft", "draft/"} {
		snap, err := b.store.Read(ctx, keyOf(id), store.Query{SlotsOf: prefix})
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range snap.Slots {
			all = append(all, name+"="+string(value))
		}
	}
	return strings.Join(all, "\n")
}

// TestEngine_Build_AnotherProcessPrepares_WaitsForIt: a build that overflows waits for the summary that another process prepares, and
// asks no model for a second.
func TestEngine_Build_AnotherProcessPrepares_WaitsForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m := memory.New(memory.Options{}), writes(gist, 5*time.Second)
		one, two := beside(t, s, 1, m, nil), beside(t, s, 2, m, nil)
		one.append(t, "c", user("Read the parts."))
		one.nearlyFull(t, "c")
		time.Sleep(3 * time.Second)
		two.steps(t, "c", 20, 100)
		var r *engine.BuildResult
		took := timed(func() { r = two.turn(t, "c", within(8000)) })
		if took < 2*time.Second || took > 2100*time.Millisecond || len(r.Degradations) > 0 || len(summarizedIn(r)) == 0 {
			t.Errorf("took %s; %d summaries, degradations %+v", took, len(summarizedIn(r)), r.Degradations)
		}
		if n := len(m.calls()); n != 1 {
			t.Errorf("%d calls", n)
		}
	})
}

// blocked is a store that delays the first lease until it is released, or until something is about to be erased.
type blocked struct {
	store.Store
	once       sync.Once
	let, taken chan struct{}
	late       bool // the commit of an erasure releases the lease
}

func newBlocked(late bool) *blocked {
	return &blocked{Store: memory.New(memory.Options{}), let: make(chan struct{}), taken: make(chan struct{}), late: late}
}

func (b *blocked) Commit(ctx context.Context, key store.Key, c *store.Change) error {
	switch {
	case c.Aside:
		first := false
		b.once.Do(func() {
			<-b.let
			first = true
		})
		err := b.Store.Commit(ctx, key, c)
		if first {
			close(b.taken)
		}
		return err
	case b.late && len(c.ReplaceMessages) > 0:
		b.late = false
		close(b.let)
		<-b.taken
	}
	return b.Store.Commit(ctx, key, c)
}

// echoing is a model that says back a piece of what it was given.
func echoing() *scribe {
	return &scribe{reply: func(_ context.Context, _ int, c summarize.Call) (string, error) {
		return c.Prompt[len(c.Prompt)/2:][:200], nil
	}}
}

// TestEngine_Prepare_ErasedAroundTheLease_LeavesNothing: text that is erased between the build that planned a summary and the
// writer's lease, or while the lease is taken, is given to no model and kept in no draft.
func TestEngine_Prepare_ErasedAroundTheLease_LeavesNothing(t *testing.T) {
	for name, late := range map[string]bool{"before the lease": false, "during the erasing build": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, s := echoing(), newBlocked(late)
				b := beside(t, s, 1, m, nil)
				life := removed(99)
				life.PreserveOriginal = ptr(false)
				b.append(t, "c", user("Read the parts."), call("x"), resultLiving("x", "file /srv/"+secret+".csv is here", life))
				b.nearlyFull(t, "c")
				turn := int32(150)
				b.turn(t, "c", within(8000), func(r *engine.BuildRequest) { r.Turn = &turn })
				if !late {
					close(s.let)
				}
				synctest.Wait()
				if n := len(m.calls()); n > 0 && !late {
					t.Errorf("%d calls about what was erased", n)
				}
				if held := b.drafts(t, "c"); strings.Contains(held, secret) {
					t.Errorf("erased text in %.300s", held)
				}
			})
		})
	}
}

// TestEngine_Prepare_RewoundBeforeTheLease_AsksNobody: no model is paid for a summary of messages that were taken back.
func TestEngine_Prepare_RewoundBeforeTheLease_AsksNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, s := echoing(), newBlocked(false)
		b := beside(t, s, 1, m, nil)
		b.append(t, "c", user("Read the parts."))
		b.nearlyFull(t, "c")
		if _, err := b.Rewind(ctx, engine.RewindRequest{Key: keyOf("c"), From: 5}); err != nil {
			t.Fatal(err)
		}
		close(s.let)
		synctest.Wait()
		if n, held := len(m.calls()), b.drafts(t, "c"); n > 0 || held != "" {
			t.Errorf("%d calls, %.300s", n, held)
		}
	})
}

// TestEngine_Build_FailingModelAndEndlessOverflow_AsksOnceAMinute: after an extract was published because the model failed, the next
// build does not ask the model at once.
func TestEngine_Build_FailingModelAndEndlessOverflow_AsksOnceAMinute(t *testing.T) {
	for name, m := range map[string]*scribe{"fails": writes("", 0), "is late": writes(gist, 10*time.Second)} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := beside(t, memory.New(memory.Options{}), 1, m, nil)
				b.append(t, "c", user("Read the parts."))
				made, began := 0, time.Now()
				for i := range 40 {
					b.now = time.Now()
					made += len(summarizedIn(b.worked(t, "c", i, 1, 3500, 8000)[0]))
					time.Sleep(time.Second)
				}
				if n, took := len(m.calls()), time.Since(began); made < 10 || n > 1 || took > 44*time.Second {
					t.Errorf("%d calls in %s for %d summaries", n, took, made)
				}
			})
		})
	}
}

// TestEngine_Build_Refused_AsksNoModel: a build that cannot fit, no matter what is summarized, asks no model and does not wait.
func TestEngine_Build_Refused_AsksNoModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := writes(gist, time.Second)
		b := beside(t, memory.New(memory.Options{}), 1, m, nil)
		b.append(t, "c", pinned(user(words(4000))), pinned(user(words(4200))), user("Read the parts."))
		b.steps(t, "c", 60, 100)
		took := timed(func() {
			for range 5 {
				_, err := b.tryTurn("c", within(8000))
				expect(t, err, conversation.ContextCannotFit)
			}
		})
		if n := len(m.calls()); n > 0 || took > 0 {
			t.Errorf("%d calls, %s", n, took)
		}
	})
}

// TestEngine_Build_DraftReplaced_LeavesNoText: a draft with several summaries that is no longer valid leaves no text behind when one
// with fewer replaces it.
func TestEngine_Build_DraftReplaced_LeavesNoText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := beside(t, memory.New(memory.Options{}), 1, writes(gist, 0), func(p *conversation.Policy) {
			p.Compaction.Strategy = conversation.StrategyHierarchical
		})
		b.append(t, "c", user("Read the parts."))
		b.nearlyFull(t, "c")
		steps := strings.Count(b.drafts(t, "c"), "draft/")
		if steps < 3 {
			t.Fatalf("%d steps: nothing is tested", steps)
		}
		b.edit(t, "c", conversation.Edit{Kind: conversation.EditRestore, Range: conversation.Range{First: 3, End: 5}})
		b.steps(t, "c", 20, 100)
		b.turn(t, "c", within(8000), by(conversation.Policy{Compaction: conversation.CompactionPolicy{Strategy: conversation.StrategySummarize}}))
		synctest.Wait()
		if held := b.drafts(t, "c"); held != "" {
			t.Errorf("left after it was published: %.300s", held)
		}
	})
}

// TestEngine_Rewind_AllSinceTheSummary_ShowsWhatIsTheNewest: the summary dissolves, because the newest unit is always shown, and the
// next message follows that unit.
func TestEngine_Rewind_AllSinceTheSummary_ShowsWhatIsTheNewest(t *testing.T) {
	b := summarizes(conversation.StrategySummarize)
	b.append(t, "c", text(conversation.RoleSystem, "s"), user("Read the parts."))
	var made []conversation.Event
	for i := 0; len(made) == 0; i++ {
		made = summarizedIn(b.worked(t, "c", i, 1, 100, 8000)[0])
	}
	back, err := b.Rewind(ctx, engine.RewindRequest{Key: keyOf("c"), From: made[0].Last + 1})
	if err != nil || len(back.Dissolved) != 1 {
		t.Fatalf("%+v, %v", back, err)
	}
	r := b.turn(t, "c", within(8000))
	if last := r.Messages[len(r.Messages)-1]; last.Index != made[0].Last || r.Compaction.Summary == made[0].Summary {
		t.Errorf("the last message is %d, and summary %d is shown", last.Index, r.Compaction.Summary)
	}
	if _, err := b.tryTurn("c", within(200)); err != nil {
		expect(t, err, conversation.ContextCannotFit)
	}
	b.append(t, "c", user("Go on."))
	if again := b.turn(t, "c", within(8000)); len(again.Messages) != len(r.Messages)+1 {
		t.Errorf("%d messages, then %d", len(r.Messages), len(again.Messages))
	}
}

// TestEngine_Summary_CommitFails_ItsTextIsSwept: a summary that was staged and never committed is deleted after the grace time of
// uploads.
func TestEngine_Summary_CommitFails_ItsTextIsSwept(t *testing.T) {
	f := newFaulty()
	var staged []conversation.ID
	f.stage = func(u *store.Upload) error { staged = append(staged, u.ID); return nil }
	f.commit = func(_ store.Key, c *store.Change) error {
		if len(c.Uploads) > 0 {
			return store.ErrOutcomeUnknown
		}
		return nil
	}
	b := lifeBench(f, func(o *engine.Options) { o.Defaults.Compaction.Strategy = conversation.StrategySummarize })
	b.append(t, "c", user("Read the parts."))
	for i := range 60 {
		k := fmt.Sprint("k", i)
		b.append(t, "c", call(k), result(k, fmt.Sprintf("file /srv/data/part%d.csv was read. %s", i, words(200))))
	}
	_, err := b.tryTurn("c", within(8000))
	expect(t, err, conversation.OutcomeUnknown)
	f.commit = nil
	b.now = b.now.Add(store.UploadGrace + time.Minute)
	if err := b.Sweep(ctx); err != nil {
		t.Fatal(err)
	}
	if len(staged) == 0 {
		t.Fatal("nothing was staged: nothing is tested")
	}
	for _, id := range staged {
		snap, err := f.Read(ctx, keyOf("c"), store.Query{Contents: []store.ContentRange{{ID: id, Length: -1}}})
		if err != nil || snap.Contents[0] != nil {
			t.Errorf("the text is still there (%v)", err)
		}
	}
	if r := b.turn(t, "c", within(8000)); len(summarizedIn(r)) != 1 {
		t.Errorf("%d summaries", len(summarizedIn(r)))
	}
}

// TestEngine_Build_DraftFromBeforeTheWindow_TellsWhatItStandsFor: for messages before the window's start, a prepared summary leaves
// out system messages and counts the others, like a summary made at once (behaviour §8).
func TestEngine_Build_DraftFromBeforeTheWindow_TellsWhatItStandsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := drafting(t, writes(gist, time.Second), conversation.StrategySummarize)
		b.append(t, "c", user("Read the parts."), text(conversation.RoleSystem, "Be careful."))
		b.steps(t, "c", 38, 200)
		b.turn(t, "c", within(8000), by(conversation.Policy{
			Compaction: conversation.CompactionPolicy{Strategy: conversation.StrategySlidingWindow}, // leaves the first messages out
		}))
		b.nearlyFull(t, "c")
		time.Sleep(10 * time.Second)
		b.steps(t, "c", 10, 200)
		r := b.turn(t, "c", within(8000))
		shown := map[int32]bool{}
		for _, m := range r.Messages {
			shown[m.Index] = true
		}
		if len(summarizedIn(r)) != 1 || len(r.Degradations) > 0 || !shown[1] {
			t.Errorf("%d summaries, degradations %+v, system message shown: %t", len(summarizedIn(r)), r.Degradations, shown[1])
		}
		for _, d := range r.Decisions {
			if d.Kind != conversation.DecisionSummarized {
				continue
			}
			want := int64(0)
			for _, m := range b.records(t, "c")[d.First : d.Last+1] {
				if !shown[m.Index] {
					want += int64(m.Tokens)
				}
			}
			if d.Before != want {
				t.Errorf("s%d stands for %d tokens, want %d", d.Summary, d.Before, want)
			}
		}
	})
}
