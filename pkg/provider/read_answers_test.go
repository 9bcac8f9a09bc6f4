package provider_test

import (
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// answers are what providers answer, as their SDKs print it.
func answers() map[conversation.Format]string {
	return map[conversation.Format]string{
		conversation.FormatOpenAIChat: `{"id":"chatcmpl-1","object":"chat.completion","model":"gpt-x","choices":[{"index":0,"finish_reason":"tool_calls","logprobs":null,"message":{"role":"assistant","content":"Look.","refusal":null,"annotations":[],"audio":null,"function_call":null,` +
			`"tool_calls":[{"id":"c1","type":"function","function":{"name":"get","arguments":"{}"}},{"id":"c2","type":"function","function":{"name":"get","arguments":"{\"a\":"}}]}}],` +
			`"usage":{"prompt_tokens":100,"completion_tokens":30,"total_tokens":130,"prompt_tokens_details":{"cached_tokens":60,"cache_write_tokens":10,"audio_tokens":null},"completion_tokens_details":{"reasoning_tokens":20}}}`,
		conversation.FormatOpenAIResponses: `{"id":"resp_1","object":"response","model":"gpt-x","status":"incomplete","error":null,"output":[{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"e","status":null},` +
			`{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Look.","annotations":[]}]},{"type":"function_call","id":"fc_1","call_id":"c1","name":"get","arguments":"{}"},` +
			`{"type":"function_call","id":"fc_2","call_id":"c2","name":"get","arguments":"{\"a\":"},{"type":"reasoning","id":"rs_2","summary":[]}],` +
			`"usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":60,"cache_write_tokens":10},"output_tokens":30,"output_tokens_details":{"reasoning_tokens":20},"total_tokens":130}}`,
		conversation.FormatAnthropic: `{"id":"msg_1","type":"message","role":"assistant","model":"claude-x","stop_reason":"tool_use","stop_sequence":null,"content":[{"type":"thinking","thinking":"hm","signature":"sig"},{"type":"text","text":"Look.","citations":null},` +
			`{"type":"tool_use","id":"c1","name":"get","input":{},"caller":null},{"type":"thinking","thinking":"and","signature":""}],` +
			`"usage":{"input_tokens":30,"cache_read_input_tokens":60,"cache_creation_input_tokens":10,"output_tokens":30,"output_tokens_details":{"thinking_tokens":20},"service_tier":"standard"}}`,
		conversation.FormatGemini: `{"sdk_http_response":{"headers":{}},"candidates":[{"index":0,"finish_reason":"STOP","content":{"role":"model","parts":[{"text":"hm","thought":true},{"text":"Look."},{"function_call":{"id":null,"name":"get","args":{}},"thought_signature":"c2ln"}]}}],"model_version":"gemini-x",` +
			`"usage_metadata":{"prompt_token_count":80,"cached_content_token_count":60,"tool_use_prompt_token_count":10,"candidates_token_count":10,"thoughts_token_count":20,"total_token_count":120,"traffic_type":null}}`,
	}
}

func TestReader_Read_Answer_TellsModelAndUsage(t *testing.T) {
	t.Parallel()
	want := map[conversation.Format]provider.Usage{
		conversation.FormatOpenAIChat:      {Input: 30, CacheRead: 60, CacheWrite: 10, Output: 10, Reasoning: 20},
		conversation.FormatOpenAIResponses: {Input: 30, CacheRead: 60, CacheWrite: 10, Output: 10, Reasoning: 20},
		conversation.FormatAnthropic:       {Input: 30, CacheRead: 60, CacheWrite: 10, Output: 10, Reasoning: 20},
		conversation.FormatGemini:          {Input: 30, CacheRead: 60, Output: 10, Reasoning: 20},
	}
	for f, answer := range answers() {
		in, err := doorOf(f).reader.Read(&provider.ReadRequest{JSON: answer})
		if err != nil {
			t.Fatal(err)
		}
		if in.Shape != provider.ShapeResponse || !strings.HasSuffix(in.Model, "-x") || in.Usage == nil || *in.Usage != want[f] {
			t.Errorf("%v: shape %d, model %q, usage %+v", f, in.Shape, in.Model, in.Usage)
		}
		if len(in.Messages) != 1 || in.Messages[0].Model != in.Model || in.Messages[0].Role != conversation.RoleAssistant {
			t.Errorf("%v: %+v", f, in.Messages)
		}
	}
}

// TestReader_Read_Aborted_LeavesWholeThings: incomplete calls, and thoughts without their signature, are dropped, and the
// message is tagged.
func TestReader_Read_Aborted_LeavesWholeThings(t *testing.T) {
	t.Parallel()
	want := map[conversation.Format]string{
		conversation.FormatOpenAIChat: "text call", conversation.FormatOpenAIResponses: "opaque text call",
		conversation.FormatAnthropic: "reasoning text call", conversation.FormatGemini: "text reasoning call",
	}
	for f, answer := range answers() {
		in, err := doorOf(f).reader.Read(&provider.ReadRequest{JSON: answer, Aborted: true})
		if err != nil {
			t.Fatal(err)
		}
		var kinds []string
		for _, p := range in.Messages[0].Parts {
			kinds = append(kinds, map[conversation.PartKind]string{
				conversation.PartText: "text", conversation.PartToolCall: "call", conversation.PartReasoning: "reasoning", conversation.PartOpaque: "opaque",
			}[p.Kind])
		}
		if got := strings.Join(kinds, " "); got != want[f] || !in.Messages[0].Aborted() {
			t.Errorf("%v: %s, tags %v", f, got, in.Messages[0].Tags)
		}
	}
}

// TestReader_Read_Fault_NamesItsPlace: an error never contains the value.
func TestReader_Read_Fault_NamesItsPlace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		format     conversation.Format
		json, want string
	}{
		{conversation.FormatOpenAIChat, `{"choices":[{"message":{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f"}},{"id":"b","function":{"name":7,"arguments":"secret"}}]}}]}`, "choices[0].message.tool_calls[1].function.name"},
		{conversation.FormatOpenAIChat, `{"choices":[{"message":{}},{"message":{}}]}`, "choices"},
		{conversation.FormatOpenAIChat, `[{"role":"user","content":"a"},{"role":"secret","content":"a"}]`, "[1].role"},
		{conversation.FormatOpenAIChat, `{"messages":[{"role":"user"}]}`, "messages[0].content"},
		{conversation.FormatOpenAIChat, `{"role":"user","content":"a","content":"b"}`, "json"},
		{conversation.FormatOpenAIChat, `{"role":"assistant","function_call":{"arguments":"{}"}}`, "function_call.name"},
		{conversation.FormatOpenAIChat, `{"role":"user"`, "json"},
		{conversation.FormatOpenAIResponses, `{"object":"response","output":[{"type":"function_call","name":"f"}]}`, "output[0].call_id"},
		{conversation.FormatOpenAIResponses, `[{"type":"message","role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,*"}]}]`, "[0].content[0].image_url"},
		{conversation.FormatAnthropic, `[{"role":"user","content":[{"type":"secret"}]}]`, "[0].content[0].type"},
		{conversation.FormatAnthropic, `[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":[1]}]}]`, "[0].content[0].input"},
		{conversation.FormatGemini, `{"candidates":[{},{}]}`, "candidates"},
		{conversation.FormatGemini, `{"contents":[{"role":"user","parts":[{"function_response":{"response":{}}}]}]}`, "contents[0].parts[0].functionResponse.name"},
	} {
		_, err := doorOf(c.format).reader.Read(&provider.ReadRequest{JSON: c.json})
		e, ok := err.(*conversation.Error) //nolint:errorlint // it is nobody's but the reader's
		if !ok || e.Kind != conversation.InvalidField || e.Violations[0].Field != c.want || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want %s", c.json, err, c.want)
		}
	}
}

