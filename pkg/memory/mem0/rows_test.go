package mem0_test

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/memory/mem0"
	"github.com/palimpsest-context/palimpsest/pkg/memory/mem0/mem0test"
)

func list(t *testing.T, tg *mem0.Target) []memory.Memory {
	t.Helper()
	l, err := tg.List(t.Context(), anna(), &memory.Page{Limit: 50})
	if err != nil {
		t.Fatal(err)
	}
	return l.Memories
}

func texts(memories []memory.Memory) (out []string) {
	for i := range memories {
		out = append(out, memories[i].Text)
	}
	slices.Sort(out)
	return out
}

// What a service shows that is not the scope's, or not ours, is neither shown nor deleted.
func TestTarget_ForeignRows_AreLeftOut(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, f *fake, o mem0.Options) {
		tg := target(t, o)
		id, err := tg.Put(t.Context(), anna(), &memory.Note{Key: "k", Text: bees})
		if err != nil {
			t.Fatal(err)
		}
		right := f.rows[0]
		for name, change := range map[string]func(s *stored){
			"no metadata":       func(s *stored) { s.metadata = nil },
			"no mark":           func(s *stored) { delete(s.metadata, "palimpsest") },
			"another scope":     func(s *stored) { s.metadata["palimpsest"] = "org" },
			"another kind":      func(s *stored) { s.metadata["kind"] = "system" },
			"metadata of texts": func(s *stored) { s.metadata["first"] = "one" },
			"two ids":           func(s *stored) { s.agent = "space:anna" },
			"no UUID":           func(s *stored) { s.id = "../../v1/memories" },
		} {
			wrong := *right
			wrong.metadata = maps.Clone(right.metadata)
			change(&wrong)
			f.rows = []*stored{&wrong}
			if name == "no UUID" && o.Kind == mem0.Platform {
				continue // its document promises them
			}
			if all := list(t, tg); len(all) > 0 {
				t.Errorf("%s: %d memories are listed", name, len(all))
			}
			found, err := tg.Search(t.Context(), anna(), &memory.Query{Text: bees, Limit: 5})
			if err != nil || len(found) > 0 {
				t.Errorf("%s: %d memories are found, %v", name, len(found), err)
			}
			n, err := tg.Delete(t.Context(), anna(), []string{id})
			if err != nil || len(n) > 0 {
				t.Errorf("%s: %v deleted, %v", name, n, err)
			}
		}
	})
}

// A service whose filters fail shows everybody's.
func TestTarget_ServiceWithoutFilters_ShowsNothingForeign(t *testing.T) {
	t.Parallel()
	id := "00000000-0000-0000-0000-000000000001"
	row := func(ids string) string {
		return `{"results":[{"id":"` + id + `","memory":"` + bees + `",` + ids + `,"score":0.9,"created_at":"2026-03-02T09:30:00Z",` +
			`"metadata":{"palimpsest":"user","kind":"fact","key":"key-1","conversation":"talk"}}],"count":1,"next":null,"previous":null}`
	}
	both(t, func(t *testing.T, f *fake, o mem0.Options) {
		tg := target(t, o)
		for ids, want := range map[string]int{
			`"user_id":"space:anna"`: 1, `"user_id":"space:bert"`: 0, `"agent_id":"space:anna"`: 0, `"user_id":"space:anna","agent_id":"x"`: 0,
			`"user_id":"space:anna","run_id":"x"`: 0, `"user_id":"space:anna","session_id":"x"`: 0, `"user_id":null`: 0,
			`"user_id":"space:anna","agent_id":null,"run_id":null`: 1,
		} {
			f.Break(func(*http.Request) mem0test.Fault { return mem0test.Fault{Body: row(ids)} })
			found, err := tg.Search(t.Context(), anna(), &memory.Query{Text: bees, Limit: 5})
			if err != nil || len(found) != want || len(list(t, tg)) != want {
				t.Errorf("%s: %d found, %v", ids, len(found), err)
			}
			_, err = tg.Settle(t.Context(), batch(bees))
			if (err == nil) != (want == 1) {
				t.Errorf("%s: Settle: %v", ids, err)
			}
		}
	})
}

