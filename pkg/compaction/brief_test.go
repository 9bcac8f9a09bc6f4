package compaction_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// TestBrief_LowResults_AreOneLine: nothing else is changed, and neither is the input.
func TestBrief_LowResults_AreOneLine(t *testing.T) {
	long := "found src/a.go\n\tand src/b.go\n" + strings.Repeat("more of it ", 100)
	given := func(importance conversation.Importance, change func(*conversation.Part)) []conversation.Unit {
		p := conversation.Part{
			Kind: conversation.PartToolResult, Tokens: 300,
			Result: &conversation.ToolResult{CallID: "k", Ordinal: 3, Text: conversation.Content{Inline: long}, Importance: importance},
		}
		change(&p)
		said := conversation.Part{Kind: conversation.PartText, Text: conversation.Content{Inline: long}, Tokens: 300}
		m := &conversation.Message{Index: 7, Role: conversation.RoleTool, Parts: []conversation.Part{said, p}, Importance: importance}
		return []conversation.Unit{{Items: []conversation.Item{{Message: m, Parts: m.Parts}}}}
	}
	asIs := func(*conversation.Part) {}
	for _, tt := range []struct {
		name       string
		importance conversation.Importance
		change     func(*conversation.Part)
		short      bool
	}{
		{"nothing is said", conversation.ImportanceUnspecified, asIs, false},
		{"normal", conversation.ImportanceNormal, asIs, false},
		{"high", conversation.ImportanceHigh, asIs, false},
		{"low", conversation.ImportanceLow, asIs, true},
		{"low, as JSON", conversation.ImportanceLow, func(p *conversation.Part) { p.Result.Output = conversation.OutputJSON }, true},
		{"low, cited", conversation.ImportanceLow, func(p *conversation.Part) { p.Citation = &conversation.Citation{} }, false},
	} {
		units := given(tt.importance, tt.change)
		out := compaction.Brief(units)
		if !reflect.DeepEqual(units, given(tt.importance, tt.change)) {
			t.Errorf("%s: what was given has changed", tt.name)
		}
		if !tt.short {
			if !reflect.DeepEqual(out, units) {
				t.Errorf("%s: %+v", tt.name, out)
			}
			continue
		}
		words, p := out[0].Items[0].Parts[0], out[0].Items[0].Parts[1]
		line := p.Result.Text.Inline
		if words.Text.Inline != long || !strings.HasPrefix(line, "found src/a.go and src/b.go more") || strings.Contains(line, "\n") || len([]rune(line)) != 200 {
			t.Errorf("%s: %q", tt.name, line)
		}
		if p.Result.Output != conversation.OutputText || p.Result.Ordinal != 3 || p.Tokens <= 0 || p.Tokens > 100 {
			t.Errorf("%s: %+v", tt.name, p)
		}
		if names := compaction.Facts(units); len(names) < 2 {
			t.Errorf("%s: facts are %v", tt.name, names)
		}
	}
}
