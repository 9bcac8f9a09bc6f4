package retention_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/retention"
)

func part(s string) conversation.Part {
	return conversation.Part{Kind: conversation.PartText, Text: conversation.Content{Inline: s}}
}

var (
	never  = conversation.Retention{}
	always = conversation.Retention{Kind: conversation.RetentionPermanent}
)

func last(n int32) conversation.Retention {
	return conversation.Retention{Kind: conversation.RetentionKeepLast, Last: n}
}

// add returns an addition of one text; display says whether the model sees it now.
func add(plugin, header, text string, display bool, r conversation.Retention) conversation.Addition {
	return conversation.Addition{Plugin: plugin, Header: header, Display: display, Retention: r, Parts: []conversation.Part{part(text)}}
}

// sheet writes blocks down, as "text/plugin/retention/variant".
func sheet(parts []conversation.Part) string {
	variants := map[conversation.Variant]string{conversation.BothVariants: "both", conversation.DisplayOnly: "now", conversation.PersistentOnly: "later"}
	var out []string
	for _, p := range parts {
		kept := "never"
		switch p.Retention.Kind {
		case conversation.RetentionPermanent:
			kept = "always"
		case conversation.RetentionKeepLast:
			kept = fmt.Sprint("last ", p.Retention.Last)
		}
		text := p.Text.Inline
		if text == conversation.Spacing {
			text = "_"
		}
		out = append(out, strings.Join([]string{text, p.Plugin, kept, variants[p.Variant]}, "/"))
	}
	return strings.Join(out, " ")
}

// TestLay_Blocks_InOrder: the order of blocks, headers, spacing, and what each carries (behaviour §6; seed 002, "How context-provider builds
// policy").
func TestLay_Blocks_InOrder(t *testing.T) {
	own := []conversation.Part{part("mine"), part("too")}
	kept := "mine//always/both too//always/both"
	for _, tt := range []struct {
		name      string
		additions []conversation.Addition
		want      string
	}{
		{"none", nil, "mine//never/both too//never/both"},
		{"one, for both", []conversation.Addition{add("p", "", "a", true, always)}, kept + " a/p/always/both _/p/always/both"},
		{"seen now alone", []conversation.Addition{add("p", "H", "a", true, never)}, kept + " H/p/never/now a/p/never/now _/p/never/now"},
		{"saved alone", []conversation.Addition{add("p", "H", "a", false, last(2))}, kept + " H/p/last 2/later a/p/last 2/later _/p/last 2/later"},
		{"in no variant", []conversation.Addition{add("p", "H", "a", false, never)}, kept},
		{"a header stands once; the first one given counts", []conversation.Addition{
			add("p", "", "a", true, last(1)), add("p", "H", "b", true, last(3)), add("p", "I", "c", true, last(2)),
		}, kept + " H/p/last 3/both a/p/last 1/both _/p/last 1/both b/p/last 3/both _/p/last 3/both c/p/last 2/both _/p/last 2/both"},
		{"a header is permanent if any block is", []conversation.Addition{
			add("p", "H", "a", true, last(9)), add("p", "", "b", false, always), add("p", "", "c", true, never),
		}, kept + " H/p/always/both a/p/last 9/both _/p/last 9/both b/p/always/later _/p/always/later c/p/never/now _/p/never/now"},
		{"a header for both variants though no block is", []conversation.Addition{
			add("p", "H", "a", true, never), add("p", "", "b", false, last(2)),
		}, kept + " H/p/last 2/both a/p/never/now _/p/never/now b/p/last 2/later _/p/last 2/later"},
		{"plugins in order of first appearance", []conversation.Addition{
			add("q", "", "a", true, always), add("p", "P", "b", true, always), add("q", "Q", "c", true, last(1)),
		}, kept + " Q/q/always/both a/q/always/both _/q/always/both c/q/last 1/both _/q/last 1/both P/p/always/both b/p/always/both _/p/always/both"},
		{"an addition of several parts has one spacing", []conversation.Addition{
			{Plugin: "p", Display: true, Parts: []conversation.Part{part("a"), part("b")}},
		}, kept + " a/p/never/now b/p/never/now _/p/never/now"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := slices.Clone(own)
			if got := sheet(retention.Layout(own, tt.additions)); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if !reflect.DeepEqual(own, before) {
				t.Error("the caller's parts were changed")
			}
		})
	}
}

// TestLay_OwnRetention_OfSomeParts: a caller can give parts a retention of their own; the others are permanent then.
func TestLay_OwnRetention_OfSomeParts(t *testing.T) {
	own := []conversation.Part{part("a"), part("b")}
	own[1].Retention = last(2)
	if got, want := sheet(retention.Layout(own, nil)), "a//always/both b//last 2/both"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestLay_Media_ByteForByte: blocks are never merged or encoded anew, whatever they hold.
func TestLay_Media_ByteForByte(t *testing.T) {
	picture := conversation.Part{Kind: conversation.PartMedia, Media: &conversation.Media{MIMEType: "image/png", Data: conversation.Content{Inline: "\x89PNG"}}}
	out := retention.Layout(nil, []conversation.Addition{{Plugin: "p", Retention: always, Parts: []conversation.Part{picture, part(""), part("")}}})
	if len(out) != 4 || out[0].Media != picture.Media || out[1].Text.Inline != "" || out[3].Text.Inline != "\n\n" {
		t.Errorf("%+v", out)
	}
}

// TestPast_Numbers_Boundaries: a block with N stays while N > number (behaviour §6; seed 002: 2 is kept at 0 and 1, and goes at 2).
func TestPast_Numbers_Boundaries(t *testing.T) {
	m := &conversation.Message{}
	for _, r := range []conversation.Retention{never, always, last(1), last(2), last(3), last(1_000_000)} {
		p := part("x")
		p.Retention = r
		m.Parts = append(m.Parts, p)
	}
	for number, want := range map[int32][]int32{
		-1: nil, 0: nil, 1: {2}, 2: {2, 3}, 3: {2, 3, 4}, 999_999: {2, 3, 4}, 1_000_000: {2, 3, 4, 5}, 1<<31 - 1: {2, 3, 4, 5},
	} {
		if got := retention.Expired(m, number); !slices.Equal(got, want) {
			t.Errorf("number %d: %v, want %v", number, got, want)
		}
	}
}

// TestVariant_HoldsWhatBelongsToIt: headers included, and weighs no more.
func TestVariant_HoldsWhatBelongsToIt(t *testing.T) {
	m := &conversation.Message{Index: 7, Tokens: 4, Parts: retention.Layout([]conversation.Part{part("mine")}, []conversation.Addition{
		add("p", "H", "a", true, never), add("q", "I", "b", false, last(1)), add("r", "J", "c", true, always),
	})}
	for i := range m.Parts {
		m.Parts[i].Tokens = 10
		m.Tokens += 10
	}
	before := sheet(m.Parts)
	for persistent, want := range map[bool]string{false: "mine H a _ J c _", true: "mine I b _ J c _"} {
		got := retention.Variant(m, persistent)
		var texts []string
		for _, p := range got.Parts {
			texts = append(texts, strings.ReplaceAll(p.Text.Inline, "\n\n", "_"))
		}
		if strings.Join(texts, " ") != want || got.Tokens != 74 || got.Index != 7 {
			t.Errorf("persistent %v: %q, %d tokens", persistent, texts, got.Tokens)
		}
	}
	if sheet(m.Parts) != before {
		t.Error("the message was changed")
	}
}
