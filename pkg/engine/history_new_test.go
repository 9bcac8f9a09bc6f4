package engine_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/provider/openaichat"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/memory"
	stored "github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// newOn is a bench on a store that reads Chat's JSON.
func newOn(s store.Store, change func(*engine.Options)) *bench {
	return newBenchWith(s, func(o *engine.Options) {
		o.Readers = []provider.Reader{openaichat.NewReader()}
		if change != nil {
			change(o)
		}
	})
}

// anew sends a list that may begin another conversation.
func (b *bench) anew(t testing.TB, id, requestID string, texts ...string) (*engine.AppendResult, error) {
	t.Helper()
	h := b.historyOf(t, conversation.FormatOpenAIChat, chatList(texts...), 0, "")
	h.Divergence = engine.DivergenceNew
	r := engine.AppendRequest{Key: keyOf(id), History: h}
	if requestID != "" {
		r.Request = request("AppendMessage", requestID, fmt.Sprint(texts))
	}
	return b.Append(ctx, r)
}

func (b *bench) begun(t testing.TB, id, requestID string, texts ...string) *engine.AppendResult {
	t.Helper()
	r, err := b.anew(t, id, requestID, texts...)
	if err != nil {
		t.Fatalf("%v (%v)", err, causeOf(err))
	}
	return r
}

// says requires the given texts in a conversation.
func (b *bench) says(t testing.TB, id string, texts ...string) {
	t.Helper()
	var got []string
	for _, m := range b.records(t, id) {
		got = append(got, m.Parts[0].Text.Inline)
	}
	if !slices.Equal(got, texts) {
		t.Errorf("%s says %q, want %q", id, got, texts)
	}
}

func (b *bench) conversations(t testing.TB) (ids []string) {
	t.Helper()
	r, err := b.List(ctx, engine.ListRequest{Namespace: "default", Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Conversations {
		ids = append(ids, c.ID)
	}
	return ids
}

// TestEngine_AppendHistory_New_BeginsAnother: a list whose first message was edited leaves the record as it is. A later call with either
// list finds its conversation by the old id, also after a restart.
func TestEngine_AppendHistory_New_BeginsAnother(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, s store.Store) {
		b := newOn(s, nil)
		if r := b.begun(t, "c", "", "hi", "hello", "and?"); r.History.Conversation != "c" {
			t.Fatalf("%+v", r.History)
		}
		before := fmt.Sprint(b.head(t, "c"))
		second := b.begun(t, "c", "", "hello!")
		id := second.History.Conversation
		if id == "c" || len(second.Messages) != 1 || second.Messages[0].Index != 0 || fmt.Sprint(b.head(t, "c")) != before {
			t.Fatalf("%+v, %d messages", second.History, len(second.Messages))
		}
		if c, err := b.Get(ctx, keyOf(id)); err != nil || c.Info.Continues != "c" {
			t.Fatalf("%v, %+v", err, c)
		}
		restarted := newOn(s, nil)
		if r := restarted.begun(t, "c", "", "hello!", "yes", "more"); r.History.Conversation != id || r.History.Matched != 1 {
			t.Errorf("a later list: %+v", r.History)
		}
		if r := restarted.begun(t, "c", "", "hello!", "no"); r.History.Conversation != id || r.History.Rewound.Len() != 2 {
			t.Errorf("an edit of it: %+v", r.History)
		}
		if r := restarted.begun(t, "c", "", "hi", "hello", "so"); r.History.Conversation != "c" || r.History.Rewound.Len() != 1 {
			t.Errorf("the old one's list: %+v", r.History)
		}
		third := restarted.begun(t, id, "", "good day").History.Conversation
		if r := restarted.begun(t, "c", "", "good day", "to you"); r.History.Conversation != third || third == id {
			t.Errorf("the third: %+v, not %s", r.History, third)
		}
		fourth := restarted.begun(t, "c", "", "ahoy").History.Conversation
		if got := restarted.conversations(t); len(got) != 4 || !slices.Contains(got, fourth) {
			t.Errorf("conversations %q", got)
		}
		restarted.says(t, third, "good day", "to you")
		restarted.says(t, "c", "hi", "hello", "and?", "so")
	})
}

