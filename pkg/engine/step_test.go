package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	storemem "github.com/palimpsest-context/palimpsest/pkg/store/memory"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

// stepWith appends messages and builds, in one call that a test changes.
func (b *bench) stepWith(id string, change func(*engine.StepRequest), messages ...conversation.Message) (*engine.StepResult, error) {
	r := engine.StepRequest{Build: buildRequest(id, conversation.FormatOpenAIChat, 100_000), Append: engine.AppendRequest{Messages: messages}}
	if change != nil {
		change(&r)
	}
	return b.Step(ctx, r)
}

func (b *bench) stepped(t testing.TB, id string, change func(*engine.StepRequest), messages ...conversation.Message) *engine.StepResult {
	t.Helper()
	r, err := b.stepWith(id, change, messages...)
	if err != nil {
		t.Fatalf("%v (%v)", err, causeOf(err))
	}
	return r
}

// TestEngine_Step_OneCommit: a step is one commit and reads what a build reads, also where it begins the conversation.
func TestEngine_Step_OneCommit(t *testing.T) {
	t.Parallel()
	f := newFaulty()
	b := newBenchOn(f, 1<<20)
	r := b.stepped(t, "c", nil, user("go"))
	if f.commits != 1 || r.Turn != 1 || r.Appended.Messages[0].Index != 0 || b.head(t, "c").Version != 1 {
		t.Errorf("%d commits, %+v", f.commits, r.Appended)
	}
	f.commits = 0
	r = b.stepped(t, "c", nil, call("k"), result("k", noise(1, 100_000)))
	if f.commits != 1 || r.Turn != 2 || r.Appended.Messages[1].Index != 2 || r.Appended.Revision != r.Revision {
		t.Errorf("%d commits, %+v at revision %d", f.commits, r.Appended, r.Revision)
	}
	if len(r.Events) != 2 || r.Events[0].Type != conversation.EventAdded || r.Events[1].Index != 2 {
		t.Errorf("events %+v", r.Events)
	}
}

// TestEngine_Step_Refused_LeavesNothing: a refused step records nothing and leaves nothing staged, and the next step shows nothing of it.
func TestEngine_Step_Refused_LeavesNothing(t *testing.T) {
	t.Parallel()
	large := noise(1, 100_000)
	for name, c := range map[string]struct {
		change   func(*engine.StepRequest)
		messages []conversation.Message
		want     conversation.Kind
	}{
		"pending calls": {nil, []conversation.Message{user(large), call("k")}, conversation.PendingToolCalls},
		"no call":       {nil, []conversation.Message{user(large), result("k", "x")}, conversation.ResultWithoutCall},
		"does not fit":  {func(r *engine.StepRequest) { r.Build.Budget = budgetOf(30) }, []conversation.Message{user("x"), user("a"), user(large)}, conversation.ContextCannotFit},
		"another index": {func(r *engine.StepRequest) { r.Append.ExpectedIndex = ptr(int32(9)) }, []conversation.Message{user(large)}, conversation.IndexMismatch},
		"turn passed":   {func(r *engine.StepRequest) { r.Build.Turn = ptr(int32(0)) }, []conversation.Message{user(large)}, conversation.TurnPassed},
		"reply too large": {func(r *engine.StepRequest) {
			r.Check = func(*engine.StepResult) error { return conversation.Errorf(conversation.ReplyTooLarge, "x") }
		}, []conversation.Message{user(large)}, conversation.ReplyTooLarge},
		"dry run":          {func(r *engine.StepRequest) { r.Build.DryRun = true }, []conversation.Message{user(large)}, ""},
		"dry run, pending": {func(r *engine.StepRequest) { r.Build.DryRun = true }, []conversation.Message{user(large), call("k")}, conversation.PendingToolCalls},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBenchWith(storemem.New(storemem.Options{}), func(o *engine.Options) {
				o.CacheBytes = 1 << 24
				o.Defaults.Citations = conversation.CitationsPolicy{On: ptr(true), ThresholdChars: ptr(int32(300))}
			})
			check := func(t *testing.T, id string) {
				t.Helper()
				r, err := b.stepWith(id, c.change, owned(c.messages)...)
				switch {
				case c.want == "" && (err != nil || r.Appended != nil || r.Manifest.Seq != 0 || !strings.Contains(string(r.MessagesJSON), large[:50])):
					t.Fatalf("%v, %+v", err, r)
				case c.want != "":
					expect(t, err, c.want)
					if !strings.HasSuffix(err.Error(), "; nothing was appended") {
						t.Errorf("%v", err)
					}
				}
				b.wantNothingStaged(t, name)
			}
			check(t, "new")
			if _, err := b.Get(ctx, keyOf("new")); conversation.KindOf(err) != conversation.ConversationNotFound {
				t.Errorf("the conversation was begun: %v", err)
			}
			b.stepped(t, "c", nil, user("begin"))
			before, index := b.everything(t, "c"), b.head(t, "c").Messages
			check(t, "c")
			if after := b.everything(t, "c"); after != before {
				t.Error("something is on record")
			}
			other := owned(c.messages)
			for i := range other {
				other[i] = user(fmt.Sprint("other ", i))
			}
			shown := string(b.stepped(t, "c", nil, other...).MessagesJSON)
			if !strings.Contains(shown, "other 0") || strings.Contains(shown, large[:50]) || b.head(t, "c").Messages != index+int32(len(other)) {
				t.Errorf("the next step shows %.300s", shown)
			}
		})
	}
}

