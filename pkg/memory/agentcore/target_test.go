package agentcore_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/memory/agentcore"
	"github.com/palimpsest-context/palimpsest/pkg/memory/agentcore/agentcoretest"
)

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// list reads all of anna's memories.
func list(t *testing.T, target *agentcore.Target) (texts []string) {
	t.Helper()
	page := &memory.Page{Limit: 50, Now: at(0)}
	for {
		l := must[memory.Listing](t)(target.List(t.Context(), anna(), page))
		for i := range l.Memories {
			texts = append(texts, l.Memories[i].Text)
		}
		if page.Token = l.Next; page.Token == "" {
			return texts
		}
	}
}

func TestTarget_Limits_AreTheServices(t *testing.T) {
	t.Parallel()
	l := open(t, agentcoretest.Start(t, agentcoretest.Options{}), func(o *agentcore.Options) { o.Interval = 0 }).Limits()
	if l.MaxMessages != 100 || l.MaxChars != 100_000 || l.MaxNote != 16_000 || l.Interval != 4*time.Second || !l.Idempotent || !l.Async || l.ReturnsIDs {
		t.Errorf("%+v", l)
	}
}

func TestTarget_Largest_IsWhatTheModelTakes(t *testing.T) {
	t.Parallel()
	server := agentcoretest.Start(t, agentcoretest.Options{Model: agentcoretest.StartModel(t)})
	target := open(t, server)
	long := batch(strings.Repeat("ü", 250), strings.Repeat("s", 100), strings.Repeat("k", 64), 0, strings.Repeat("é", 100_001))
	long.Scope = memory.Scope{Namespace: strings.Repeat("n", 100), Kind: memory.ScopeSession, ID: strings.Repeat("i", 100)}
	for _, infer := range []bool{true, false} {
		long.Infer = infer
		must[memory.Receipt](t)(target.Add(t.Context(), long))
	}
	n := note("k", strings.Repeat("é", 16_000))
	n.Metadata, n.ExpireTime = strings.Repeat("x", 2300), at(1)
	must[string](t)(target.Put(t.Context(), long.Scope, n))
	if found := must[[]memory.Memory](t)(target.Search(t.Context(), long.Scope, query(strings.Repeat("é ", 6_000)))); len(found) != 0 {
		t.Error("nobody said that")
	}
	n.Metadata = strings.Repeat("x", 3000)
	if _, err := target.Put(t.Context(), anna(), n); !errors.Is(err, memory.ErrRefused) {
		t.Errorf("metadata for which there is no room: %v", err)
	}
	calls := len(server.Calls())
	if _, err := target.Add(t.Context(), batch("talk", "1", "k", 0, make([]string, 101)...)); !errors.Is(err, memory.ErrRefused) {
		t.Errorf("101 messages: %v", err)
	}
	if len(server.Calls()) != calls {
		t.Error("101 messages were sent")
	}
}

func TestTarget_Add_TheSameKeyOfAnotherScope_IsAnotherBatch(t *testing.T) {
	t.Parallel()
	server := agentcoretest.Start(t, agentcoretest.Options{})
	target := open(t, server)
	b := batch("talk", "1", "k", 0, "I am allergic to walnuts.")
	for range 2 {
		must[memory.Receipt](t)(target.Add(t.Context(), b))
	}
	b.Scope.ID = "bert"
	must[memory.Receipt](t)(target.Add(t.Context(), b))
	if events, _, _ := server.Holds(""); events != 2 {
		t.Errorf("%d events of two scopes", events)
	}
}

func TestTarget_Add_OverTheRate_IsUnavailable(t *testing.T) {
	t.Parallel()
	target := open(t, agentcoretest.Start(t, agentcoretest.Options{Rate: time.Hour}))
	must[memory.Receipt](t)(target.Add(t.Context(), batch("talk", "1", "a", 0, canary)))
	if _, err := target.Add(t.Context(), batch("talk", "1", "b", 1, canary)); !errors.Is(err, memory.ErrUnavailable) {
		t.Error(err)
	}
	must[memory.Receipt](t)(target.Add(t.Context(), batch("talk", "2", "c", 2, canary)))
}

func TestTarget_Settle_KnowsWhatIsThere(t *testing.T) {
	t.Parallel()
	target := open(t, agentcoretest.Start(t, agentcoretest.Options{}))
	for _, infer := range []bool{true, false} {
		b := batch("talk", "1", fmt.Sprint("k", infer), 0, canary)
		b.Infer = infer
		if _, err := target.Settle(t.Context(), b); !errors.Is(err, memory.ErrNotFound) {
			t.Errorf("before: %v", err)
		}
		must[memory.Receipt](t)(target.Add(t.Context(), b))
		if r, err := target.Settle(t.Context(), b); err != nil || r.Pending {
			t.Errorf("after: %+v, %v", r, err)
		}
	}
}