func TestTarget_Scopes_HaveOneIDEach(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, f *fake, o mem0.Options) {
		tg := target(t, o)
		want := map[memory.Scope]string{
			{Namespace: "n", Kind: memory.ScopeUser, ID: "a"}:            "n:a |",
			{Namespace: "n", Kind: memory.ScopeUser, ID: "session"}:      "n:session |",
			{Namespace: "n", Kind: memory.ScopeSession, ID: "a"}:         "n:session:a |",
			{Namespace: "n", Kind: memory.ScopeAgent, ID: "a"}:           " |n:a",
			{Namespace: "n", Kind: memory.ScopeOrg}:                      "n |",
			{Namespace: "n", Kind: memory.ScopeUser, ID: "session:a"}:    "",
			{Namespace: "n:session", Kind: memory.ScopeUser, ID: "a"}:    "",
			{Namespace: "n", Kind: memory.ScopeUser, ID: "a/b"}:          "",
			{Namespace: "n", Kind: memory.ScopeSession, ID: "../a b"}:    "",
			{Namespace: "n:session:a", Kind: memory.ScopeOrg}:            "",
			{Namespace: "n", Kind: memory.ScopeSession, ID: "session:a"}: "",
		}
		seen := map[string]bool{}
		for s, ids := range want {
			f.rows = nil
			if _, err := tg.Put(t.Context(), s, &memory.Note{Key: "k", Text: bees}); err != nil {
				t.Fatal(err)
			}
			got := f.rows[0].user + " |" + f.rows[0].agent
			if seen[got] || ids != "" && got != ids || strings.ContainsAny(strings.TrimSuffix(strings.TrimSpace(got), " |"), "/. ") {
				t.Errorf("%+v is %q", s, got)
			}
			seen[got] = true
		}
	})
}

// Of a batch that is kept as it is, each memory is the message's that it repeats.
func TestTarget_KeptBatch_NamesMessages(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, _ *fake, o mem0.Options) {
		tg := target(t, o)
		b := batch("one two three", "four five six", "seven eight nine", "four five six")
		b.Infer = false
		b.Messages[1].Role, b.Messages[2].Name = conversation.RoleAssistant, "Ada"
		r, err := tg.Add(t.Context(), b)
		if err != nil || len(r.IDs) != 4 || r.Pending {
			t.Fatalf("%+v, %v", r, err)
		}
		for _, m := range list(t, tg) {
			src := m.Sources[0]
			if want := (memory.Source{Conversation: "talk", Incarnation: b.Incarnation, First: 2, Last: 2, Time: b.Messages[2].Time}); m.Text == "seven eight nine" &&
				(src != want || m.SaidBy != "Ada" || m.Kind != memory.Said || !m.Time.Equal(src.Time)) {
				t.Errorf("%+v", m)
			}
			if m.Text == "four five six" && (src.First != 1 || src.Last != 3) {
				t.Errorf("a text that was said twice: %+v", src)
			}
		}
		f, err := tg.Retract(t.Context(), anna(), &memory.Retraction{
			Conversation: "talk", Incarnation: b.Incarnation, Range: conversation.Range{First: 2, End: 3},
		})
		if got := texts(list(t, tg)); err != nil || f.Deleted != 3 || !slices.Equal(got, []string{"one two three"}) {
			t.Errorf("%+v, %v: %q", f, err, got)
		}
	})
}

// A service that failed in the middle of such a batch has kept a part: it goes, and the batch is sent again.
func TestTarget_KeptBatchInPart_IsTakenBack(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, f *fake, o mem0.Options) {
		tg := target(t, o)
		b := batch("one two three", "four five six")
		b.Infer = false
		path := map[mem0.Kind]string{mem0.Platform: "/v3/memories/add/", mem0.Server: "/memories"}[o.Kind]
		for _, status := range []int{500, 502} {
			f.BreakNext(1, mem0test.Fault{Status: status, Body: `{"code":"unknown"}`}, http.MethodPost, path)
			if _, err := tg.Add(t.Context(), b); !errors.Is(err, memory.ErrOutcomeUnknown) {
				t.Fatal(err)
			}
		}
		if _, err := tg.Add(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		f.rows = f.rows[:1]
		if _, err := tg.Settle(t.Context(), b); !errors.Is(err, memory.ErrNotFound) || len(f.rows) > 0 {
			t.Errorf("%v, %d left", err, len(f.rows))
		}
	})
}

