package engine_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// varied appends messages that filters tell apart.
func (b *bench) varied(t testing.TB, id string, n int) {
	t.Helper()
	roles := []conversation.Role{conversation.RoleUser, conversation.RoleAssistant, conversation.RoleSystem}
	batch := make([]conversation.Message, n)
	for i := range batch {
		m := text(roles[i%3], fmt.Sprint("message ", i))
		m.Type = conversation.MessageType(i % 4)
		m.RunID = fmt.Sprint("run", i%5)
		if i%2 == 0 {
			m.Tags = []string{"even", fmt.Sprint("t", i%7)}
		}
		batch[i] = m
	}
	b.append(t, id, batch...)
}

// pages follows the cursor to the end.
func (b *bench) pages(t tb, r engine.MessagesRequest) (indices []int32, pages int) {
	t.Helper()
	for {
		page, err := b.Messages(ctx, r)
		if err != nil {
			t.Fatal(err)
		}
		pages++
		for i := range page.Messages {
			indices = append(indices, page.Messages[i].Message.Index)
		}
		if len(page.Messages) > r.Limit {
			t.Fatalf("%d messages on a page of %d", len(page.Messages), r.Limit)
		}
		if page.Next == nil {
			return indices, pages
		}
		r.Cursor = page.Next
	}
}

func chosen(f *engine.Filter, m *conversation.Message) bool {
	tagged := len(f.Tags) == 0
	for _, tag := range m.Tags {
		tagged = tagged || slices.Contains(f.Tags, tag)
	}
	return tagged && (len(f.Roles) == 0 || slices.Contains(f.Roles, m.Role)) &&
		(len(f.Types) == 0 || slices.Contains(f.Types, m.Type)) && (f.RunID == "" || f.RunID == m.RunID)
}