// TestEngine_Step_SameRequestID: a retry repeats the whole, and other content is refused.
func TestEngine_Step_SameRequestID(t *testing.T) {
	t.Parallel()
	b := newBenchWith(storemem.New(storemem.Options{}), func(o *engine.Options) {
		o.Defaults.Citations = conversation.CitationsPolicy{On: ptr(true), ThresholdChars: ptr(int32(300))}
	})
	as := func(content string) func(*engine.StepRequest) {
		return func(r *engine.StepRequest) {
			r.Build.Request, r.Build.CloseOpenCalls = request("BuildContext", "r", content), true
		}
	}
	messages := []conversation.Message{user("go"), call("a"), result("a", noise(4, 40_000)), toolCall("b", "expand_message", `{"pad":"`+noise(5, 40_000)+`"}`)}
	first := b.stepped(t, "c", as("x"), owned(messages)...)
	b.stepped(t, "c", nil, user("more"))
	version := b.head(t, "c").Version
	again := b.stepped(t, "c", as("x"), owned(messages)...)
	if !again.Duplicate || !again.Appended.Duplicate || again.SHA256 != first.SHA256 || again.Revision != first.Revision || b.head(t, "c").Version != version {
		t.Errorf("the retry: %+v", again.Result)
	}
	told := func(r *engine.AppendResult) string {
		var out []string
		for i := range r.Messages {
			out = append(out, fmt.Sprint(r.Messages[i].Index, r.Messages[i].ID, r.Messages[i].Tokens, r.Citations[i]))
		}
		return fmt.Sprint(out, r.Calls, r.Revision)
	}
	if one, two := told(first.Appended), told(again.Appended); one != two || len(first.Appended.Calls) != 1 || !first.Appended.Calls[0].Recalls {
		t.Errorf("receipts\n%s\nthen\n%s", one, two)
	}
	_, err := b.stepWith("c", as("y"), owned(messages)...)
	expect(t, err, conversation.RequestIDReused)
}

