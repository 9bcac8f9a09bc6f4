package appends

import (
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/placement"
	"github.com/palimpsest-context/palimpsest/pkg/tokens/chars4"
)

// TestMediaWeight_OfAResult_IsWhatItsTextsDoNotWeigh: wherever between them the media stand.
func TestMediaWeight_OfAResult_IsWhatItsTextsDoNotWeigh(t *testing.T) {
	const weight = 70
	text := conversation.ResultPart{Text: conversation.Content{Inline: "a text of some words"}}
	picture := conversation.ResultPart{Media: &conversation.Media{MIMEType: "image/png", URI: "x:y"}}
	scale := placement.Scale{Counter: chars4.New(), Media: weight}
	for name, tt := range map[string]struct {
		parts []conversation.ResultPart
		want  int32
	}{
		"behind":  {[]conversation.ResultPart{text, picture}, weight},
		"before":  {[]conversation.ResultPart{picture, text, text}, weight},
		"between": {[]conversation.ResultPart{text, picture, text, picture, text}, weight},
		"none":    {[]conversation.ResultPart{text}, 0},
	} {
		p := &conversation.Part{Kind: conversation.PartToolResult, Result: &conversation.ToolResult{Output: conversation.OutputParts, Parts: tt.parts}}
		if scale.Part(p); mediaWeight(p, scale) != tt.want {
			t.Errorf("%s: %d, want %d", name, mediaWeight(p, scale), tt.want)
		}
	}
	if n := mediaWeight(&conversation.Part{Kind: conversation.PartText}, scale); n != 0 {
		t.Errorf("a text has media of %d tokens", n)
	}
}
