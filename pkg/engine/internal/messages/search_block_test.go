package messages

import (
	"slices"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// TestWordsOf_EveryKindOfPart_WhatSomebodyMayLookFor: texts, calls with their arguments, and results, also those of several parts.
func TestWordsOf_EveryKindOfPart_WhatSomebodyMayLookFor(t *testing.T) {
	text := func(s string) conversation.Content { return conversation.Content{Inline: s} }
	picture := &conversation.Media{MIMEType: "image/png", URI: "x:y"}
	for name, tt := range map[string]struct {
		part conversation.Part
		want []string
	}{
		"a text":   {conversation.Part{Kind: conversation.PartText, Text: text("a")}, []string{"a"}},
		"a call":   {conversation.Part{Kind: conversation.PartToolCall, Call: &conversation.ToolCall{Name: "read", Arguments: text("{}")}}, []string{"read", "{}"}},
		"a result": {conversation.Part{Kind: conversation.PartToolResult, Result: &conversation.ToolResult{Text: text("a")}}, []string{"a"}},
		"a result of parts": {conversation.Part{Kind: conversation.PartToolResult, Result: &conversation.ToolResult{
			Output: conversation.OutputParts, Parts: []conversation.ResultPart{{Text: text("a")}, {Media: picture}, {Text: text("b")}},
		}}, []string{"a", "b"}},
		"media": {conversation.Part{Kind: conversation.PartMedia, Media: picture}, nil},
	} {
		var got []string
		for _, c := range wordsOf(&tt.part) {
			got = append(got, c.Inline)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
