package engine_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/internal/testlane"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// absent requires that the conversation does not exist, and that nothing is staged for it.
func (b *bench) absent(t *testing.T, id string) {
	t.Helper()
	if _, err := b.store.Read(ctx, keyOf(id), store.Query{}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("there is a conversation %s (%v)", id, err)
	}
	if tasks, err := b.store.Due(ctx, b.now.Add(48*time.Hour), 100); err != nil || len(tasks) > 0 {
		t.Errorf("%+v is left to be swept (%v)", tasks, err)
	}
}

// TestEngine_StoreContent_Refused_MakesNoConversation: what is refused changes nothing (behaviour §15).
func TestEngine_StoreContent_Refused_MakesNoConversation(t *testing.T) {
	testlane.OneCaller(t)
	lost := errors.New("the caller is gone")
	for name, size := range map[string]int{"small": 10, "several chunks": 700_000} {
		for fault, change := range map[string]func(*engine.StoreContentRequest){
			"another checksum": func(r *engine.StoreContentRequest) { r.SHA256 = &[32]byte{1} },
			"cut off": func(r *engine.StoreContentRequest) {
				next := r.Next
				r.Next = func() ([]byte, error) {
					piece, err := next()
					if errors.Is(err, io.EOF) {
						err = lost
					}
					return piece, err
				}
			},
		} {
			t.Run(name+", "+fault, func(t *testing.T) {
				stores(t, func(t *testing.T, s store.Store) {
					b := newBenchOn(s, 1<<20)
					if _, err := b.keep("c", "run", prose(1, size), change); err == nil {
						t.Fatal("it is stored")
					}
					b.absent(t, "c")
				})
			})
		}
	}
}

// TestEngine_StoreContent_NewConversation_IsMadeWithIt: one commit makes both.
func TestEngine_StoreContent_NewConversation_IsMadeWithIt(t *testing.T) {
	stores(t, func(t *testing.T, s store.Store) {
		b := newBenchOn(s, 1<<20)
		text := prose(1, 700_000)
		r, err := b.keep("c", "", text, nil)
		if err != nil || r.Revision != 1 {
			t.Fatalf("%+v (%v)", r, err)
		}
		if len(r.Events) != 1 || r.Events[0].Type != conversation.EventContentStored || r.Events[0].Index != -1 {
			t.Errorf("the events are %+v", r.Events)
		}
		if got, kind := b.whole("c", r.Cited.Citation.ContentID); got != text {
			t.Errorf("%d bytes come back (%s)", len(got), kind)
		}
		b.append(t, "c", user("and on"))
	})
}

