package provider_test

import (
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// rendered writes a list that was read for a model, called by itself or by another.
func rendered(t *testing.T, d door, list, by, called string) (string, []provider.Repair) {
	t.Helper()
	in, err := d.reader.Read(&provider.ReadRequest{JSON: list, Shape: provider.ShapeMessage, Model: by})
	if err != nil {
		t.Fatal(err)
	}
	r := newRecord()
	recorded(t, r, in.Messages)
	v := compose(d.Format, r.units(), called, chars4)
	_, out := provider.Assemble(d.Traits(), v.blocks)
	return string(out), v.repairs
}

// TestResponses_ItemIDs_GoWithTheirReasoning: OpenAI refuses an item with an id if its reasoning is missing.
func TestResponses_ItemIDs_GoWithTheirReasoning(t *testing.T) {
	d := doorOf(conversation.FormatOpenAIResponses)
	list := func(reasoning string) string {
		return `[{"role":"user","content":"q"},` + reasoning + `{"type":"message","id":"msg_1","status":"completed","role":"assistant","content":[{"type":"output_text","text":"Look.","annotations":[]}]},` +
			`{"type":"function_call","id":"fc_1","status":"completed","call_id":"call_9","name":"get","arguments":"{}"},{"type":"function_call_output","call_id":"call_9","output":"1"}]`
	}
	const whole, broken = `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"e"},`, `{"type":"reasoning","id":"rs_1"},`
	for _, c := range []struct {
		name, reasoning, called string
		ids                     bool
	}{
		{"with its reasoning", whole, "gpt-5.1", true},
		{"without any", "", "gpt-5.1", true},
		{"of a release", whole, "gpt-5.1-2025-11-13", true},
		{"whose reasoning is left out", broken, "gpt-5.1", false},
		{"of another model", whole, "gpt-4.1", false},
	} {
		out, repairs := rendered(t, d, list(c.reasoning), "gpt-5.1", c.called)
		if ids := strings.Contains(out, `"msg_1"`) && strings.Contains(out, `"fc_1"`); ids != c.ids || !ids && strings.Contains(out, `_1"`) {
			t.Errorf("%s: %s", c.name, out)
		}
		if !strings.Contains(out, `"call_id":"call_9"`) {
			t.Errorf("%s: the call's id is another: %s", c.name, out)
		}
		for _, r := range repairs {
			if r.Reason == conversation.ReasonResidueDropped {
				t.Errorf("%s: an id that nobody else reads has a decision: %+v", c.name, r)
			}
		}
	}
}

// TestResponses_ItemIDs_OfASeveredTurn_AreLeftOut: the reasoning before the turn may be in a message of its own that is not shown.
func TestResponses_ItemIDs_OfASeveredTurn_AreLeftOut(t *testing.T) {
	const list = `[{"role":"user","content":"q"},{"type":"message","id":"msg_1","status":"completed","role":"assistant","content":[{"type":"output_text","text":"Look.","annotations":[]}]},` +
		`{"type":"function_call","id":"fc_1","status":"completed","call_id":"call_9","name":"get","arguments":"{}"},{"type":"function_call_output","call_id":"call_9","output":"1"}]`
	d := doorOf(conversation.FormatOpenAIResponses)
	in, err := d.reader.Read(&provider.ReadRequest{JSON: list, Shape: provider.ShapeMessage, Model: "gpt-5.1"})
	if err != nil {
		t.Fatal(err)
	}
	r := newRecord()
	recorded(t, r, in.Messages)
	for _, severed := range []bool{false, true} {
		out := ""
		for _, b := range d.Format.Unit(&r.units()[1], provider.UnitContext{Model: "gpt-5.1", Count: chars4, Severed: severed}).Blocks {
			out += string(b.JSON)
		}
		if strings.Contains(out, "msg_1") == severed || strings.Contains(out, "fc_1") == severed || !strings.Contains(out, "call_9") {
			t.Errorf("severed %t: %s", severed, out)
		}
	}
}

// TestCallIDs_OfEveryProvider_WhereTheTargetTakesThem: Mistral refuses all but nine letters and digits, others what is long or has signs.
func TestCallIDs_OfEveryProvider_WhereTheTargetTakesThem(t *testing.T) {
	for _, c := range []struct {
		format    conversation.Format
		model, id string
		stays     bool
	}{
		{conversation.FormatOpenAIChat, "mistral-large-latest", "D681PevKs", true}, {conversation.FormatOpenAIChat, "mistralai/devstral-2512", "call_123456789", false},
		{conversation.FormatOpenAIChat, "mistral-large-latest", "D681-evKs", false}, {conversation.FormatOpenAIChat, "gpt-5.1", "call_123456789", true},
		{conversation.FormatOpenAIChat, "kimi-k2-thinking", "functions.get:0", true}, {conversation.FormatOpenAIChat, "", strings.Repeat("x", 41), false},
		{conversation.FormatOpenAIChat, "gpt-5.1", "a b", false}, {conversation.FormatAnthropic, "claude-opus-4-6", "functions.get:0", false},
		{conversation.FormatAnthropic, "claude-opus-4-6", "D681PevKs", true}, {conversation.FormatAnthropic, "claude-opus-4-6", "toolu_01A09q90qw90lq917835lq9", true},
		{conversation.FormatOpenAIResponses, "gpt-5.1", "toolu_01A09q90qw90lq917835lq9", true}, {conversation.FormatOpenAIResponses, "gpt-5.1", strings.Repeat("x", 65), false},
		{conversation.FormatNeutral, "", "functions.get:0", true}, {conversation.FormatOpenAIChat, "gpt-5.1", provider.MadeID(8), true},
	} {
		list := `[{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"` + c.id + `","type":"function","function":{"name":"get","arguments":"{}"}}]},` +
			`{"role":"tool","tool_call_id":"` + c.id + `","content":"1"}]`
		f := formats()[0]
		for _, g := range formats() {
			if g.Format() == c.format {
				f = g
			}
		}
		out, _ := rendered(t, door{f, doorOf(conversation.FormatOpenAIChat).reader}, list, "m", c.model)
		if n := strings.Count(out, `"`+c.id+`"`); n != 2 && c.stays || n != 0 && !c.stays {
			t.Errorf("%v, %q to %q: %s", c.format, c.id, c.model, out)
		}
		if n := strings.Count(out, `"`+provider.MadeID(1)+`"`); n != 2 && !c.stays {
			t.Errorf("%v, %q to %q has no id of its own: %s", c.format, c.id, c.model, out)
		}
	}
}
