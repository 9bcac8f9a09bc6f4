package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

const placeholder = "[Expired tool result removed. Full text: expand_message(%d)]"

// wantTurn fails unless a build shows exactly these messages.
func wantTurn(t *testing.T, r *engine.BuildResult, want ...string) {
	t.Helper()
	if got := seen(r); !slices.Equal(got, want) {
		t.Errorf("turn %d shows\n%s\nwant\n%s", r.Turn, abridged(strings.Join(got, "\n")), abridged(strings.Join(want, "\n")))
	}
}

// wantEvents fails unless a build tells of exactly these events, as "type index".
func wantEvents(t *testing.T, r *engine.BuildResult, want ...string) {
	t.Helper()
	names := map[conversation.EventType]string{
		conversation.EventAdded: "added", conversation.EventClipped: "clipped", conversation.EventExpired: "expired", conversation.EventCompacted: "compacted",
		conversation.EventRemoved: "removed", conversation.EventRetentionApplied: "retention", conversation.EventExpanded: "expanded",
	}
	var got []string
	for _, e := range r.Events {
		got = append(got, fmt.Sprint(names[e.Type], " ", e.Index))
	}
	if !slices.Equal(got, want) {
		t.Errorf("turn %d tells of %q, want %q", r.Turn, got, want)
	}
}

// TestEngine_Build_RemovesUnits: a unit leaves when all of it is due. Until then a due result is a placeholder, so that every
// call stays answered (behaviour §5). The events are expired, then removed.
func TestEngine_Build_RemovesUnits(t *testing.T) {
	b := newEager()
	b.append(t, "c", user("go"), call("a", "b"), resultLiving("a", words(100), removed(1)), resultLiving("b", words(100), removed(3)), user("next"))
	b.turn(t, "c")
	r := b.turn(t, "c") // age 2
	wantTurn(t, r, "go", "call|call", fmt.Sprintf(placeholder, 2), words(100), "next")
	wantEvents(t, r, "expired 2")
	if d := decision(r, 2); d == nil || d.Kind != conversation.DecisionCleared || d.Reason != conversation.ReasonExpired || d.Before != 104 {
		t.Errorf("decision %+v", d)
	}
	r = b.turn(t, "c")
	wantEvents(t, r)
	r = b.turn(t, "c") // age 4
	wantTurn(t, r, "go", "next")
	wantEvents(t, r, "removed 1", "removed 2", "expired 3", "removed 3")
	for index, why := range map[int32]conversation.Reason{1: conversation.ReasonUnitExpired, 2: conversation.ReasonUnitExpired, 3: conversation.ReasonExpired} {
		if d := decision(r, index); d == nil || d.Kind != conversation.DecisionRemoved || d.Reason != why || d.After != 0 {
			t.Errorf("decision about %d: %+v", index, d)
		}
	}
	wantEvents(t, b.turn(t, "c"))
	b.rebuildsAll(t, "c", 5)
}