// TestEngine_Messages_AnyQuestion: with any range, order, filter and page size, each matching message is listed once, and Count agrees.
func TestEngine_Messages_AnyQuestion(t *testing.T) {
	b := newBench(0)
	b.varied(t, "c", 300)
	all := b.records(t, "c")
	proptest.Check(t, func(t *rapid.T) {
		r := engine.MessagesRequest{
			Key: keyOf("c"), Descending: rapid.Bool().Draw(t, "descending"), Limit: rapid.IntRange(1, 200).Draw(t, "limit"),
			Range: conversation.Range{First: rapid.Int32Range(0, 310).Draw(t, "first"), End: rapid.Int32Range(-1, 310).Draw(t, "end")},
			Size:  func(m *engine.MessageInView) int { return 1 + int(m.Message.Index)%10 }, MaxBytes: rapid.IntRange(10, 1000).Draw(t, "bytes"),
		}
		if rapid.Bool().Draw(t, "roles") {
			r.Filter.Roles = []conversation.Role{conversation.RoleUser, conversation.RoleTool}
		}
		if rapid.Bool().Draw(t, "tags") {
			r.Filter.Tags = rapid.SampledFrom([][]string{{"even"}, {"t0", "t2"}, {"none"}}).Draw(t, "which tags")
		}
		if rapid.Bool().Draw(t, "types") {
			r.Filter.Types = []conversation.MessageType{conversation.TypeActionResult}
		}
		if rapid.Bool().Draw(t, "run") {
			r.Filter.RunID = "run3"
		}
		var want []int32
		tokens := int64(0)
		for i := range all {
			if m := &all[i]; m.Index >= r.Range.First && (r.Range.End < 0 || m.Index < r.Range.End) && chosen(&r.Filter, m) {
				want = append(want, m.Index)
				tokens += int64(m.Tokens)
			}
		}
		n, sum, err := b.Count(ctx, r.Key, r.Range, r.Filter)
		if err != nil || int(n) != len(want) || sum != tokens {
			t.Fatalf("counted %d with %d tokens, want %d with %d (%v)", n, sum, len(want), tokens, err)
		}
		if r.Descending {
			slices.Reverse(want)
		}
		if got, _ := b.pages(t, r); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

func TestEngine_Messages_PagesEndAtBytes(t *testing.T) {
	b := newBench(0)
	b.varied(t, "c", 10)
	r := engine.MessagesRequest{
		Key: keyOf("c"), Range: conversation.Range{End: -1}, Limit: 100, MaxBytes: 30, Size: func(*engine.MessageInView) int { return 10 },
	}
	if got, pages := b.pages(t, r); len(got) != 10 || pages != 4 {
		t.Errorf("%d messages on %d pages", len(got), pages)
	}
	r.Size = func(m *engine.MessageInView) int { return 10 + 100*int(m.Message.Index/9) }
	first, err := b.Messages(ctx, engine.MessagesRequest{Key: r.Key, Range: conversation.Range{First: 8, End: -1}, Limit: 100, MaxBytes: 30, Size: r.Size})
	if err != nil || len(first.Messages) != 1 || *first.Next != 9 {
		t.Errorf("%+v, %v", first, err)
	}
	_, err = b.Messages(ctx, engine.MessagesRequest{Key: r.Key, Range: conversation.Range{First: 9, End: -1}, Limit: 100, MaxBytes: 30, Size: r.Size})
	expect(t, err, conversation.ReplyTooLarge)
}

// TestEngine_Messages_PagesEndAtTokens: a page holds as many messages as fit, the newest first in descending order. A message heavier than
// the limit is a page of its own, so that every page makes progress.
func TestEngine_Messages_PagesEndAtTokens(t *testing.T) {
	b := newBench(0)
	b.append(t, "c", user(words(50)), user(words(10)), user(words(10)), user(words(10)))
	weight := int64(b.records(t, "c")[3].Tokens)
	r := engine.MessagesRequest{
		Key: keyOf("c"), Range: conversation.Range{End: -1}, Limit: 100, MaxTokens: 2 * weight, MaxBytes: 1000, Size: func(*engine.MessageInView) int { return 1 },
	}
	for _, tt := range []struct {
		descending bool
		limit      int
		tokens     int64
		want       [][]int32
	}{
		{true, 100, 2 * weight, [][]int32{{3, 2}, {1}, {0}}},
		{true, 100, 2*weight - 1, [][]int32{{3}, {2}, {1}, {0}}},
		{true, 1, 2 * weight, [][]int32{{3}, {2}, {1}, {0}}},
		{false, 100, 2 * weight, [][]int32{{0}, {1, 2}, {3}}},
		{false, 100, 0, [][]int32{{0, 1, 2, 3}}},
		{false, 100, 1, [][]int32{{0}, {1}, {2}, {3}}},
	} {
		var got [][]int32
		for r.Descending, r.Limit, r.MaxTokens, r.Cursor = tt.descending, tt.limit, tt.tokens, nil; ; {
			page, err := b.Messages(ctx, r)
			if err != nil {
				t.Fatal(err)
			}
			var indices []int32
			for i := range page.Messages {
				indices = append(indices, page.Messages[i].Message.Index)
			}
			got = append(got, indices)
			if r.Cursor = page.Next; r.Cursor == nil {
				break
			}
		}
		if !slices.EqualFunc(got, tt.want, slices.Equal[[]int32]) {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}

// TestEngine_Messages_Tokens_CurrentWeighsWhatIsShown: what an edit saves leaves room on the page.
func TestEngine_Messages_Tokens_CurrentWeighsWhatIsShown(t *testing.T) {
	b := newBench(0)
	b.append(t, "c", user("go"), call("a"), result("a", words(3000)))
	b.build(t, "c", conversation.FormatNeutral, 1000) // clips the result
	for current, want := range map[bool]int{false: 1, true: 3} {
		page, err := b.Messages(ctx, engine.MessagesRequest{
			Key: keyOf("c"), Range: conversation.Range{End: -1}, Descending: true, Current: current, Limit: 100, MaxTokens: 1000,
			MaxBytes: 1 << 20, Size: func(*engine.MessageInView) int { return 1 },
		})
		if err != nil || len(page.Messages) != want {
			t.Errorf("current %t: %d messages, %v", current, len(page.Messages), err)
		}
	}
}

// TestEngine_Messages_CurrentAndOriginal: ORIGINAL shows the record, CURRENT the view; hidden and removed messages are not in it.
func TestEngine_Messages_CurrentAndOriginal(t *testing.T) {
	b := newBench(0)
	b.append(t, "c", user("go"), call("a"), result("a", words(500)), user("regenerate"), answer("hidden"), user("removed"))
	b.edit(t, "c", hide(3, 5), conversation.Edit{Kind: conversation.EditRemove, Range: conversation.Range{First: 5, End: 6}})
	b.append(t, "c", user("last"))
	b.build(t, "c", conversation.FormatOpenAIChat, 1000)
	list := func(current bool) (indices []int32, out []engine.MessageInView) {
		r, err := b.Messages(ctx, engine.MessagesRequest{
			Key: keyOf("c"), Range: conversation.Range{End: -1}, Current: current, Limit: 100, MaxBytes: 1 << 20,
			Size: func(*engine.MessageInView) int { return 1 },
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range r.Messages {
			indices = append(indices, m.Message.Index)
		}
		return indices, r.Messages
	}
	indices, current := list(true)
	if fmt.Sprint(indices) != "[0 1 2 6]" {
		t.Errorf("current: %v", indices)
	}
	indices, original := list(false)
	if fmt.Sprint(indices) != "[0 1 2 3 4 5 6]" {
		t.Errorf("original: %v", indices)
	}
	if c, o := current[2], original[2]; o.Message.Parts[0].Result.Text.Inline != words(500) || c.Message.Parts[0].Result.Text.Inline == words(500) ||
		c.Level != conversation.Shortened || o.Level != c.Level || c.Saved == 0 || c.Chars != 2000 || c.EditSeq != 3 || !c.EditTime.Equal(b.now) {
		t.Errorf("current %+v\noriginal %+v", c.Level, o.Level)
	}
	for i, want := range []bool{true, true, true, false, false, false, true} {
		if original[i].InView != want {
			t.Errorf("message %d in view: %v", i, original[i].InView)
		}
	}
	_, err := b.Message(ctx, keyOf("c"), 7)
	expect(t, err, conversation.MessageNotFound)
	_, err = b.Message(ctx, keyOf("c"), -1)
	expect(t, err, conversation.MessageNotFound)
}

// TestEngine_Messages_ScanEnds: a filter that matches little ends a page early, with a cursor, and misses nothing.
func TestEngine_Messages_ScanEnds(t *testing.T) {
	b := newBench(0)
	b.varied(t, "c", 9000)
	for _, descending := range []bool{false, true} {
		r := engine.MessagesRequest{
			Key: keyOf("c"), Range: conversation.Range{End: -1}, Descending: descending, Limit: 10, MaxBytes: 1 << 20,
			Size: func(*engine.MessageInView) int { return 1 }, Filter: engine.Filter{Tags: []string{"nothing has it"}},
		}
		page, err := b.Messages(ctx, r)
		if err != nil || len(page.Messages) != 0 || page.Next == nil {
			t.Errorf("%+v, %v", page, err)
		}
		if got, pages := b.pages(t, r); len(got) != 0 || pages != 2 {
			t.Errorf("%d messages on %d pages", len(got), pages)
		}
	}
}

func TestEngine_List_LivingByIDAndOwner(t *testing.T) {
	b := newBench(0)
	for i := range 30 {
		id := fmt.Sprintf("c%02d", i)
		info := store.Info{ActorID: fmt.Sprint("actor", i%2), AgentID: fmt.Sprint("agent", i%3), Title: id}
		if _, err := b.Create(ctx, engine.CreateRequest{Key: keyOf(id), Info: info}); err != nil {
			t.Fatal(err)
		}
		if i%10 == 4 {
			if _, err := b.Delete(ctx, keyOf(id), engine.Request{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, tt := range []struct {
		r    engine.ListRequest
		want int
	}{
		{engine.ListRequest{Limit: 7}, 27}, {engine.ListRequest{Limit: 27}, 27}, {engine.ListRequest{Limit: 100}, 27},
		{engine.ListRequest{Limit: 2, ActorID: "actor1"}, 15}, {engine.ListRequest{Limit: 2, ActorID: "actor1", AgentID: "agent2"}, 5},
		{engine.ListRequest{Limit: 1, ActorID: "nobody"}, 0}, {engine.ListRequest{Limit: 5, After: "c28"}, 1},
	} {
		tt.r.Namespace = "default"
		seen := map[string]bool{}
		last := tt.r.After
		for {
			page, err := b.List(ctx, tt.r)
			if err != nil || len(page.Conversations) > tt.r.Limit {
				t.Fatalf("%+v, %v", page, err)
			}
			for _, c := range page.Conversations {
				if seen[c.ID] || c.ID <= last || c.Info.Title != c.ID {
					t.Errorf("%s after %s", c.ID, last)
				}
				seen[c.ID], last = true, c.ID
			}
			if tt.r.After = page.Next; page.Next == "" {
				break
			}
		}
		if len(seen) != tt.want {
			t.Errorf("%+v: %d conversations, want %d", tt.r, len(seen), tt.want)
		}
	}
}

// TestEngine_Messages_SummariesOfThePage_AreItsOwn: a page lists the summaries whose last message it has passed, no matter which page came
// before.
func TestEngine_Messages_SummariesOfThePage_AreItsOwn(t *testing.T) {
	b := newBench(0)
	for range 20 {
		b.append(t, "c", answer("x"))
	}
	for i, r := range []conversation.Range{{First: 0, End: 6}, {First: 8, End: 12}, {First: 14, End: 16}} {
		b.edit(t, "c", conversation.Edit{Kind: conversation.EditSummarize, Range: r, Summary: &conversation.Summary{
			ID: int64(i + 1), Tokens: 1, Text: conversation.Content{Inline: "s"},
		}})
	}
	for _, descending := range []bool{false, true} {
		var got []int64
		r := engine.MessagesRequest{
			Key: keyOf("c"), Range: conversation.Range{End: -1}, Current: true, Descending: descending, Limit: 3, MaxBytes: 1 << 30,
			Size: func(*engine.MessageInView) int { return 1 },
		}
		for pages := 0; pages < 20; pages++ {
			page, err := b.Messages(ctx, r)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range page.Summaries {
				got = append(got, s.ID)
			}
			if r.Cursor = page.Next; r.Cursor == nil {
				break
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, []int64{1, 2, 3}) {
			t.Errorf("descending %t: summaries %v", descending, got)
		}
	}
}