// Texts that a service would refuse for ever, and with them all that follows.
func TestTarget_TextsThatWouldBlock_AreMended(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, f *fake, o mem0.Options) {
		tg := target(t, o)
		b := batch("", " \n\t", "a\x00b c d", strings.Repeat("é", 10_001))
		b.Infer = false
		if _, err := tg.Add(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		got := texts(list(t, tg))
		if want := []string{"a\uFFFDb c d", strings.Repeat("é", 10_000)}; !slices.Equal(got, want) {
			t.Errorf("%d texts: %.20q", len(got), got)
		}
		for _, m := range list(t, tg) {
			if m.Sources[0].First != m.Sources[0].Last || m.Sources[0].First < 2 {
				t.Errorf("%+v", m.Sources)
			}
		}
		f.rows = nil
		b = batch("", "\n")
		if r, err := tg.Add(t.Context(), b); err != nil || r.Pending || len(f.rows) > 0 {
			t.Errorf("a batch that says nothing: %+v, %v", r, err)
		}
		if _, err := tg.Settle(t.Context(), b); err != nil {
			t.Errorf("a batch that says nothing: %v", err)
		}
		if _, err := tg.Put(t.Context(), anna(), &memory.Note{Key: "k", Text: " "}); !errors.Is(err, memory.ErrRefused) {
			t.Errorf("a note that says nothing: %v", err)
		}
		if found, err := tg.Search(t.Context(), anna(), &memory.Query{Text: " \n", Limit: 3}); err != nil || len(found) > 0 {
			t.Errorf("a query that says nothing: %v", err)
		}
	})
}

// "*" is any value to a server's filters.
func TestTarget_ConversationOfAnyName_IsRetractedAlone(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, _ *fake, o mem0.Options) {
		tg := target(t, o)
		for i, name := range []string{"*", "talk", "%", "talk "} {
			b := batch(fmt.Sprintf("this is text %d", i))
			b.Conversation, b.Infer, b.Key = name, false, fmt.Sprint("key-", i)
			if _, err := tg.Add(t.Context(), b); err != nil {
				t.Fatal(err)
			}
		}
		_, err := tg.Retract(t.Context(), anna(), &memory.Retraction{
			Conversation: "*", Incarnation: conversation.ID{7}, Range: conversation.Range{End: 10},
		})
		if got := texts(list(t, tg)); err != nil || len(got) != 3 || slices.Contains(got, "this is text 0") {
			t.Errorf("%v: %q", err, got)
		}
	})
}

// A server shows at most 1,000 memories: what a conversation left is searched for too, and more may be left.
func TestTarget_ServerWithManyMemories_RetractsWhatItSees(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	tg := target(t, mem0.Options{Kind: mem0.Server, BaseURL: s.url})
	b := batch(bees)
	r, err := tg.Add(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	mine := s.rows[0]
	mine.id = "ffffffff-0000-0000-0000-000000000000" // no list comes so far
	for i := range 1200 {
		s.rows = append(s.rows, &stored{
			id: s.uuid(), text: fmt.Sprintf("memory %d", i), user: "space:anna", created: time.Unix(int64(i), 0),
			metadata: map[string]any{"palimpsest": "user", "kind": "added", "key": fmt.Sprint("k", i)},
		})
	}
	if got, err := tg.Settle(t.Context(), b); err != nil || len(got.IDs) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	retraction := &memory.Retraction{Conversation: "talk", Incarnation: b.Incarnation, Range: conversation.Range{End: 1}, IDs: r.IDs}
	f, err := tg.Retract(t.Context(), anna(), retraction)
	if err != nil || f.Deleted != 1 || !f.More || len(f.Residue) != 2 || len(s.rows) != 1200 {
		t.Errorf("%+v, %v", f, err)
	}
	f, err = tg.Retract(t.Context(), anna(), retraction)
	if err != nil || f.Deleted != 0 || f.More || len(f.Residue) != 1 {
		t.Errorf("%+v, %v", f, err)
	}
}

// What weighs more than an answer may is asked for in parts.
func TestTarget_HeavyMemories_AreReadInParts(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, f *fake, o mem0.Options) {
		tg := target(t, o)
		heavy := strings.Repeat("bees ", 2000)
		for i := range 300 {
			s := &stored{
				id: f.uuid(), text: heavy, user: "space:anna", created: time.Unix(int64(i), 0),
				metadata: map[string]any{"palimpsest": "user", "kind": "added", "key": fmt.Sprint("k", i), "note": `{"x":"` + heavy + `"}`},
			}
			f.rows = append(f.rows, s)
		}
		if n := len(list(t, tg)); n != 50 {
			t.Errorf("%d of 50 are listed", n)
		}
		found, err := tg.Search(t.Context(), anna(), &memory.Query{Text: "bees", Limit: 100})
		if err != nil || len(found) == 0 {
			t.Errorf("%d are found, %v", len(found), err)
		}
	})
}