// TestEngine_Build_Removes: it says which messages leave together.
func TestEngine_Build_Removes(t *testing.T) {
	gone := removed(0)
	spoken := call("k")
	spoken.Parts = append([]conversation.Part{{Kind: conversation.PartText, Text: conversation.Content{Inline: "let me see"}}}, spoken.Parts...)
	blank := call("k")
	blank.Parts = append([]conversation.Part{{Kind: conversation.PartText, Text: conversation.Content{Inline: " \n"}}}, blank.Parts...)
	thought := call("k")
	thought.Parts = append([]conversation.Part{
		{Kind: conversation.PartReasoning, Reasoning: &conversation.Reasoning{Text: conversation.Content{Inline: "hm"}, Provider: "openai"}},
		{Kind: conversation.PartOpaque, Opaque: &conversation.Opaque{Provider: "openai", JSON: conversation.Content{Inline: `{"type":"x"}`}}},
	}, thought.Parts...)
	for _, tt := range []struct {
		name string
		unit []conversation.Message
		want []string
	}{
		{"calls alone leave with their results", []conversation.Message{call("k"), resultLiving("k", words(50), gone)}, nil},
		{"reasoning and opaque blocks leave with them", []conversation.Message{thought, resultLiving("k", words(50), gone)}, nil},
		{"blank words say nothing", []conversation.Message{blank, resultLiving("k", words(50), gone)}, nil},
		{"words of its own stay", []conversation.Message{spoken, resultLiving("k", words(50), gone)}, []string{"let me see|call", fmt.Sprintf(placeholder, 2)}},
		{"words that expire too do not", []conversation.Message{living(spoken, gone), resultLiving("k", words(50), gone)}, nil},
		{"words that expire wait for a result that does not", []conversation.Message{living(spoken, gone), result("k", "kept")}, []string{"let me see|call", "kept"}},
		{"two results in one message", []conversation.Message{call("k", "j"), twoResults(words(50), gone, "kept")},
			[]string{"call|call", fmt.Sprintf(placeholder, 2) + "|kept"}},
		{"a short result weighs less than a placeholder", []conversation.Message{call("k", "j"), resultLiving("k", "ok", gone), result("j", "kept")},
			[]string{"call|call", "ok", "kept"}},
		{"a user's words", []conversation.Message{living(user("x"), gone)}, nil},
		{"an assistant's words", []conversation.Message{living(answer("x"), gone)}, nil},
		{"a later system message's words", []conversation.Message{living(text(conversation.RoleSystem, "x"), gone)}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newEager()
			b.append(t, "c", user("go"))
			b.append(t, "c", tt.unit...)
			b.append(t, "c", user("next"))
			wantTurn(t, b.turn(t, "c"), slices.Concat([]string{"go"}, tt.want, []string{"next"})...)
			r, err := b.ask("c", room, nil) // what no provider takes is refused
			if err != nil || r.Blocks == 0 {
				t.Error(err)
			}
			b.rebuildsAll(t, "c", 2)
		})
	}
}

// twoResults is a message with two results, of which the first lives so long.
func twoResults(one string, e *conversation.Expiration, two string) conversation.Message {
	m := results("k", "j")
	m.Parts[0].Result.Text.Inline, m.Parts[0].Result.Expiration = one, e
	m.Parts[1].Result.Text.Inline = two
	return m
}

// TestEngine_Build_NeverExpires: leading system messages, pinned units (including results in them) and the newest unit never
// expire, at any age and whatever settings say (behaviour §4, §8).
func TestEngine_Build_NeverExpires(t *testing.T) {
	gone := removed(0)
	short := compacted(0, 10)
	b := newEager()
	asked := call("p")
	asked.Pinned = true
	b.append(t, "c",
		living(text(conversation.RoleSystem, words(100)), gone), living(text(conversation.RoleSystem, words(101)), erasing(short)),
		user("go"), asked, resultLiving("p", words(102), erasing(gone)), living(pinned(user(words(103))), erasing(short)),
		living(user(words(104)), short), call("n", "o"), resultLiving("n", words(105), gone), resultLiving("o", words(106), short))
	all := overriding(conversation.ExpirationOverride{Expiration: *removed(0)})
	for range 3 {
		r := b.turn(t, "c", all)
		wantTurn(t, r, words(100), words(101), "go", "call", words(102), words(103), firstChars(words(104), 10, 6), "call|call", words(105), words(106))
	}
	if b.head(t, "c").EditSeq != 1 {
		t.Errorf("%d edits", b.head(t, "c").EditSeq)
	}
	b.append(t, "c", answer("said"))
	wantShown(t, b.turn(t, "c", all), 7, "")
}

