package expiry_test

import (
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/expiry"
)

// TestDue_Erases_WhatCompactionLeaves_IsNotErased: a text is erased if it is longer than what compaction leaves of it, or if media are with it.
func TestDue_Erases_WhatCompactionLeaves_IsNotErased(t *testing.T) {
	length := int32(300)
	picture := conversation.Part{Kind: conversation.PartMedia, Media: &conversation.Media{MIMEType: "image/png", URI: "x:y"}}
	for name, tt := range map[string]struct {
		kind  expiry.Kind
		parts []conversation.Part
		erase bool // something is to be erased
		want  bool
	}{
		"as long":            {expiry.Compact, []conversation.Part{said(strings.Repeat("a", 300))}, true, false},
		"longer":             {expiry.Compact, []conversation.Part{said(strings.Repeat("a", 301))}, true, true},
		"with a picture":     {expiry.Compact, []conversation.Part{said("a"), picture}, true, true},
		"short, and cleared": {expiry.Clear, []conversation.Part{said("a")}, true, true},
		"longer, and kept":   {expiry.Compact, []conversation.Part{said(strings.Repeat("a", 301))}, false, false},
	} {
		u := unit(4, 1, message(conversation.RoleUser, nil, tt.parts...))
		d := expiry.Due{Kind: tt.kind, Unit: &u, Index: 4, Part: expiry.MessageText, Expiration: conversation.Expiration{CompactLength: &length}}
		if tt.erase {
			d.Erase = []expiry.Place{{Index: 4, Part: expiry.MessageText}}
		}
		if got := d.Erases(); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