func TestTarget_SupersededMemory_IsListedAndNotFound(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	tg := target(t, mem0.Options{Kind: mem0.Platform, BaseURL: p.url})
	row := `{"id":"00000000-0000-0000-0000-000000000001","memory":"x","user_id":"space:anna","score":0.9,"created_at":"2026-03-02T09:30:00Z",` +
		`"replaced_by":"00000000-0000-0000-0000-000000000002","metadata":{"palimpsest":"user","kind":"fact"}}`
	p.Break(func(*http.Request) mem0test.Fault {
		return mem0test.Fault{Body: `{"results":[` + row + `],"count":1,"next":null,"previous":null}`}
	})
	all := list(t, tg)
	if len(all) != 1 || all[0].SupersededBy != "00000000-0000-0000-0000-000000000002" || all[0].Time.IsZero() {
		t.Errorf("%+v", all)
	}
	found, err := tg.Search(t.Context(), anna(), &memory.Query{Text: "x", Limit: 5})
	if err != nil || len(found) > 0 {
		t.Errorf("%d found, %v", len(found), err)
	}
}

// Pages may have other sizes than those before, and memories may have come at one time.
func TestTarget_List_PagesOfDifferentSizes(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, f *fake, o mem0.Options) {
		tg := target(t, o)
		for i := range 23 {
			f.rows = append(f.rows, &stored{
				id: f.uuid(), text: fmt.Sprint("memory ", i), user: "space:anna", created: time.Unix(int64(i/10), 0),
				metadata: map[string]any{"palimpsest": "user", "kind": "added", "key": fmt.Sprint("k", i)},
			})
		}
		seen := map[string]bool{}
		page := &memory.Page{}
		for i := range 30 {
			page.Limit = []int{2, 5, 3, 7}[i%4]
			l, err := tg.List(t.Context(), anna(), page)
			if err != nil || len(l.Memories) > page.Limit {
				t.Fatalf("%d of %d, %v", len(l.Memories), page.Limit, err)
			}
			for _, m := range l.Memories {
				if seen[m.ID] {
					t.Errorf("%q comes twice", m.Text)
				}
				seen[m.ID] = true
			}
			if page.Token = l.Next; page.Token == "" {
				break
			}
		}
		if len(seen) != 23 {
			t.Errorf("%d of 23 came", len(seen))
		}
	})
}

// A service that does not keep to what it was asked.
func TestTarget_Search_IsCheckedAgain(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, f *fake, o mem0.Options) {
		tg := target(t, o)
		var rows []string
		for i, score := range []float64{0.2, -1, 0.5, 0.4, 7} { // the third comes twice
			rows = append(rows, fmt.Sprintf(`{"id":"00000000-0000-0000-0000-00000000000%d","memory":"x","user_id":"space:anna","score":%v,`+
				`"created_at":"2026-03-02T09:30:00Z","metadata":{"palimpsest":"user","kind":"fact","by":"user"}}`, []int{0, 1, 2, 2, 3}[i], score))
		}
		f.Break(func(*http.Request) mem0test.Fault {
			return mem0test.Fault{Body: `{"results":[` + strings.Join(rows, ",") + `]}`}
		})
		found, err := tg.Search(t.Context(), anna(), &memory.Query{Text: "x", Limit: 9, Floor: 0.3})
		var scores []float64
		for _, m := range found {
			scores = append(scores, m.Score)
		}
		if err != nil || !slices.Equal(scores, []float64{1, 0.5}) {
			t.Errorf("%v, %v", scores, err)
		}
	})
}