func TestEngine_AppendHistory_New_RefusesWhatBeginsNothing(t *testing.T) {
	t.Parallel()
	b := newOn(memory.New(memory.Options{}), nil)
	known := b.begun(t, "c", "", "a", "b", "a", "b").History
	_, err := b.anew(t, "c", "")
	expect(t, err, conversation.HistoryDiverged)
	h := b.historyOf(t, conversation.FormatOpenAIChat, chatList("x", "y", "z"), 2, known.KnownSHA256)
	h.Divergence = engine.DivergenceNew
	_, err = b.Append(ctx, engine.AppendRequest{Key: keyOf("c"), History: h})
	expect(t, err, conversation.HistoryPrefixUnknown)
	if got := b.conversations(t); len(got) != 1 {
		t.Errorf("conversations %q", got)
	}
}

// TestEngine_AppendHistory_New_Tail: a prefix that the new conversation knows is found through the old id.
func TestEngine_AppendHistory_New_Tail(t *testing.T) {
	t.Parallel()
	b := newOn(memory.New(memory.Options{}), nil)
	b.begun(t, "c", "", "hi")
	known := b.begun(t, "c", "", "ho", "yes").History
	h := b.historyOf(t, conversation.FormatOpenAIChat, chatList("ho", "yes", "go"), 2, known.KnownSHA256)
	h.Divergence = engine.DivergenceNew
	r, err := b.Append(ctx, engine.AppendRequest{Key: keyOf("c"), History: h})
	if err != nil || r.History.Conversation != known.Conversation || len(r.Messages) != 1 {
		t.Errorf("%v, %+v", err, r)
	}
}

// TestEngine_AppendHistory_New_StoreFailsAnywhere: any failure leaves nothing behind, or a conversation that the retry finds.
func TestEngine_AppendHistory_New_StoreFailsAnywhere(t *testing.T) {
	t.Parallel()
	for failing := 1; failing <= 2; failing++ {
		for _, stands := range []bool{false, true} {
			f := newFaulty()
			b := newOn(f, nil)
			b.begun(t, "c", "", "hi")
			n := 0
			f.commit = func(key store.Key, c *store.Change) error {
				if n++; n != failing {
					return nil
				}
				if stands {
					if err := f.Store.Commit(ctx, key, c); err != nil {
						t.Fatal(err)
					}
				}
				return store.ErrOutcomeUnknown
			}
			_, err := b.anew(t, "c", "r", "ho")
			expect(t, err, conversation.OutcomeUnknown)
			f.commit = nil
			restarted := newOn(f, nil)
			r := restarted.begun(t, "c", "r", "ho")
			if again := restarted.begun(t, "c", "r", "ho"); !again.Duplicate || again.History.Conversation != r.History.Conversation {
				t.Errorf("commit %d, stands %v: %+v", failing, stands, again.History)
			}
			if r.Duplicate != (failing == 2 && stands) {
				t.Errorf("commit %d, stands %v: duplicate %v", failing, stands, r.Duplicate)
			}
			if got := restarted.conversations(t); len(got) != 2 {
				t.Errorf("commit %d, stands %v: conversations %q", failing, stands, got)
			}
			restarted.says(t, r.History.Conversation, "ho")
			if late := restarted.begun(t, "c", "", "ho", "yes"); late.History.Conversation != r.History.Conversation {
				t.Errorf("a later list: %+v", late.History)
			}
		}
	}
}

// TestEngine_Step_New_StoreFailsAnywhere: the same holds for steps, and for failing reads.
func TestEngine_Step_New_StoreFailsAnywhere(t *testing.T) {
	t.Parallel()
	for failing := range 30 {
		for _, reads := range []bool{false, true} {
			f := newFaulty()
			b := newOn(f, nil)
			b.begun(t, "c", "", "hi")
			b.begun(t, "c", "", "he")
			n, failed := 0, false
			fail := func() error {
				if n++; n == failing+1 {
					failed = true
					return store.ErrUnavailable
				}
				return nil
			}
			if reads {
				f.read = func(store.Query) error { return fail() }
			} else {
				f.commit = func(store.Key, *store.Change) error { return fail() }
			}
			step := engine.StepRequest{Build: buildRequest("c", conversation.FormatOpenAIChat, 1000)}
			step.Build.Request = request("BuildContext", "r", "x")
			step.Append.History = b.historyOf(t, conversation.FormatOpenAIChat, chatList("ho"), 0, "")
			step.Append.History.Divergence = engine.DivergenceNew
			if _, err := b.Step(ctx, step); failed != (err != nil) {
				t.Fatalf("call %d, reads %v: %v", failing, reads, err)
			}
			f.read, f.commit = nil, nil
			restarted := newOn(f, nil)
			r, err := restarted.Step(ctx, step)
			if err != nil || r.Turn != 1 || r.Appended.History.Conversation == "c" {
				t.Fatalf("call %d, reads %v: %v", failing, reads, err)
			}
			if got := restarted.conversations(t); len(got) != 3 {
				t.Errorf("call %d, reads %v: conversations %q", failing, reads, got)
			}
			restarted.says(t, "c", "hi")
		}
	}
}