// TestEngine_Step_StoreFailsAnywhere_AllOrNothing: whichever call of the store fails, or loses its answer, append and build are both
// recorded or neither is. The retry completes both.
func TestEngine_Step_StoreFailsAnywhere_AllOrNothing(t *testing.T) {
	t.Parallel()
	messages := []conversation.Message{call("a"), result("a", noise(4, 40_000))}
	as := func(r *engine.StepRequest) { r.Build.Request = request("BuildContext", "r", "x") }
	for _, begun := range []bool{true, false} {
		for lost := 0; ; lost++ {
			f := newFaulty()
			b := newBenchOn(f, 1<<20)
			if begun {
				b.stepped(t, "c", nil, user("begin"))
			}
			calls, failed := 0, false
			fail := func() error {
				if calls++; calls == lost/2+1 && lost%2 == 0 {
					failed = true
					return store.ErrUnavailable
				}
				return nil
			}
			f.read, f.stage = func(store.Query) error { return fail() }, func(*store.Upload) error { return fail() }
			f.commit = func(key store.Key, c *store.Change) error {
				if err := fail(); err != nil || lost%2 == 0 {
					return err
				}
				failed, f.commit = true, nil
				if err := f.Store.Commit(ctx, key, c); err != nil {
					t.Fatal(err)
				}
				return store.ErrOutcomeUnknown
			}
			_, err := b.stepWith("c", as, owned(messages)...)
			f.read, f.stage, f.commit = nil, nil, nil
			if !failed {
				if err != nil {
					t.Fatal(err)
				}
				if lost < 6 {
					t.Errorf("begun %v: only %d calls of the store", begun, lost/2)
				}
				break
			}
			stands := err == nil || conversation.KindOf(err) == conversation.OutcomeUnknown
			if told := err != nil && strings.HasSuffix(err.Error(), "nothing was appended"); told == stands {
				t.Errorf("begun %v, call %d: %v", begun, lost, err)
			}
			if !stands {
				b.wantNothingStaged(t, fmt.Sprint("call ", lost))
			}
			var first int32
			if begun {
				first = 1
			}
			h, err := b.Get(ctx, keyOf("c"))
			if n := int32(0); stands && (err != nil || h.Head.Messages != first+2 || h.Head.ManifestSeq != int64(first)+1) {
				t.Fatalf("begun %v, call %d: %+v, %v", begun, lost, h, err)
			} else if !stands && err == nil && h.Head.Messages != first+n {
				t.Fatalf("begun %v, call %d: half of it stands: %+v", begun, lost, h)
			}
			r := b.stepped(t, "c", as, owned(messages)...)
			if r.Duplicate != stands || b.head(t, "c").Messages != first+2 || r.Appended.Messages[0].Index != first {
				t.Errorf("begun %v, call %d: the retry: duplicate %v", begun, lost, r.Duplicate)
			}
		}
	}
}

// TestEngine_Step_Conflict_DecidesAgain: another process appends in between.
func TestEngine_Step_Conflict_DecidesAgain(t *testing.T) {
	t.Parallel()
	f := newFaulty()
	one, two := newBenchOn(f, 1<<20), newBenchOn(f, 1<<20)
	two.ids.Store(1 << 40)
	one.stepped(t, "c", nil, user("begin"))
	raced := 0
	f.commit = func(store.Key, *store.Change) error {
		if f.commit = nil; raced == 0 {
			raced++
			two.append(t, "c", user("between"))
		}
		return nil
	}
	r := one.stepped(t, "c", nil, user(noise(3, 50_000)))
	if got := r.Appended.Messages[0].Index; got != 2 || !strings.Contains(string(r.MessagesJSON), "between") {
		t.Errorf("index %d, %.200s", got, r.MessagesJSON)
	}
	two.wantNothingStaged(t, "a conflict")
}