func TestTarget_Put_AKnownTokenWithoutAnAnswer_FindsTheNote(t *testing.T) {
	t.Parallel()
	server := agentcoretest.Start(t, agentcoretest.Options{})
	target := open(t, server)
	for i := range 30 {
		must[string](t)(target.Put(t.Context(), anna(), note(fmt.Sprint("k", i), canary)))
	}
	want := must[string](t)(target.Put(t.Context(), anna(), note("mine", canary)))
	server.Next(agentcoretest.Fault{Body: `{"successfulRecords":[],"failedRecords":[]}`})
	if got := must[string](t)(target.Put(t.Context(), anna(), note("mine", canary))); got != want {
		t.Errorf("%s is not %s", got, want)
	}
	server.Next(agentcoretest.Fault{Body: `{"successfulRecords":[],"failedRecords":[]}`})
	if _, err := target.Put(t.Context(), anna(), note("another", canary)); !errors.Is(err, memory.ErrUnavailable) {
		t.Errorf("a note that is not there: %v", err)
	}
}

func TestTarget_Search_FillsItsLimitOverPages(t *testing.T) {
	t.Parallel()
	target := open(t, agentcoretest.Start(t, agentcoretest.Options{}))
	for i := range 70 {
		n := note(fmt.Sprint("k", i), fmt.Sprint("Oven number ", i))
		if i < 30 {
			n.ExpireTime = at(0)
		}
		must[string](t)(target.Put(t.Context(), anna(), n))
	}
	for limit, want := range map[int]int{1: 1, 35: 35, 100: 40} {
		q := query("oven number")
		q.Limit = limit
		if got := must[[]memory.Memory](t)(target.Search(t.Context(), anna(), q)); len(got) != want {
			t.Errorf("%d of at most %d", len(got), limit)
		}
	}
	if got := must[[]memory.Memory](t)(target.Search(t.Context(), anna(), query(""))); len(got) != 0 {
		t.Error("nothing finds something")
	}
}

func TestTarget_Search_ASessionsFacts_AreLeftOutForTheirConversation(t *testing.T) {
	t.Parallel()
	server := agentcoretest.Start(t, agentcoretest.Options{Namespace: withSessions})
	target := open(t, server, func(o *agentcore.Options) { o.Namespace = withSessions })
	must[memory.Receipt](t)(target.Add(t.Context(), batch("this", "1", "a", 0, "I am allergic to walnuts.")))
	must[memory.Receipt](t)(target.Add(t.Context(), batch("that", "1", "b", 0, "The walnuts are in oven four.")))
	q := query(canary)
	q.Except = "this"
	got := must[[]memory.Memory](t)(target.Search(t.Context(), anna(), q))
	if len(got) != 1 || got[0].Text != "The walnuts are in oven four." || got[0].Kind != memory.Fact {
		t.Errorf("%+v", got)
	}
}

// whole is all of a conversation.
func whole(name string) *memory.Retraction {
	return &memory.Retraction{Conversation: name, Incarnation: conversation.ID{7}, Range: conversation.Range{End: 1 << 30}}
}

// part is messages of the conversation "talk".
func part(first, end int32) *memory.Retraction {
	r := whole("talk")
	r.Range = conversation.Range{First: first, End: end}
	return r
}

func repeat(t *testing.T, call func(context.Context) (memory.Forgetting, error)) (all memory.Forgetting) {
	t.Helper()
	for range 100 {
		f := must[memory.Forgetting](t)(call(t.Context()))
		all.Deleted, all.Residue = all.Deleted+f.Deleted, f.Residue
		if !f.More {
			return all
		}
	}
	t.Fatal("it never ends")
	return all
}

