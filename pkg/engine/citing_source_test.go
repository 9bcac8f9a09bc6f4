package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// TestEngine_Append_SourceGiven_IsTold: the citation and the source record show the source that was given. What was not given is guessed.
func TestEngine_Append_SourceGiven_IsTold(t *testing.T) {
	page := "<html><head><title>Its own</title><link rel=canonical href=https://own.example/></head><body><p>" + prose(1, 9_000)
	for name, c := range map[string]struct {
		given *conversation.ResultSource
		want  conversation.ResultSource
	}{
		"nothing": {nil, conversation.ResultSource{Type: conversation.SourceTypeWeb, URL: "https://own.example/"}},
		"all": {
			&conversation.ResultSource{Type: conversation.SourceTypeDatabase, URL: "postgres://letters/7", Title: "Letters of Ann"},
			conversation.ResultSource{Type: conversation.SourceTypeDatabase, URL: "postgres://letters/7", Title: "Letters of Ann"},
		},
		"a title":    {&conversation.ResultSource{Title: "Letters"}, conversation.ResultSource{Type: conversation.SourceTypeWeb, URL: "https://own.example/", Title: "Letters"}},
		"a bad line": {&conversation.ResultSource{Title: "Letters\n[c9-aaaaaaaa]"}, conversation.ResultSource{Type: conversation.SourceTypeWeb, URL: "https://own.example/", Title: "Letters\n[c9-aaaaaaaa]"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := citingBench()
			b.cites(t, "c", nil)
			m := result("1", page)
			m.Parts[0].Result.Source = c.given
			cited := b.append(t, "c", toolCall("1", "fetch", "{}"), m).Citations[1][0]
			x := &cited.Citation
			if got := (conversation.ResultSource{Type: x.SourceType, URL: x.SourceURL, Title: x.SourceTitle}); got != c.want {
				t.Errorf("cited as %+v", got)
			}
			l, err := b.ListSources(ctx, engine.SourcesRequest{Key: keyOf("c"), Limit: 1})
			if err != nil {
				t.Fatal(err)
			}
			if s := l.Sources[0]; (conversation.ResultSource{Type: s.Type, URL: s.URL, Title: s.Title}) != c.want {
				t.Errorf("listed as %+v", s)
			}
			title := "\n"
			if c.want.Title != "" {
				title = "\nTitle: " + strings.Join(strings.Fields(c.want.Title), " ") + "\n"
			}
			if !strings.Contains(cited.Text, title) || !strings.Contains(cited.Text, ", "+c.want.Type.String()+", "+c.want.URL+"]") {
				t.Errorf("%q", cited.Text)
			}
		})
	}
}

func TestEngine_StoreContent_Title_IsTold(t *testing.T) {
	b := citingBench()
	kept, err := b.keep("c", "", prose(1, 9_000), func(r *engine.StoreContentRequest) { r.Title = "Letters of Ann" })
	if err != nil || !strings.Contains(kept.Cited.Text, "\nTitle: Letters of Ann\n") || kept.Cited.Citation.SourceTitle != "Letters of Ann" {
		t.Errorf("%+v %v", kept, err)
	}
	m := result("1", kept.Cited.Text)
	b.cites(t, "d", nil)
	if r := b.append(t, "c", call("1"), m); len(r.Citations[1]) > 0 || b.recalledFrom(t, 1) == nil {
		t.Error("its citation is not known again")
	}
}

// TestEngine_ListSources_NoneFoundForLong_PageEndsEarly: a page looks through a bounded number of records, and says where the next one
// continues.
func TestEngine_ListSources_NoneFoundForLong_PageEndsEarly(t *testing.T) {
	const last, most = 10_000, 64 * 128
	b := newBench(0)
	b.append(t, "c", user("go"))
	h := b.head(t, "c")
	c := &store.Change{Expect: h.Version, Head: h, Slots: map[string][]byte{"content/last": fmt.Append(nil, last)}}
	c.Head.Version++
	if err := b.store.Commit(ctx, keyOf("c"), c); err != nil {
		t.Fatal(err)
	}
	var at []int64
	for cursor := int64(0); len(at) < 3; cursor = at[len(at)-1] {
		page, err := b.ListSources(ctx, engine.SourcesRequest{Key: keyOf("c"), Cursor: cursor, Limit: 10})
		if err != nil || len(page.Sources) != 0 {
			t.Fatalf("%+v, %v", page, err)
		}
		if at = append(at, page.Next); page.Next == 0 {
			break
		}
	}
	if !slices.Equal(at, []int64{most + 1, 0}) {
		t.Errorf("pages go on at %v", at)
	}
}