func TestReader_Read_Auto_IsWhatTheJSONSays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		format conversation.Format
		json   string
		shape  provider.Shape
		system string
		roles  string
	}{
		{conversation.FormatOpenAIChat, `{"role":"system","content":"S"}`, provider.ShapeMessage, "", "system"},
		{conversation.FormatOpenAIChat, `[{"role":"system","content":"S"},{"role":"developer","content":"T"},{"role":"user","content":"q"},{"role":"system","content":"U"}]`, provider.ShapeHistory, "S|T", "user system"},
		{conversation.FormatOpenAIChat, `{"model":"m","messages":[{"role":"assistant","content":""},{"role":"user","content":"q"}]}`, provider.ShapeHistory, "", "user"},
		{conversation.FormatOpenAIResponses, `{"input":"q","instructions":"S"}`, provider.ShapeHistory, "S", "user"},
		{conversation.FormatOpenAIResponses, `{"type":"message","id":"m","role":"assistant","content":[{"type":"output_text","text":"a"}]}`, provider.ShapeMessage, "", "assistant"},
		{conversation.FormatAnthropic, `{"role":"assistant","content":"a"}`, provider.ShapeMessage, "", "assistant"},
		{conversation.FormatAnthropic, `{"type":"message","role":"assistant","stop_reason":"end_turn","content":[]}`, provider.ShapeResponse, "", ""},
		{conversation.FormatAnthropic, `{"type":"mess\u0061ge","role":"\u0061ssistant","stop_reason":"end_turn","content":[]}`, provider.ShapeResponse, "", ""},
		{conversation.FormatOpenAIResponses, `{"object":"respons\u0065","output":[]}`, provider.ShapeResponse, "", ""},
		{conversation.FormatAnthropic, `{"system":[{"type":"text","text":"S"},{"type":"text","text":"T"}],"messages":[{"role":"user","content":"q"}]}`, provider.ShapeHistory, "S|T", "user"},
		{conversation.FormatGemini, `{"contents":"q","system_instruction":"S"}`, provider.ShapeHistory, "S", "user"},
		{conversation.FormatGemini, `{"promptFeedback":{"blockReason":"X"},"usageMetadata":{"promptTokenCount":1}}`, provider.ShapeResponse, "", ""},
		{conversation.FormatGemini, `{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"result":"r"}}},{"text":"q"}]}`, provider.ShapeMessage, "", "tool user"},
	} {
		in, err := doorOf(c.format).reader.Read(&provider.ReadRequest{JSON: c.json})
		if err != nil {
			t.Fatal(c.json, err)
		}
		var roles []string
		for i := range in.Messages {
			roles = append(roles, in.Messages[i].Role.String())
		}
		if in.Shape != c.shape || strings.Join(in.System, "|") != c.system || strings.Join(roles, " ") != c.roles {
			t.Errorf("%s: shape %d, system %q, roles %q", c.json, in.Shape, in.System, roles)
		}
	}
}