func TestEngine_Step_New_BuildsTheOther(t *testing.T) {
	t.Parallel()
	f := newFaulty()
	b := newOn(f, nil)
	b.begun(t, "c", "", "hi")
	step := engine.StepRequest{Build: buildRequest("c", conversation.FormatOpenAIChat, 1000)}
	step.Append.History = b.historyOf(t, conversation.FormatOpenAIChat, chatList("ho"), 0, "")
	step.Append.History.Divergence = engine.DivergenceNew
	step.Build.DryRun = true
	f.commits = 0
	if r, err := b.Step(ctx, step); err != nil || string(r.MessagesJSON) != `[{"role":"user","content":"ho"}]` || f.commits != 0 {
		t.Fatalf("a dry run: %v, %d commits", err, f.commits)
	}
	step.Build.DryRun, step.Build.Request = false, request("BuildContext", "r", "x")
	r, err := b.Step(ctx, step)
	if err != nil || string(r.MessagesJSON) != `[{"role":"user","content":"ho"}]` || r.Turn != 1 || f.commits != 2 {
		t.Fatalf("%v, %+v", err, r)
	}
	again, err := b.Step(ctx, step)
	if err != nil || !again.Duplicate || again.Appended.History.Conversation != r.Appended.History.Conversation || f.commits != 2 {
		t.Errorf("a retry: %v, %+v", err, again)
	}
	step.Append.History = b.historyOf(t, conversation.FormatOpenAIChat, chatList(words(5000)), 0, "")
	step.Append.History.Divergence = engine.DivergenceNew
	step.Build.Request = engine.Request{}
	_, err = b.Step(ctx, step)
	expect(t, err, conversation.ContextCannotFit)
	var told *conversation.Error
	if !errors.As(err, &told) || !told.NothingAppended {
		t.Errorf("%v", err)
	}
	if got := b.conversations(t); len(got) != 2 {
		t.Errorf("conversations %q", got)
	}
}

// TestEngine_AppendHistory_New_HasWhatIsSetOfTheOld: it has the owner, the settings and the limits of the old one.
func TestEngine_AppendHistory_New_HasWhatIsSetOfTheOld(t *testing.T) {
	t.Parallel()
	l := newLimited(memory.New(memory.Options{}), engine.Quota{Conversations: 2}, func(o *engine.Options) { o.Readers = []provider.Reader{openaichat.NewReader()} })
	info := engine.Info{ActorID: "ann", AgentID: "bot", Title: "a title", Metadata: `{"k":1}`, Counter: "chars4"}
	info.Policy.Fit.MaxContextTokens = ptr(int32(777))
	if _, err := l.Create(ctx, engine.CreateRequest{Key: keyOf("c"), Info: info}); err != nil {
		t.Fatal(err)
	}
	l.begun(t, "c", "", "hi")
	id := l.begun(t, "c", "", "ho").History.Conversation
	got, err := l.Get(ctx, keyOf(id))
	info.Continues = "c"
	if err != nil || got.Info.Policy.Hash() != info.Policy.Hash() {
		t.Fatalf("%v, %+v", err, got)
	}
	if got.Info.Policy = info.Policy; fmt.Sprint(got.Info) != fmt.Sprint(info) || got.Head.ActorID != "ann" {
		t.Errorf("%+v, want %+v", got.Info, info)
	}
	if _, err := l.Update(ctx, engine.UpdateRequest{Key: keyOf(id), Change: func(i store.Info) (store.Info, error) { i.Title = "other"; return i, nil }}); err != nil {
		t.Fatal(err)
	}
	if r := l.begun(t, "c", "", "ho", "yes"); r.History.Conversation != id {
		t.Errorf("with another title: %+v", r.History)
	}
	_, err = l.anew(t, "c", "", "third")
	expect(t, err, conversation.QuotaExceeded)
	if _, err := l.Append(engine.SpeakingFor(ctx, []string{"bea"}), engine.AppendRequest{Key: keyOf(id), Messages: []conversation.Message{user("x")}}); err == nil {
		t.Error("another actor wrote")
	}
}

