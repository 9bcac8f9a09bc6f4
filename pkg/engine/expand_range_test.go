package engine_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func ranged(unit engine.RangeUnit, first, end int32) func(*engine.ExpandRequest) {
	return func(r *engine.ExpandRequest) { r.Unit, r.Range = unit, conversation.Range{First: first, End: end} }
}

// TestEngine_Expand_Ranges: characters are code points, lines keep their ends, items are those of a JSON array, or of the one
// array in an object; ranges are half-open and cut to what there is (behaviour §9, §10).
func TestEngine_Expand_Ranges(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		unit       engine.RangeUnit
		first, end int32
		want       string
		returned   conversation.Range
		next       int32 // -1 for none
	}{
		{"characters", "añ😀bc", engine.RangeChars, 1, 3, "ñ😀", conversation.Range{First: 1, End: 3}, -1},
		{"all of them", "añ😀bc", engine.RangeChars, 0, 99, "añ😀bc", conversation.Range{First: 0, End: 5}, -1},
		{"past the end", "abc", engine.RangeChars, 9, 12, "", conversation.Range{First: 3, End: 3}, -1},
		{"none", "abc", engine.RangeChars, 1, 1, "", conversation.Range{First: 1, End: 1}, -1},
		{"the first line", "one\ntwo\nthree", engine.RangeLines, 0, 1, "one\n", conversation.Range{First: 0, End: 4}, -1},
		{"the last line", "one\ntwo\nthree", engine.RangeLines, 2, 3, "three", conversation.Range{First: 8, End: 13}, -1},
		{"lines with returns", "é\r\ntwo\r\n", engine.RangeLines, 1, 5, "two\r\n", conversation.Range{First: 3, End: 8}, -1},
		{"items", `[1, {"a":"x, ]"}, "three", null]`, engine.RangeItems, 1, 3, `[{"a":"x, ]"},"three"]`, conversation.Range{First: 1, End: 3}, -1},
		{"items of an object", `{"total": 3, "items": [10,20,30]}`, engine.RangeItems, 2, 9, `[30]`, conversation.Range{First: 2, End: 3}, -1},
		{"an empty array", `[]`, engine.RangeItems, 0, 5, `[]`, conversation.Range{}, -1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newEager()
			b.append(t, "c", user("go"), call("k"), result("k", tt.text), user("next"))
			b.turn(t, "c")
			r := b.expanded(t, 2, ranged(tt.unit, tt.first, tt.end))
			got := r.Message.Message.Parts
			if len(got) != 1 || got[0].Kind != conversation.PartText || got[0].Text.Inline != tt.want || *r.Returned != tt.returned || r.Next != nil {
				t.Errorf("%+v, returned %+v, next %v", got, r.Returned, r.Next)
			}
			if r.TotalChars != int64(utf8.RuneCountInString(tt.text)) || r.RewriteTokens != 0 || len(r.Events) != 0 {
				t.Errorf("%+v", r)
			}
		})
	}
	b := newEager()
	b.append(t, "c", user("go"), call("k"), result("k", `{"a":[1],"b":[2]}`), user("no items"), user(`[1] and more`), user(`{"a":[1]`))
	for _, index := range []int32{0, 2, 3, 4, 5} {
		_, err := b.expand(index, ranged(engine.RangeItems, 0, 1))
		if expect(t, err, conversation.InvalidField); violation(err) != "items" {
			t.Errorf("%v", err)
		}
	}
}

// TestEngine_Expand_PagesGiveTheOriginal: paging to the end gives exactly the original, however small the pages (behaviour §10).
func TestEngine_Expand_PagesGiveTheOriginal(t *testing.T) {
	runes := []rune("ab \n\r😀é字\u0301\u200d\"\\<")
	proptest.Check(t, func(rt *rapid.T) {
		original := string(rapid.SliceOfN(rapid.SampledFrom(runes), 1, 300).Draw(rt, "text"))
		limit := rapid.Int32Range(3, 60).Draw(rt, "tokens")
		bytes := rapid.IntRange(16, 200).Draw(rt, "bytes")
		first := rapid.Int32Range(0, 20).Draw(rt, "first")
		b := newEager()
		b.append(t, "c", user(original), user("x"))
		change := []func(*engine.ExpandRequest){func(r *engine.ExpandRequest) { r.ReturnOnly, r.MaxTokens, r.MaxBytes = true, limit, bytes }}
		want := original
		if rapid.Bool().Draw(rt, "lines") {
			change = append(change, ranged(engine.RangeLines, first, first+3))
			lines := strings.SplitAfter(original, "\n")
			want = strings.Join(lines[min(int(first), len(lines)):min(int(first)+3, len(lines))], "")
		}
		var got strings.Builder
		var cursor *int32
		for {
			r := b.expanded(rt, 0, append(change, func(r *engine.ExpandRequest) { r.Cursor = cursor })...)
			piece := r.Message.Message.Parts[0]
			if piece.Tokens > limit || len(piece.Text.Inline) > bytes || r.Returned.Len() != int32(utf8.RuneCountInString(piece.Text.Inline)) {
				rt.Fatalf("a page of %d tokens, %d bytes, %+v", piece.Tokens, len(piece.Text.Inline), r.Returned)
			}
			got.WriteString(piece.Text.Inline)
			if r.Next == nil {
				break
			}
			if cursor != nil && *r.Next <= *cursor {
				rt.Fatalf("stuck at %d", *cursor)
			}
			cursor = r.Next
		}
		if got.String() != want {
			rt.Fatalf("got %q, want %q", got.String(), want)
		}
	})
}