func TestTarget_Retract_BySessions(t *testing.T) {
	t.Parallel()
	const first, second, third, foreign = "I am allergic to walnuts.", "My car is a Saab.", "We moved to Utrecht.", "I prefer React over Vue."
	for name, test := range map[string]struct {
		namespace string
		r         *memory.Retraction
		gone      []string
		events    int
		residue   bool
	}{
		"all of it":                     {withSessions, whole("talk"), []string{first, second, third}, 1, false},
		"all of another":                {withSessions, whole("another"), nil, 4, false},
		"a session":                     {withSessions, part(4, 9), []string{third}, 3, false},
		"a session and a part":          {withSessions, part(2, 9), []string{third}, 2, true},
		"a part of an event":            {withSessions, part(3, 4), nil, 3, true},
		"nothing that was said":         {withSessions, part(9, 12), nil, 4, false},
		"without facts":                 {withSessions, &memory.Retraction{Conversation: "talk", Incarnation: conversation.ID{7}, Range: conversation.Range{End: 9}, KeepFacts: true}, nil, 1, false},
		"without sessions in the space": {agentcore.DefaultNamespace, whole("talk"), nil, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := agentcoretest.Start(t, agentcoretest.Options{Namespace: test.namespace})
			target := open(t, server, func(o *agentcore.Options) { o.Namespace = test.namespace })
			for i, b := range []*memory.Batch{
				batch("talk", "1", "a", 0, first, "ok"), batch("talk", "1", "b", 2, second, "ok"), batch("talk", "2", "c", 4, third),
				batch("other", "1", "d", 0, foreign),
			} {
				b.Key += fmt.Sprint(i)
				must[memory.Receipt](t)(target.Add(t.Context(), b))
			}
			all := repeat(t, func(ctx context.Context) (memory.Forgetting, error) { return target.Retract(ctx, anna(), test.r) })
			want := slices.DeleteFunc([]string{first, second, third, foreign}, func(s string) bool { return slices.Contains(test.gone, s) })
			if got := list(t, target); !slices.Equal(got, want) {
				t.Errorf("there is %q", got)
			}
			if events, _, _ := server.Holds(""); events != test.events || test.residue != (len(all.Residue) > 0) {
				t.Errorf("%d events, residue %q", events, all.Residue)
			}
		})
	}
}

func TestTarget_Retract_ASessionOfMoreFactsThanGoAtOnce(t *testing.T) {
	t.Parallel()
	server := agentcoretest.Start(t, agentcoretest.Options{Namespace: withSessions})
	target := open(t, server, func(o *agentcore.Options) { o.Namespace = withSessions })
	must[memory.Receipt](t)(target.Add(t.Context(), batch("talk", "1", "a", 0, "I am allergic to walnuts.")))
	var texts []string
	for i := range 100 {
		texts = append(texts, fmt.Sprintf("My locker is number %d. My oven is number %d.", i, i))
	}
	must[memory.Receipt](t)(target.Add(t.Context(), batch("talk", "2", "b", 1, texts...)))
	all := repeat(t, func(ctx context.Context) (memory.Forgetting, error) { return target.Retract(ctx, anna(), part(1, 101)) })
	if got := list(t, target); len(got) != 1 || all.Deleted != 201 || len(all.Residue) != 0 {
		t.Errorf("%d are left after %+v", len(got), all)
	}
}

func TestTarget_Retract_WhatIsKeptAsItIs_GoesByMessage(t *testing.T) {
	t.Parallel()
	target := open(t, agentcoretest.Start(t, agentcoretest.Options{}))
	kept := batch("a talk/1", "1", "a", 3, "zero", "one", "two")
	kept.Infer = false
	must[memory.Receipt](t)(target.Add(t.Context(), kept))
	must[string](t)(target.Put(t.Context(), anna(), note("n", "note")))
	r := whole("a talk/1")
	r.Range, r.KeepFacts = conversation.Range{First: 4, End: 5}, true
	f := must[memory.Forgetting](t)(target.Retract(t.Context(), anna(), r))
	if got := list(t, target); !slices.Equal(got, []string{"zero", "two", "note"}) || f.Deleted != 1 || len(f.Residue) != 0 {
		t.Errorf("there is %q after %+v", got, f)
	}
	l := must[memory.Listing](t)(target.List(t.Context(), anna(), &memory.Page{Limit: 1, Kinds: []memory.Kind{memory.Said}}))
	want := memory.Source{Conversation: "a talk/1", Incarnation: conversation.ID{7}, First: 3, Last: 3, Time: at(0)}
	if m := l.Memories[0]; len(m.Sources) != 1 || m.Sources[0] != want || m.SaidBy != "user" {
		t.Errorf("%+v", m)
	}
}

func TestTarget_Retract_WhatIsDrawnLate_GoesTheNextTime(t *testing.T) {
	t.Parallel()
	server := agentcoretest.Start(t, agentcoretest.Options{Namespace: withSessions, Extraction: 100 * time.Millisecond})
	target := open(t, server, func(o *agentcore.Options) { o.Namespace = withSessions })
	must[memory.Receipt](t)(target.Add(t.Context(), batch("talk", "1", "a", 0, "I am allergic to walnuts.")))
	retract := func(ctx context.Context) (memory.Forgetting, error) {
		return target.Retract(ctx, anna(), whole("talk"))
	}
	repeat(t, retract)
	for len(list(t, target)) == 0 {
		time.Sleep(10 * time.Millisecond)
	}
	repeat(t, retract)
	if _, _, found := server.Holds(canary); found {
		t.Error("it is still there")
	}
}

