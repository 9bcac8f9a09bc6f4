package conversation_test

import (
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

func TestMedia_Line_IsOneLine(t *testing.T) {
	for want, m := range map[string]*conversation.Media{
		"[Media: image/png, 3 bytes]":          {MIMEType: "image/png", Data: conversation.Content{Inline: "PNG"}},
		"[Media: unknown type, https://e.x/a]": {URI: "https://e.x/\na"},
		"[Media: x, 9 bytes]":                  {MIMEType: "x", Data: conversation.Content{Ref: &conversation.ContentRef{Bytes: 9}}},
		"[Media: y, 600 bytes]":                {MIMEType: "y", URI: strings.Repeat("u", 600)},
		"[Media: z, 7 bytes]":                  {MIMEType: "z", URI: "data:,x"},
	} {
		if got := m.Line(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