func TestEngine_Expand_PagesOfItems(t *testing.T) {
	var items []string
	for i := range 50 {
		items = append(items, fmt.Sprintf(`{"n":%d,"text":%q}`, i, long("x", 40)))
	}
	b := newEager()
	b.append(t, "c", user("["+strings.Join(items, ",")+"]"), user("x"))
	var got []json.RawMessage
	var cursor *int32
	pages := 0
	for {
		r := b.expanded(t, 0, ranged(engine.RangeItems, 5, 48), func(r *engine.ExpandRequest) { r.MaxTokens, r.Cursor = 100, cursor })
		var page []json.RawMessage
		if err := json.Unmarshal([]byte(r.Message.Message.Parts[0].Text.Inline), &page); err != nil {
			t.Fatal(err)
		}
		got = append(got, page...)
		if pages++; r.Next == nil {
			break
		}
		cursor = r.Next
	}
	if len(got) != 43 || string(got[0]) != items[5] || string(got[42]) != items[47] || pages < 5 {
		t.Errorf("%d items on %d pages", len(got), pages)
	}
	_, err := b.expand(0, ranged(engine.RangeItems, 0, 9), func(r *engine.ExpandRequest) { r.MaxTokens = 5 })
	expect(t, err, conversation.ExpansionTooLarge)
}

// TestEngine_Expand_Summary: a summary gives its children: messages, and earlier summaries in their places; a page ends at its
// limit or its size, and the next one goes on (behaviour §10).
func TestEngine_Expand_Summary(t *testing.T) {
	b := newEager()
	for i := range 12 {
		b.append(t, "c", user(fmt.Sprint("u", i)))
	}
	b.turn(t, "c")
	summary := func(id int64, first, end int32, children ...int64) conversation.Edit {
		return conversation.Edit{
			Kind: conversation.EditSummarize, Range: conversation.Range{First: first, End: end},
			Summary: &conversation.Summary{ID: id, Children: children, Text: conversation.Content{Inline: "told"}, Tokens: 1},
		}
	}
	b.edit(t, "c", summary(1, 2, 4), summary(2, 6, 8), summary(3, 1, 10, 1, 2))
	children := func(id int64, limit, maxBytes int) (all []string, pages int) {
		var cursor *int32
		for {
			r := b.expanded(t, 0, func(r *engine.ExpandRequest) {
				r.Index, r.Summary, r.Limit, r.MaxBytes, r.Cursor = nil, id, limit, maxBytes, cursor
			})
			if len(r.Children) > limit || r.Message != nil {
				t.Fatalf("%+v", r)
			}
			for _, c := range r.Children {
				if c.Message != nil {
					all = append(all, told(&c.Message.Message.Parts[0]))
				} else {
					all = append(all, fmt.Sprint("s", c.Summary, c.Range))
				}
			}
			if pages++; r.Next == nil {
				return all, pages
			}
			cursor = r.Next
		}
	}
	want := []string{"u1", "s1 {2 4}", "u4", "u5", "s2 {6 8}", "u8", "u9"}
	for _, page := range []struct{ limit, bytes int }{{100, 1000}, {1, 1000}, {2, 1000}, {3, 1000}, {100, 2}, {100, 5}} {
		if got, pages := children(3, page.limit, page.bytes); !slices.Equal(got, want) || page.limit == 1 && pages != 7 {
			t.Errorf("by %+v on %d pages: %q, want %q", page, pages, got, want)
		}
	}
	if got, _ := children(1, 100, 1000); !slices.Equal(got, []string{"u2", "u3"}) {
		t.Errorf("s1: %q", got)
	}
	_, err := b.expand(0, func(r *engine.ExpandRequest) { r.Index, r.Summary, r.MaxBytes = nil, 1, 1 })
	expect(t, err, conversation.ReplyTooLarge)
	_, err = b.expand(0, func(r *engine.ExpandRequest) { r.Index, r.Summary = nil, 4 })
	expect(t, err, conversation.SummaryNotFound)

	// A message that a summary stands for can be restored; the summary stays, and an import has it all.
	b.expanded(t, 4)
	r := b.turn(t, "c", sameTurn)
	wantShown(t, r, 4, "u4")
	if _, err := b.imports("copy", b.export(t, "c")); err != nil {
		t.Fatal(err)
	}
	copied, err := b.Expand(ctx, engine.ExpandRequest{Key: keyOf("copy"), Summary: 3, Limit: 100, MaxBytes: 1000, Size: func(*engine.MessageInView) int { return 1 }})
	if err != nil || len(copied.Children) != 7 {
		t.Errorf("%+v, %v", copied, err)
	}
}