func TestTarget_Forget_MoreThanGoesAtOnce(t *testing.T) {
	t.Parallel()
	server := agentcoretest.Start(t, agentcoretest.Options{})
	target := open(t, server)
	for i := range 130 {
		must[memory.Receipt](t)(target.Add(t.Context(), batch("talk", fmt.Sprint(i%110), fmt.Sprint("k", i), int32(i), fmt.Sprintf("My locker is number %d.", i))))
	}
	kept := batch("talk", "1", "kept", 0, slices.Repeat([]string{canary}, 100)...)
	kept.Infer = false
	must[memory.Receipt](t)(target.Add(t.Context(), kept))
	kept.Scope.ID = "bert"
	must[memory.Receipt](t)(target.Add(t.Context(), kept))
	first := must[memory.Forgetting](t)(target.Forget(t.Context(), anna(), time.Now()))
	if !first.More || first.Deleted != 200 {
		t.Errorf("at once: %+v", first)
	}
	repeat(t, func(ctx context.Context) (memory.Forgetting, error) { return target.Forget(ctx, anna(), time.Now()) })
	if events, records, _ := server.Holds(""); events != 0 || records != 100 {
		t.Errorf("%d events and %d records are left, and bert has 100", events, records)
	}
}

func TestTarget_Forget_AnswersThatAreLost_AreMadeUpFor(t *testing.T) {
	t.Parallel()
	server := agentcoretest.Start(t, agentcoretest.Options{})
	target := open(t, server)
	must[memory.Receipt](t)(target.Add(t.Context(), batch("talk", "1", "a", 0, "I am allergic to walnuts.")))
	// Sessions, events, records, the event; then, without sessions, the records that go.
	for _, before := range []int{0, 1, 2, 3, 2} {
		server.Next(append(make([]agentcoretest.Fault, before), agentcoretest.Fault{Lose: true})...)
		if f, err := target.Forget(t.Context(), anna(), time.Now()); !errors.Is(err, memory.ErrUnavailable) && !errors.Is(err, memory.ErrOutcomeUnknown) {
			t.Errorf("without answer %d: %+v, %v", before, f, err)
		}
	}
	repeat(t, func(ctx context.Context) (memory.Forgetting, error) { return target.Forget(ctx, anna(), time.Now()) })
	if events, records, found := server.Holds(canary); events+records != 0 || found {
		t.Errorf("%d events, %d records", events, records)
	}
}

func TestTarget_AServiceThatMatchesPrefixes_ShowsNobodyAnothersMemories(t *testing.T) {
	t.Parallel()
	server := agentcoretest.Start(t, agentcoretest.Options{Prefixes: true})
	target := open(t, server)
	anna2 := anna()
	anna2.ID = "anna2"
	must[string](t)(target.Put(t.Context(), anna2, note("k", "The walnuts are in oven two.")))
	must[string](t)(target.Put(t.Context(), anna(), note("k", "The walnuts are in oven one.")))
	if got := list(t, target); !slices.Equal(got, []string{"The walnuts are in oven one."}) {
		t.Errorf("listed: %q", got)
	}
	if got := must[[]memory.Memory](t)(target.Search(t.Context(), anna(), query(canary))); len(got) != 1 || got[0].Text != "The walnuts are in oven one." {
		t.Errorf("found: %+v", got)
	}
	repeat(t, func(ctx context.Context) (memory.Forgetting, error) { return target.Forget(ctx, anna(), time.Now()) })
	if _, records, found := server.Holds("oven two"); records != 1 || !found {
		t.Error("forgetting anna forgot anna2")
	}
}

func TestTarget_Forget_WhatAnotherForgotMeanwhile_IsForgotten(t *testing.T) {
	t.Parallel()
	server := agentcoretest.Start(t, agentcoretest.Options{})
	target := open(t, server)
	must[memory.Receipt](t)(target.Add(t.Context(), batch("talk", "1", "a", 0, "I am allergic to walnuts.")))
	server.Next(agentcoretest.Fault{}, agentcoretest.Fault{}, agentcoretest.Fault{}, agentcoretest.Fault{Status: 404, Code: "ResourceNotFoundException"})
	if f := must[memory.Forgetting](t)(target.Forget(t.Context(), anna(), time.Now())); f.Deleted != 2 {
		t.Errorf("%+v", f)
	}
}