// TestEngine_Step_Usage: usage that comes with an answer is counted once, by the build of the same step or by the next one.
func TestEngine_Step_Usage(t *testing.T) {
	t.Parallel()
	reported := &engine.Usage{Input: 900, CacheRead: 100, Output: 50, Reasoning: 5}
	for name, c := range map[string]struct {
		answers func(b *bench) *engine.BuildResult
		want    int64
	}{
		"with the build": {func(b *bench) *engine.BuildResult {
			return b.stepped(t, "c", func(r *engine.StepRequest) { r.Append.Usage = reported }, answer("yes"), user("and?")).Result
		}, 1000},
		"another of the build's own": {func(b *bench) *engine.BuildResult {
			return b.stepped(t, "c", func(r *engine.StepRequest) { r.Append.Usage, r.Build.LastUsage = reported, &engine.Usage{Input: 700} }, answer("yes"), user("and?")).Result
		}, 700},
		"kept": {func(b *bench) *engine.BuildResult {
			appended(t, b, reported, answer("yes"), user("and?"))
			return b.build(t, "c", conversation.FormatOpenAIChat, 100_000)
		}, 1000},
		"kept without a message": {func(b *bench) *engine.BuildResult {
			appended(t, b, reported)
			return b.stepped(t, "c", nil, answer("yes"), user("and?")).Result
		}, 1000},
		"kept, and another with the build": {func(b *bench) *engine.BuildResult {
			appended(t, b, reported, answer("yes"), user("and?"))
			return b.asked(t, "c", 100_000, func(r *engine.BuildRequest) { r.LastUsage = &engine.Usage{Input: 700} })
		}, 700},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(1 << 20)
			b.stepped(t, "c", nil, user("go"))
			r := c.answers(b)
			if !r.Compaction.Reported || r.Compaction.Used < c.want || r.Compaction.Used > c.want+60 {
				t.Errorf("%+v", r.Compaction)
			}
			if snap, err := b.store.Read(ctx, keyOf("c"), store.Query{Slots: []string{"build/reported"}}); err != nil || len(snap.Slots) > 0 {
				t.Errorf("the report is still kept: %v", err)
			}
			if m, err := b.Manifest(ctx, keyOf("c"), 1, 0); err != nil || !m.Manifest.UsageReported {
				t.Errorf("the first build has no report: %v", err)
			}
			next := b.build(t, "c", conversation.FormatOpenAIChat, 100_000)
			if m, err := b.Manifest(ctx, keyOf("c"), next.Manifest.Seq-1, 0); err != nil || m.Manifest.UsageReported {
				t.Errorf("the report counted twice: %v", err)
			}
		})
	}
}

func appended(t testing.TB, b *bench, u *engine.Usage, messages ...conversation.Message) {
	t.Helper()
	if _, err := b.Append(ctx, engine.AppendRequest{Key: keyOf("c"), Messages: messages, Usage: u}); err != nil {
		t.Fatal(err)
	}
}

// TestEngine_Step_OverQuota: what is appended counts, and a step over the limit leaves nothing.
func TestEngine_Step_OverQuota(t *testing.T) {
	t.Parallel()
	l := newLimited(newFaulty(), engine.Quota{Bytes: 100_000, Conversations: 1}, nil)
	l.stepped(t, "c", nil, user(noise(1, 20_000)), answer(noise(2, 60_000)), user("go"))
	_, err := l.stepWith("c", nil, user(noise(3, 30_000)))
	wantOver(t, err, "bytes")
	_, err = l.stepWith("c", nil, user(noise(3, 40_000)))
	wantOver(t, err, "bytes")
	_, err = l.stepWith("d", nil, user("x"))
	wantOver(t, err, "conversations")
	l.wantNothingStaged(t, "a step over the quota")
	if n := l.head(t, "c").Messages; n != 3 {
		t.Errorf("%d messages", n)
	}
}

// TestEngine_Step_DryRun_StagesNothing: a dry run asks nothing of the store but to read.
func TestEngine_Step_DryRun_StagesNothing(t *testing.T) {
	t.Parallel()
	f := newFaulty()
	b := newBenchOn(f, 1<<20)
	f.stage = func(*store.Upload) error { return store.ErrFull }
	b.stepped(t, "c", func(r *engine.StepRequest) { r.Build.DryRun = true }, user(noise(1, 50_000)))
	if f.commits != 0 {
		t.Errorf("%d commits", f.commits)
	}
}

