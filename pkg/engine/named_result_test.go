package engine_test

import (
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// TestEngine_Append_ResultWithoutID_AnswersItsToolsCall: Gemini's responses have no id. Each answers the first open call of its tool, and
// is recorded with that call's id. It is refused if nobody called the tool.
func TestEngine_Append_ResultWithoutID_AnswersItsToolsCall(t *testing.T) {
	t.Parallel()
	b := newEager()
	asked := conversation.Message{Role: conversation.RoleAssistant}
	for i, name := range []string{"get", "put", "get"} {
		asked.Parts = append(asked.Parts, conversation.Part{Kind: conversation.PartToolCall, Call: &conversation.ToolCall{CallID: string(rune('a' + i)), Name: name}})
	}
	answered := conversation.Message{Role: conversation.RoleTool}
	for _, name := range []string{"put", "get", "get"} {
		answered.Parts = append(answered.Parts, conversation.Part{Kind: conversation.PartToolResult, Result: &conversation.ToolResult{Name: name}})
	}
	b.append(t, "c", user("go"), asked, answered)
	ids := ""
	for _, p := range b.records(t, "c")[2].Parts {
		ids += p.Result.CallID
	}
	if ids != "bac" {
		t.Errorf("the results answer %q", ids)
	}
	stray := conversation.Message{Role: conversation.RoleTool, Parts: []conversation.Part{{Kind: conversation.PartToolResult, Result: &conversation.ToolResult{Name: "get"}}}}
	_, err := b.Append(ctx, engine.AppendRequest{Key: keyOf("c"), Messages: []conversation.Message{stray}})
	expect(t, err, conversation.ResultWithoutCall)
}