// TestEngine_AppendHistory_New_Deleted: each can be deleted without the other.
func TestEngine_AppendHistory_New_Deleted(t *testing.T) {
	t.Parallel()
	b := newOn(memory.New(memory.Options{}), nil)
	b.begun(t, "c", "", "hi")
	second := b.begun(t, "c", "", "ho").History.Conversation
	if _, err := b.Delete(ctx, keyOf(second), engine.Request{}); err != nil {
		t.Fatal(err)
	}
	third := b.begun(t, "c", "", "ho", "again").History.Conversation
	if third == second || third == "c" {
		t.Fatalf("a list goes on in %s", third)
	}
	if _, err := b.Create(ctx, engine.CreateRequest{Key: keyOf(second)}); err != nil {
		t.Fatal(err)
	}
	b.append(t, second, user("oh"))
	if got := b.begun(t, "c", "", "oh").History.Conversation; got == second {
		t.Error("another conversation with the name of a deleted one is gone on with")
	}
	if _, err := b.Delete(ctx, keyOf("c"), engine.Request{}); err != nil {
		t.Fatal(err)
	}
	if got := b.begun(t, third, "", "ho", "again", "and").History.Conversation; got != third {
		t.Errorf("it goes on in %s", got)
	}
	_, err := b.anew(t, "c", "", "ho")
	expect(t, err, conversation.ConversationDeleted)
}

func TestEngine_AppendHistory_New_Exported(t *testing.T) {
	t.Parallel()
	b, to := newOn(memory.New(memory.Options{}), nil), newOn(memory.New(memory.Options{}), nil)
	b.begun(t, "c", "", "hi")
	id := b.begun(t, "c", "", "ho").History.Conversation
	for _, each := range []string{"c", id} {
		if _, err := to.imports(each, b.export(t, each)); err != nil {
			t.Fatal(err)
		}
	}
	hostile := b.export(t, id)
	hostile[0].Conversation.Info.Continues = strings.Repeat("c", 300)
	_, err := to.imports("hostile", hostile)
	expect(t, err, conversation.InvalidField)
	hostile = b.export(t, "c")
	hostile[1].State.Slots["successors"] = stored.EncodeSuccessors([]stored.Successor{{Conversation: "c\n"}}, nil)
	_, err = to.imports("hostile", hostile)
	expect(t, err, conversation.InvalidField)
	if r := to.begun(t, "c", "", "ho", "yes"); r.History.Conversation != id {
		t.Errorf("%+v", r.History)
	}
	if got := to.conversations(t); len(got) != 2 {
		t.Errorf("conversations %q", got)
	}
}

// TestEngine_AppendHistory_New_ManyAtOnce: equal lists begin a single conversation, however many come at once, and the old one remembers a
// bounded number.
func TestEngine_AppendHistory_New_ManyAtOnce(t *testing.T) {
	t.Parallel()
	b := newOn(memory.New(memory.Options{}), nil)
	b.begun(t, "c", "", "hi")
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() {
			if _, err := b.anew(t, "c", "", fmt.Sprint("edit ", i%3)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := b.conversations(t); len(got) != 4 {
		t.Errorf("conversations %q", got)
	}
	var last string
	for i := range 40 {
		last = b.begun(t, "c", "", fmt.Sprint("another ", i)).History.Conversation
	}
	if got := b.begun(t, "c", "", "another 39", "yes").History.Conversation; got != last {
		t.Errorf("the last is not found: %s, not %s", got, last)
	}
	snap, err := b.store.Read(ctx, keyOf("c"), store.Query{Slots: []string{"successors"}})
	if n := len(snap.Slots["successors"]); err != nil || n == 0 || n > 32*40 {
		t.Errorf("%v, %d bytes of names", err, n)
	}
}

// TestEngine_AppendHistory_New_LongName: names do not exceed the length limit.
func TestEngine_AppendHistory_New_LongName(t *testing.T) {
	t.Parallel()
	b := newOn(memory.New(memory.Options{}), nil)
	long := ""
	for len(long) < store.MaxName {
		long += "é"
	}
	b.begun(t, long, "", "hi")
	id := b.begun(t, long, "", "ho").History.Conversation
	if len(id) > store.MaxName || b.begun(t, id, "", "he").History.Conversation == id {
		t.Errorf("%d bytes", len(id))
	}
}
