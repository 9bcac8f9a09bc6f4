package engine_test

import (
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// TestEngine_Append_WeighsByKind checks counts against behaviour §12: the content, 4 for a message, 6 for a call with its name
// and arguments, a flat weight for media, and opaque blocks by their JSON.
func TestEngine_Append_WeighsByKind(t *testing.T) {
	inline := func(tokens int) conversation.Content { return conversation.Content{Inline: words(tokens)} }
	image := &conversation.Media{MIMEType: "image/png", Data: inline(999)}
	for name, tt := range map[string]struct {
		part conversation.Part
		want int32
	}{
		"text":  {conversation.Part{Kind: conversation.PartText, Text: inline(7)}, 7},
		"media": {conversation.Part{Kind: conversation.PartMedia, Media: image}, 1600},
		"call": {conversation.Part{Kind: conversation.PartToolCall, Call: &conversation.ToolCall{
			CallID: "not counted", Name: words(2), Arguments: inline(5),
		}}, 6 + 2 + 5},
		"reasoning": {conversation.Part{Kind: conversation.PartReasoning, Reasoning: &conversation.Reasoning{
			Text: inline(8), Signature: inline(100),
		}}, 8},
		"hidden reasoning": {conversation.Part{Kind: conversation.PartReasoning, Reasoning: &conversation.Reasoning{Signature: inline(100)}}, 100},
		"opaque":           {conversation.Part{Kind: conversation.PartOpaque, Opaque: &conversation.Opaque{JSON: inline(9)}}, 9},
	} {
		b := newBench(0)
		m := conversation.Message{Role: conversation.RoleAssistant, Parts: []conversation.Part{tt.part}}
		if got := b.append(t, "c", m).Messages[0]; got.Tokens != 4+tt.want || got.Parts[0].Tokens != tt.want || got.Estimated {
			t.Errorf("%s weighs %d, want %d", name, got.Tokens, 4+tt.want)
		}
	}
	b := newBench(0)
	several := result("a", "")
	several.Parts[0].Result.Output = conversation.OutputParts
	several.Parts[0].Result.Parts = []conversation.ResultPart{{Text: inline(3)}, {Media: image}, {Text: inline(2)}}
	if got := b.append(t, "c", call("a"), several).Messages[1]; got.Tokens != 4+3+1600+2 {
		t.Errorf("a result of parts weighs %d", got.Tokens)
	}
	if got := b.Durability(); got != store.DurabilityNone {
		t.Errorf("durability %s", got)
	}
}

// TestEngine_Build_EverythingNewIsHidden: what is left is shown, however little of it the window had. What exceeds the budget
// is refused for that reason, and nothing else fails.
func TestEngine_Build_EverythingNewIsHidden(t *testing.T) {
	for _, tt := range []struct {
		name   string
		before []conversation.Message
		want   conversation.Kind
	}{
		{"a pin over the budget", []conversation.Message{pinned(user(words(2000)))}, conversation.ContextCannotFit},
		{"a pin over the budget behind a system message", []conversation.Message{text(conversation.RoleSystem, "s"), pinned(user(words(2000)))}, conversation.ContextCannotFit},
		{"a pin", []conversation.Message{pinned(user("p"))}, ""},
		{"nothing", nil, conversation.EmptyContext},
		{"a system message", []conversation.Message{text(conversation.RoleSystem, "s")}, conversation.EmptyContext},
		{"a system message over the budget", []conversation.Message{text(conversation.RoleSystem, words(2000))}, conversation.EmptyContext},
		{"a long history", []conversation.Message{user("q"), answer(words(600)), user("r"), answer(words(300))}, ""},
	} {
		for _, built := range []bool{false, true} {
			b := newBench(1 << 20)
			b.append(t, "c", tt.before...)
			first := int32(len(tt.before))
			b.append(t, "c", user("u"), answer("a"), user(words(50)))
			if built {
				_, _ = b.ask("c", 1000, nil)
			}
			b.edit(t, "c", hide(first, first+3))
			for _, f := range allFormats {
				r, err := b.Build(ctx, buildRequest("c", f, 1000))
				if tt.want == "" && (err != nil || r.Tokens.Total > 1000) || tt.want != "" && conversation.KindOf(err) != tt.want {
					t.Errorf("%s, built before %v, format %d: %v, want %q", tt.name, built, f, err, tt.want)
				}
			}
		}
	}
}

// TestEngine_Build_MaskedResultIsClippedInItsPlace: a mask changes the positions of shown parts, but not which part an edit is
// about.
func TestEngine_Build_MaskedResultIsClippedInItsPlace(t *testing.T) {
	b := newBench(0)
	b.append(t, "c", user("go"), call("a", "b"), results("a", "b"))
	long := call("c", "d")
	both := results("c", "d")
	both.Parts[1].Result.Text.Inline = words(900)
	b.append(t, "c", long, both)
	b.edit(t, "c", conversation.Edit{Kind: conversation.EditMask, Range: conversation.Range{First: 4, End: 5}, Mask: []int32{0}})
	b.build(t, "c", conversation.FormatOpenAIChat, 1000)
	snap, err := b.store.Read(ctx, keyOf("c"), store.Query{Edits: &store.EditRange{After: 1}})
	if err != nil || len(snap.Edits) != 1 || snap.Edits[0].Parts[0].Part != 1 {
		t.Errorf("%+v, %v", snap.Edits, err)
	}
}