// TestReader_Read_Tail_LeadsNothing: if the beginning of a list was left out, none of its system messages leads the
// conversation.
func TestReader_Read_Tail_LeadsNothing(t *testing.T) {
	t.Parallel()
	in, err := doorOf(conversation.FormatOpenAIChat).reader.Read(&provider.ReadRequest{JSON: `[{"role":"system","content":"S"}]`, Tail: true})
	if err != nil || len(in.System) > 0 || len(in.Messages) != 1 {
		t.Errorf("%+v, %v", in, err)
	}
}

// TestReader_Read_Neighbors_AreOneMessage: to the model items directly after each other are one turn.
func TestReader_Read_Neighbors_AreOneMessage(t *testing.T) {
	t.Parallel()
	in, err := doorOf(conversation.FormatOpenAIResponses).reader.Read(&provider.ReadRequest{JSON: `[{"role":"user","content":"q"},{"type":"reasoning","id":"r","summary":[]},{"role":"assistant","content":"a"},
		{"type":"function_call","call_id":"1","name":"f","arguments":"{}"},{"type":"function_call","call_id":"2","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"1","output":"x"},{"type":"function_call_output","call_id":"2","output":"y"}]`})
	if err != nil {
		t.Fatal(err)
	}
	if len(in.Messages) != 4 || len(in.Messages[1].Parts) != 4 || in.Messages[1].First != 1 || in.Messages[1].End != 5 || in.Messages[3].First != 6 {
		t.Errorf("%+v", in.Messages)
	}
}

func TestReadUsage_Hostile_IsRefusedOrBounded(t *testing.T) {
	t.Parallel()
	for _, s := range []string{`[]`, `{"prompt_tokens":-1}`, `{"prompt_tokens":1.5}`, `{"prompt_tokens":"1"}`, `{"input_tokens":1000000001}`, `{`} {
		if u, err := provider.ReadUsage(s); err == nil {
			t.Errorf("%s: %+v", s, u)
		}
	}
	for s, want := range map[string]provider.Usage{
		`{}`: {},
		`{"prompt_tokens":10,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":8,"cache_write_tokens":8}}`: {CacheRead: 8, CacheWrite: 8, Output: 5},
		`{"input_tokens":10,"output_tokens":5}`:                               {Input: 10, Output: 5},
		`{"promptTokenCount":10,"totalTokenCount":12,"thoughtsTokenCount":2}`: {Input: 10, Reasoning: 2},
	} {
		if u, err := provider.ReadUsage(s); err != nil || *u != want {
			t.Errorf("%s: %+v, %v", s, u, err)
		}
	}
}

// TestReader_Read_AnswerWithOddUsage_IsReadWithoutIt: a faulty usage must not keep a reply off the record.
func TestReader_Read_AnswerWithOddUsage_IsReadWithoutIt(t *testing.T) {
	for _, odd := range []string{`{"prompt_tokens":1.5}`, `{"prompt_tokens":"12"}`, `{"prompt_tokens":-1,"completion_tokens":3}`, `[]`, `7`} {
		in, err := doorOf(conversation.FormatOpenAIChat).reader.Read(&provider.ReadRequest{JSON: `{"object":"chat.completion","choices":[{"message":{"role":"assistant","content":"Done."}}],"usage":` + odd + `}`})
		if err != nil || len(in.Messages) != 1 || in.Usage != nil {
			t.Errorf("%s: %+v, %v", odd, in, err)
		}
	}
}