// TestEngine_StoreContent_ConversationMadeMeanwhile_TakesIt: the first content and the first message may come at the same time. Bytes
// still in memory are staged again; other contents must be sent again, and so must contents for a conversation that was deleted.
func TestEngine_StoreContent_ConversationMadeMeanwhile_TakesIt(t *testing.T) {
	testlane.OneCaller(t)
	for _, c := range []struct {
		name    string
		size    int
		deleted bool
		want    conversation.Kind
	}{
		{"small", 10, false, ""},
		{"several chunks", 700_000, false, ""},
		{"large", 5 << 20, false, conversation.Contention},
		{"deleted", 700_000, true, conversation.Contention},
	} {
		t.Run(c.name, func(t *testing.T) {
			stores(t, func(t *testing.T, s store.Store) {
				b := newBenchOn(s, 1<<20)
				if c.deleted {
					b.append(t, "c", user("an earlier life"))
				}
				text, pieces := prose(1, c.size), 0
				r, err := b.keep("c", "", text, func(r *engine.StoreContentRequest) {
					next := r.Next
					r.Next = func() ([]byte, error) {
						if pieces++; pieces == 2 {
							b.meanwhile(t, "c", c.deleted)
						}
						return next()
					}
				})
				b.now = b.now.Add(2 * time.Hour)
				if err := b.Sweep(ctx); err != nil {
					t.Fatal(err)
				}
				if c.want != "" {
					expect(t, err, c.want)
					if n := len(b.listed(t, "c")); n > 0 {
						t.Errorf("%d contents are listed", n)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if got, kind := b.whole("c", r.Cited.Citation.ContentID); got != text {
					t.Errorf("%d bytes come back of %d (%s)", len(got), len(text), kind)
				}
			})
		})
	}
}

// meanwhile makes a conversation, anew if there is one.
func (b *bench) meanwhile(t *testing.T, id string, again bool) {
	if again {
		if _, err := b.Delete(ctx, keyOf(id), engine.Request{}); err != nil {
			t.Error(err)
		}
		if _, err := b.Create(ctx, engine.CreateRequest{Key: keyOf(id)}); err != nil {
			t.Error(err)
		}
	}
	b.append(t, id, user("I am first"))
}

// TestEngine_StoreContent_Type_IsAToolsUnlessSaid: a content without a given source type counts as a tool's.
func TestEngine_StoreContent_Type_IsAToolsUnlessSaid(t *testing.T) {
	b := newBench(1 << 20)
	for said, want := range map[conversation.SourceType]conversation.SourceType{
		conversation.SourceTypeUnspecified: conversation.SourceTypeTool, conversation.SourceTypeWeb: conversation.SourceTypeWeb,
	} {
		r, err := b.keep("c", "", "some words", func(r *engine.StoreContentRequest) { r.Type = said })
		if err != nil {
			t.Fatal(err)
		}
		got, err := b.RetrieveContent(ctx, engine.RetrieveContentRequest{Key: keyOf("c"), ContentID: r.Cited.Citation.ContentID})
		if err != nil || got.Source.Type != want || r.Cited.Citation.SourceType != want {
			t.Errorf("said %v: the source is of type %v, the citation %v (%v)", said, got.Source.Type, r.Cited.Citation.SourceType, err)
		}
	}
}

// TestEngine_AnswerToolCall_Items_AreAnArray: items are returned as valid JSON, other ranges exactly as in the content.
func TestEngine_AnswerToolCall_Items_AreAnArray(t *testing.T) {
	b := newBench(1 << 20)
	handle := b.kept(t, "c", "", `[{"n":0},{"n":1},{"n":2},{"n":3}]`)
	for unit, want := range map[string]string{"items": `[{"n":1},{"n":2}]`, "chars": "{"} {
		arguments := fmt.Sprintf(`{"content_id":%q,"start":1,"end":%d,"unit":%q}`, handle, map[string]int{"items": 3, "chars": 2}[unit], unit)
		got, err := b.AnswerToolCall(ctx, engine.ToolCallRequest{Key: keyOf("c"), Call: conversation.ToolCall{
			CallID: "x", Name: conversation.ToolRetrieve, Arguments: conversation.Content{Inline: arguments},
		}})
		if err != nil {
			t.Fatal(err)
		}
		_, body, _ := strings.Cut(got.Result.Text.Inline, "]\n")
		if strings.TrimSpace(body) != want {
			t.Errorf("%s: %q, not %q", unit, got.Result.Text.Inline, want)
		}
	}
	long := b.kept(t, "c", "", "["+strings.Repeat(`{"n":1},`, 400)+`{"n":2}]`)
	for unit, want := range map[string]string{"items": ", unit items.", "chars": ", unit bytes."} { // how to go on
		got, err := b.AnswerToolCall(ctx, engine.ToolCallRequest{Key: keyOf("c"), MaxTokens: 200, Call: conversation.ToolCall{
			CallID: "x", Name: conversation.ToolRetrieve, Arguments: conversation.Content{Inline: fmt.Sprintf(`{"content_id":%q,"start":0,"end":400,"unit":%q}`, long, unit)},
		}})
		if err != nil {
			t.Fatal(err)
		}
		if text := got.Result.Text.Inline; unit == "items" && !strings.Contains(text, want) || strings.Contains(text, "More follows") && !strings.Contains(text, want) {
			t.Errorf("%s: %q", unit, text)
		}
	}
}

// TestEngine_AnswerToolCall_ExpandedItems_SayHowToGoOn: a range of items is told in items, also where the next one begins.
func TestEngine_AnswerToolCall_ExpandedItems_SayHowToGoOn(t *testing.T) {
	b := newBench(1 << 20)
	b.append(t, "c", user("["+strings.Repeat(`{"n":1,"text":"some words of an item"},`, 200)+`{"n":2}]`))
	for unit, want := range map[string][2]string{"items": {"items 5-", ", unit items.]"}, "chars": {"characters 5-", ", unit chars.]"}} {
		got, err := b.AnswerToolCall(ctx, engine.ToolCallRequest{Key: keyOf("c"), MaxTokens: 200, Call: conversation.ToolCall{
			CallID: "x", Name: conversation.ToolExpand, Arguments: conversation.Content{Inline: fmt.Sprintf(`{"id":"0","start":5,"end":4000,"unit":%q}`, unit)},
		}})
		if err != nil {
			t.Fatal(err)
		}
		if text := got.Result.Text.Inline; !strings.Contains(text, want[0]) || !strings.Contains(text, want[1]) {
			t.Errorf("%s: %q", unit, text)
		}
	}
}

// TestEngine_RetrieveContent_PagesOfItems_GiveEachOnce: a page of items begins where the one before has ended.
func TestEngine_RetrieveContent_PagesOfItems_GiveEachOnce(t *testing.T) {
	var items []string
	for i := range 60 {
		items = append(items, fmt.Sprintf(`{"n":%d,"text":"some words of an item"}`, i))
	}
	b := newBench(1 << 20)
	handle := b.kept(t, "c", "", "["+strings.Join(items, ",")+"]")
	var got []string
	r := engine.RetrieveContentRequest{Key: keyOf("c"), ContentID: handle, Unit: engine.ContentItems, From: 3, End: 55, MaxTokens: 100}
	for pages := 0; ; pages++ {
		page, err := b.RetrieveContent(ctx, r)
		if err != nil || pages > 60 {
			t.Fatalf("page %d: %v", pages, err)
		}
		got = append(got, string(page.Chunk))
		if r.Cursor = page.Next; r.Cursor == nil {
			break
		}
	}
	if want := strings.Join(items[3:55], ","); len(got) < 3 || strings.Join(got, ",") != want {
		t.Errorf("%d pages: %q", len(got), got)
	}
}

// TestEngine_StoreContent_Reuse_AnswersAsBefore: the same bytes get the same citation, as long as the content exists.
func TestEngine_StoreContent_Reuse_AnswersAsBefore(t *testing.T) {
	reuse := func(r *engine.StoreContentRequest) { r.Reuse = true }
	stores(t, func(t *testing.T, s store.Store) {
		b := newBenchOn(s, 1<<20)
		text := prose(1, 700_000)
		b.kept(t, "c", "run", text) // a run's goes with it
		first, err := b.keep("c", "", text, reuse)
		if err != nil || !first.Shared {
			t.Fatalf("%+v (%v)", first, err)
		}
		b.now = b.now.Add(48 * time.Hour)
		again, err := b.keep("c", "", text, reuse)
		if err != nil || !again.Shared || again.Duplicate || again.Revision != first.Revision || len(again.Events) > 0 || again.Cited != first.Cited {
			t.Errorf("%+v, and first %+v (%v)", again, first, err)
		}
		other, err := b.keep("c", "", text, nil)
		if err != nil || other.Cited.Citation.ContentID == first.Cited.Citation.ContentID {
			t.Errorf("nobody asked for it: %+v (%v)", other, err)
		}
		if got, kind := b.whole("c", again.Cited.Citation.ContentID); got != text {
			t.Errorf("%d bytes come back (%s)", len(got), kind)
		}
	})
}
