package view

import (
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// TestIsWhole_WhatIsShownOtherwise_IsNot: in these cases the caller's own elements must not be sent.
func TestIsWhole_WhatIsShownOtherwise_IsNot(t *testing.T) {
	message := &conversation.Message{Parts: []conversation.Part{TextPart("said")}}
	erased := &conversation.Message{Parts: []conversation.Part{{Kind: conversation.PartText, Text: conversation.Content{Erased: &conversation.ErasedContent{}}}}}
	recalled := TextPart("a memory")
	recalled.Tokens, recalled.Recalled = 3, &conversation.RecalledMemories{}
	for name, c := range map[string]struct {
		item conversation.Item
		want bool
	}{
		"as it was said":         {conversation.Item{}, true},
		"cited":                  {conversation.Item{Level: conversation.Cited}, false},
		"corrected":              {conversation.Item{Correction: 1}, false},
		"masked":                 {conversation.Item{Masked: 1}, false},
		"in the other variant":   {conversation.Item{Unseen: 1}, false},
		"behind what it recalls": {conversation.Item{Parts: []conversation.Part{recalled}, Positions: []int32{conversation.RecalledPart}}, false},
		"erased":                 {conversation.Item{Message: erased}, false},
	} {
		if c.item.Message == nil {
			c.item.Message = message
		}
		if isWhole(&c.item) != c.want {
			t.Errorf("%s: not %t", name, c.want)
		}
	}
}