// TestEngine_Step_NothingToAppend: it is a build; where there is no conversation, there is nothing to build.
func TestEngine_Step_NothingToAppend(t *testing.T) {
	t.Parallel()
	b := newBench(1 << 20)
	_, err := b.stepWith("c", nil)
	expect(t, err, conversation.ConversationNotFound)
	appended(t, b, &engine.Usage{Input: 5})
	_, err = b.Get(ctx, keyOf("c"))
	expect(t, err, conversation.ConversationNotFound)
	b.append(t, "c", user("go"))
	if r := b.stepped(t, "c", nil); r.Turn != 1 || len(r.Appended.Messages) != 0 || r.Appended.Revision != r.Revision {
		t.Errorf("%+v", r.Appended)
	}
}

// TestEngine_Step_Recalls: memories are asked for a message that is not on record yet, and stand before its words; a dry run asks nobody.
func TestEngine_Step_Recalls(t *testing.T) {
	t.Parallel()
	o := &fakeMemory{answers: []memory.Memory{remembered("m1", "I prefer React over Vue.")}}
	b := newRecalling(t, o, nil)
	b.stepped(t, "c", func(r *engine.StepRequest) { r.Build.DryRun = true }, user(framework))
	if n := o.questions(); n != 0 {
		t.Fatalf("a dry run asked %d times", n)
	}
	r := b.stepped(t, "c", nil, user(noise(1, 40_000)), answer("?"), user(framework))
	if !strings.Contains(string(r.MessagesJSON), "I prefer React") || o.questions() != 1 || o.asked[0].Text != framework {
		t.Errorf("asked %+v: %.100s", o.asked, r.MessagesJSON)
	}
	b.wantNothingStaged(t, "a recall")
}

// TestEngine_Step_WaitsForNoModel: where a summary would be waited for, the sidecar's own extract is used, and the answer says so.
func TestEngine_Step_WaitsForNoModel(t *testing.T) {
	t.Parallel()
	m := writes("a summary", 3*time.Second)
	service := summarize.New(summarize.Options{Providers: map[string]summarize.Model{"m": m}, Models: []string{"m/x"}})
	t.Cleanup(service.Close)
	b := newBenchWith(storemem.New(storemem.Options{}), func(o *engine.Options) {
		o.Summaries, o.CacheBytes = service, 1<<24
		o.Defaults = conversation.Policy{MaxWait: ptr(time.Hour)}
	})
	t.Cleanup(b.Close)
	var messages []conversation.Message
	for i := range 60 {
		messages = append(messages, user(fmt.Sprint("question ", i, " ", words(100))), answer(words(60)))
	}
	within := func(r *engine.StepRequest) { r.Build.Budget = budgetOf(4000) }
	b.append(t, "c", messages...)
	r := b.stepped(t, "c", within, user("go on"))
	summarized := slices.ContainsFunc(r.Events, func(e conversation.Event) bool { return e.Type == conversation.EventSummarized })
	notReady := slices.ContainsFunc(r.Degradations, func(d engine.Degradation) bool { return strings.Contains(d.Reason, "not ready in time") })
	if !summarized || !notReady {
		t.Errorf("summarized %v, degradations %+v", summarized, r.Degradations)
	}
}

// TestEngine_Step_RetryOnAFailingStore_IsSaidSo: if any read fails, the retry is an error, and not an empty answer.
func TestEngine_Step_RetryOnAFailingStore_IsSaidSo(t *testing.T) {
	f := newFaulty()
	b := newBenchOn(f, 0)
	as := func(r *engine.StepRequest) { r.Build.Request = request("BuildContext", "r", "x") }
	first := b.stepped(t, "c", as, user("x"))
	for fail := 1; ; fail++ {
		reads := 0
		f.read = func(store.Query) error {
			if reads++; reads == fail {
				return store.ErrUnavailable
			}
			return nil
		}
		r, err := b.stepWith("c", as, user("x"))
		if reads >= fail {
			expect(t, err, conversation.StoreUnavailable)
			continue
		}
		if err != nil || !r.Duplicate || r.SHA256 != first.SHA256 || fail < 3 {
			t.Errorf("after %d reads: %+v, %v", reads, r, err)
		}
		return
	}
}