// TestEngine_Build_CompactsWords: a message's text parts are taken together; media becomes one line; calls, reasoning and opaque
// blocks are never edited (behaviour §4, §5).
func TestEngine_Build_CompactsWords(t *testing.T) {
	part := func(s string) conversation.Part {
		return conversation.Part{Kind: conversation.PartText, Text: conversation.Content{Inline: s}}
	}
	picture := conversation.Part{Kind: conversation.PartMedia, Media: &conversation.Media{MIMEType: "image/png", URI: "https://example.com/x.png"}}
	thinking := conversation.Part{Kind: conversation.PartReasoning, Reasoning: &conversation.Reasoning{Text: conversation.Content{Inline: words(300)}, Provider: "anthropic"}}
	block := conversation.Part{Kind: conversation.PartOpaque, Opaque: &conversation.Opaque{Provider: "openai", JSON: conversation.Content{Inline: `"` + words(300) + `"`}}}
	line := "[Media: image/png, https://example.com/x.png]"
	for _, tt := range []struct {
		name  string
		role  conversation.Role
		parts []conversation.Part
		want  string
	}{
		{"two texts are one", conversation.RoleUser, []conversation.Part{part(long("a", 90)), part(long("b", 910))},
			long("a", 90) + long("b", 910)[:10] + "...\n\n[Compacted: first 100 of 1000 characters shown. Full text: expand_message(1)]"},
		{"media between them", conversation.RoleUser, []conversation.Part{part(long("a", 500)), picture, part(long("b", 500))},
			long("a", 100) + "...\n\n[Compacted: first 100 of 1000 characters shown. Full text: expand_message(1)]|" + line},
		{"media before them", conversation.RoleUser, []conversation.Part{picture, part(long("b", 500))},
			line + "|" + long("b", 100) + "...\n\n[Compacted: first 100 of 500 characters shown. Full text: expand_message(1)]"},
		{"media alone", conversation.RoleUser, []conversation.Part{picture}, line},
		{"media beside a short text", conversation.RoleUser, []conversation.Part{part("what is this?"), picture}, "what is this?|" + line},
		{"reasoning and opaque blocks", conversation.RoleAssistant, []conversation.Part{thinking, part(long("a", 500)), block},
			"reasoning:" + words(300) + "|" + long("a", 100) + "...\n\n[Compacted: first 100 of 500 characters shown. Full text: expand_message(1)]|opaque:" + `"` + words(300) + `"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newEager()
			m := conversation.Message{Role: tt.role, Parts: tt.parts, Expiration: compacted(0, 100)}
			b.append(t, "c", user("go"), m, user("next"))
			r := b.turn(t, "c")
			got, _ := message(r, 1)
			if got = strings.ReplaceAll(got, "\u00a0", " "); got != tt.want {
				t.Errorf("shows\n%s\nwant\n%s", abridged(got), abridged(tt.want))
			}
			b.rebuildsAll(t, "c", 1)
		})
	}
}

// TestEngine_Build_CompactsResultMedia: the media of a tool result becomes a line too, whether its text is long or short.
func TestEngine_Build_CompactsResultMedia(t *testing.T) {
	for _, tt := range []struct {
		chars int
		want  string
	}{
		{20, long("x", 20) + "\n[Media: image/png, 3 bytes]"},
		{2000, long("x", 100) + "...\n\n[Compacted: first 100 of 2028 characters shown. Full text: expand_message(2)]"},
	} {
		b := newEager()
		m := result("k", "")
		m.Parts[0].Result.Output, m.Parts[0].Result.Expiration = conversation.OutputParts, compacted(0, 100)
		m.Parts[0].Result.Parts = []conversation.ResultPart{
			{Text: conversation.Content{Inline: long("x", tt.chars)}}, {Media: &conversation.Media{MIMEType: "image/png", Data: conversation.Content{Inline: "PNG"}}},
		}
		b.append(t, "c", user("go"), call("k"), m, user("next"))
		wantShown(t, b.turn(t, "c"), 2, tt.want)
	}
}

// TestEngine_Build_WordsBesideBlocks: plugins' blocks next to words do not count toward what compacting the words frees.
func TestEngine_Build_WordsBesideBlocks(t *testing.T) {
	b := newEager()
	addition := conversation.Addition{
		Plugin: "p", Display: true, Retention: conversation.Retention{Kind: conversation.RetentionKeepLast, Last: 9}, Parts: user(words(2000)).Parts,
	}
	for _, chars := range []int{520, 900} {
		_, err := b.Append(ctx, engine.AppendRequest{
			Key: keyOf("c"), Messages: []conversation.Message{living(user(long("w", chars)), compacted(0, 500)), answer("ok")},
			Extras: []engine.AppendExtra{{Additions: []conversation.Addition{addition}}, {}},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	r := b.turn(t, "c")
	wantEvents(t, r, "compacted 2")
	if saved := r.Events[0].Saved; saved != 225-int64(len(firstChars(long("w", 900), 500, 2))+3)/4 {
		t.Errorf("saved %d", saved)
	}
}
