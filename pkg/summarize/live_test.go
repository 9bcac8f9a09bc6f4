package summarize

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

func unitOf(index int32, parts ...conversation.Part) conversation.Unit {
	m := &conversation.Message{Index: index, Role: conversation.RoleAssistant, Parts: parts}
	return conversation.Unit{Items: []conversation.Item{{Message: m, Parts: parts}}}
}

func textPart(text string) conversation.Part {
	return conversation.Part{Kind: conversation.PartText, Text: conversation.Content{Inline: text}}
}

func TestLiveTask_Text_SaysWhatLeavesAndWhatStays(t *testing.T) {
	t.Parallel()
	call := conversation.Part{Kind: conversation.PartToolCall, Call: &conversation.ToolCall{Name: "read", Arguments: conversation.Content{Inline: `{"p":1}`}}}
	stays := unitOf(7, textPart(`  "I stay" `+strings.Repeat("x", 500)), call)
	task := LiveTask{Chars: 9000, Target: 700, Stays: &stays, Unseen: []conversation.Unit{unitOf(1, textPart(strings.Repeat("unseen ", 400)))}, UnseenChars: 600}
	text, err := task.Text()
	if err != nil {
		t.Fatal(err)
	}
	begin := strings.Index(text, `{"leaves"`)
	var document liveDocument
	if err := json.NewDecoder(strings.NewReader(text[begin:])).Decode(&document); err != nil {
		t.Fatal(err)
	}
	if s := document.Stays; s.Role != "assistant" || !strings.HasPrefix(s.Text, `"I stay"`) || len(s.Text) != stayChars || s.Call != `read {"p":1}` {
		t.Errorf("%+v", document.Stays)
	}
	if len(document.Earlier) != 1 || len(document.Earlier[0].Text) > 600 || !strings.Contains(text, "Aim at 700 characters") || !strings.HasSuffix(text, liveAnswerPrompt) {
		t.Errorf("%s", text)
	}
	all, _ := (&LiveTask{Prompt: conversation.Prompt{Template: "Mine: {{content}}"}}).Text()
	if !strings.HasPrefix(all, `Mine: {"leaves":"all messages above this note"}`) || !strings.Contains(all, "Call no tool") {
		t.Errorf("%s", all)
	}
}

func TestService_Live_AsksTheAgentsModelWithItsBytes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		body := []byte(`{"messages": [1,  2]}`)
		var got Call
		m := &fake{respond: func(_ context.Context, c Call, _ int64) (Answer, error) { got = c; return said("short"), nil }}
		d := service(t, m, func(o *Options) { o.Live = map[conversation.Format]string{conversation.FormatOpenAIChat: "m"} })
		name, ok := d.CanAskLive(conversation.FormatOpenAIChat, "agent")
		if _, other := d.CanAskLive(conversation.FormatGemini, "agent"); !ok || other || name != "m/agent" {
			t.Fatalf("%s, %v, %v", name, ok, other)
		}
		r := request(longText("a"))
		r.Span, r.Live = true, &Live{Format: conversation.FormatOpenAIChat, Model: name, Body: body}
		if x := result(t, d, r); x.Text == "" || x.Model != name || string(got.Body) != string(body) || got.Model != "agent" || got.Prompt+got.System != "" {
			t.Errorf("%+v, %+v", x, got)
		}
		sent := got.WithMembers("model", "a", "max_tokens", 9)
		if string(sent) != `{"model":"a","max_tokens":9,"messages": [1,  2]}` {
			t.Errorf("%s", sent)
		}
		if none := (&Call{Body: []byte("[")}).WithMembers("model", "a"); none != nil {
			t.Errorf("%s", none)
		}
	})
}

func TestService_Live_CalledATool_IsRefused(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := &fake{respond: func(context.Context, Call, int64) (Answer, error) {
			a := said("short")
			a.ToolCall = true
			return a, nil
		}}
		wantReason(t, result(t, service(t, m, nil), request(longText("a"))), ToolCall)
	})
}

func TestSpanContent_OverItsLength_ResultsLoseTheirMiddlesFirst(t *testing.T) {
	t.Parallel()
	words := strings.Repeat("what the user said. ", 100)
	user := unitOf(0, textPart(words))
	user.Items[0].Message.Role = conversation.RoleUser
	long := conversation.Part{Kind: conversation.PartToolResult, Result: &conversation.ToolResult{Text: conversation.Content{Inline: strings.Repeat("out ", 5000)}}}
	tool := unitOf(1, long)
	tool.Items[0].Message.Role = conversation.RoleTool
	units := []conversation.Unit{user, tool}
	if got := SpanContent(nil, units, 4000); countChars(got) > 4000 || !strings.Contains(got, words) || !strings.Contains(got, "left out") {
		t.Errorf("%d characters, the user's words whole: %v", countChars(got), strings.Contains(got, words))
	}
	if got := SpanContent(nil, units, 1500); countChars(got) > 1500 || strings.Contains(got, words) {
		t.Errorf("%d characters", countChars(got))
	}
}

// TestService_Live_BodiesTakeSoMuchMemory: system prompts of many megabytes, each of another conversation, are turned away, and what has
// ended or was forgotten makes room. Requests without a body are none of it.
func TestService_Live_BodiesTakeSoMuchMemory(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := service(t, hanging(), func(o *Options) { o.CacheBytes = 1 << 10 })
		large := func(i int) *Request {
			r := request(longText(fmt.Sprint(i)))
			r.Scope.Conversation = fmt.Sprint("c", i)
			r.Span, r.Live = true, &Live{Model: "m/agent", Body: make([]byte, 2<<10)}
			return r
		}
		d.Start(large(0))
		d.Start(large(1))
		wantReason(t, result(t, d, large(2)), Busy)
		d.Start(request(longText("small")))
		if n := d.Stats().Pending; n != 3 {
			t.Errorf("%d are pending", n)
		}
		d.ForgetConversation(large(0).Scope)
		synctest.Wait()
		d.Start(large(3))
		if n := d.Stats().Pending; n != 3 {
			t.Errorf("%d are pending once one was forgotten", n)
		}
		d.Wait(t.Context(), []*Request{large(1), large(3)})
		synctest.Wait()
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.bodies != 0 {
			t.Errorf("%d bytes are held of what has ended", d.bodies)
		}
	})
}
