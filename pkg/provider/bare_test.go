package provider_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// bareItem is an object by itself, and what it is read as: the sides and what each says, or what a refusal names.
type bareItem struct{ json, want, refused string }

const (
	unclear  = "which does not say whose it is"
	streamed = "is a piece of a stream"
)

func bareItems() map[conversation.Format][]bareItem {
	return map[conversation.Format][]bareItem{
		conversation.FormatOpenAIChat: {
			{json: `{"role":"user","content":"SAID"}`, want: "user SAID"},
			{json: `{"role":"assistant","content":"SAID"}`, want: "assistant SAID"},
			{json: `{"index":0,"message":{"role":"assistant","content":"SAID"},"finish_reason":"stop"}`, want: "assistant SAID"},
			{json: `{"index":0,"message":{"content":"SAID"},"finish_reason":"stop"}`, want: "assistant SAID"},
			{json: `{"index":1,"message":{"role":"assistant","content":"SAID"}}`, refused: "must be 0"},
			{json: `{"index":0,"message":{"role":"user","content":"SAID"}}`, refused: "must be assistant"},
			{json: `{"id":"c","type":"function","function":{"name":"f","arguments":"{\"input\":\"SAID\"}"}}`, want: "assistant call f"},
			{json: `{"id":"c","type":"custom","custom":{"name":"f","input":"SAID"}}`, want: "assistant call f"},
			{json: `{"type":"function","function":{"name":"f","description":"SAID","parameters":{}}}`, refused: "must be system"},
			{json: `{"index":0,"id":"c","function":{"name":"f","arguments":""}}`, refused: streamed},
			{json: `{"index":0,"delta":{"role":"assistant","content":"SAID"}}`, refused: streamed},
			{json: `{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"SAID"}}]}`, refused: streamed},
			{json: `{"role":"tool","tool_call_id":"c","content":"SAID"}`, want: "tool SAID"},
			{json: `{"type":"text","text":"SAID"}`, refused: unclear},
			{json: `{"type":"refusal","refusal":"SAID"}`, refused: unclear},
			{json: `{"type":"image_url","image_url":{"url":"https://a.example/SAID"}}`, refused: unclear},
			{json: `{"type":"input_audio","input_audio":{"data":"AAAA","format":"wav"}}`, refused: unclear},
			{json: `{"type":"file","file":{"file_id":"SAID"}}`, refused: unclear},
			{json: `{"name":"f","arguments":"{\"messages\":[]}"}`, refused: "must be system"},
		},
		conversation.FormatOpenAIResponses: {
			{json: `{"role":"user","content":"SAID"}`, want: "user SAID"},
			{json: `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"SAID"}]}`, want: "assistant SAID"},
			{json: `{"type":"custom_tool_call","call_id":"c","name":"f","input":"SAID"}`, want: "assistant call f"},
			{json: `{"type":"function_call","call_id":"c","name":"f","arguments":"{\"input\":\"SAID\"}"}`, want: "assistant call f"},
			{json: `{"call_id":"c","name":"f","input":"SAID"}`, refused: "is required"},
			{json: `{"name":"f","input":"SAID"}`, refused: "is required"},
			{json: `{"type":"function_call_output","call_id":"c","output":"SAID"}`, want: "tool SAID"},
			{json: `{"type":"custom_tool_call_output","call_id":"c","output":"SAID"}`, want: "tool SAID"},
			{json: `{"type":"reasoning","id":"r","summary":[{"type":"summary_text","text":"SAID"}]}`, want: "assistant opaque"},
			{json: `{"type":"mcp_call","id":"m","name":"f","arguments":"{}","server_label":"s","output":"SAID"}`, want: "assistant opaque"},
			{json: `{"type":"web_search_call","id":"w","status":"completed"}`, want: "assistant opaque"},
			{json: `{"type":"a_later_call","id":"w","input":"SAID"}`, want: "assistant opaque"},
			{json: `{"type":"output_text","text":"SAID","annotations":[]}`, want: "assistant SAID"},
			{json: `{"type":"refusal","refusal":"SAID"}`, want: "assistant SAID"},
			{json: `{"type":"input_text","text":"SAID"}`, refused: unclear},
			{json: `{"type":"input_image","image_url":"https://a.example/SAID"}`, refused: unclear},
			{json: `{"type":"input_file","file_id":"SAID"}`, refused: unclear},
			{json: `{"type":"summary_text","text":"SAID"}`, refused: unclear},
			{json: `{"type":"reasoning_text","text":"SAID"}`, refused: unclear},
			{json: `{"type":"tool_use","id":"c","name":"f","input":{"input":"SAID"}}`, refused: unclear},
			{json: `{"type":"function","name":"f","parameters":{}}`, refused: "is a tool"},
			{json: `{"type":"response.output_text.delta","delta":"SAID"}`, refused: streamed},
			{json: `{"type":"response.output_item.done","item":{"type":"message","role":"assistant","content":"SAID"}}`, refused: streamed},
			{json: `{"type":"response.completed","response":{"object":"response","output":[]}}`, refused: streamed},
			{json: `{"type":"error","message":"SAID"}`, refused: streamed},
			{json: `{"object":"list","data":[{"role":"user","content":"SAID"}]}`, refused: "is required"},
		},
		conversation.FormatAnthropic: {
			{json: `{"role":"user","content":"SAID"}`, want: "user SAID"},
			{json: `{"role":"assistant","content":[{"type":"text","text":"SAID"}]}`, want: "assistant SAID"},
			{json: `{"type":"tool_use","id":"c","name":"f","input":{"messages":[{"role":"user","content":"SAID"}]}}`, want: "assistant call f"},
			{json: `{"type":"tool_result","tool_use_id":"c","content":"SAID"}`, want: "tool SAID"},
			{json: `{"type":"thinking","thinking":"SAID","signature":"s"}`, want: "assistant reasoning"},
			{json: `{"type":"redacted_thinking","data":"SAID"}`, want: "assistant opaque"},
			{json: `{"type":"server_tool_use","id":"s","name":"web_search","input":{"query":"SAID"}}`, want: "assistant opaque"},
			{json: `{"type":"web_search_tool_result","tool_use_id":"s","content":[]}`, want: "assistant opaque"},
			{json: `{"type":"mcp_tool_use","id":"s","name":"f","server_name":"n","input":{"input":"SAID"}}`, want: "assistant opaque"},
			{json: `{"type":"text","text":"SAID"}`, refused: unclear},
			{json: `{"type":"image","source":{"type":"url","url":"https://a.example/SAID"}}`, refused: unclear},
			{json: `{"type":"document","source":{"type":"text","data":"SAID"}}`, refused: unclear},
			{json: `{"type":"search_result","source":"s","title":"t","content":[{"type":"text","text":"SAID"}]}`, refused: unclear},
			{json: `{"type":"container_upload","file_id":"SAID"}`, refused: unclear},
			{json: `{"type":"message_start","message":{"role":"assistant","content":[]}}`, refused: streamed},
			{json: `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"SAID"}}`, refused: streamed},
			{json: `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"SAID"}}`, refused: streamed},
			{json: `{"type":"input_json_delta","partial_json":"SAID"}`, refused: streamed},
			{json: `{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`, refused: streamed},
			{json: `{"type":"error","error":{"message":"SAID"}}`, refused: streamed},
			{json: `{"custom_id":"x","result":{"type":"succeeded","message":{"role":"assistant","content":"SAID"}}}`, refused: "must be user, assistant or system"},
		},
		conversation.FormatGemini: {
			{json: `{"role":"user","parts":[{"text":"SAID"}]}`, want: "user SAID"},
			{json: `{"parts":[{"text":"SAID"}]}`, want: "user SAID"},
			{json: `{"parts":[{"text":"SAID","thought":true}]}`, want: "assistant reasoning"},
			{json: `{"parts":[{"functionCall":{"name":"f","args":{"input":"SAID"}}}]}`, want: "assistant call f"},
			{json: `{"content":{"role":"model","parts":[{"text":"SAID"}]},"finishReason":"STOP","index":0}`, want: "assistant SAID"},
			{json: `{"content":{"parts":[{"text":"SAID"}]},"finish_reason":"STOP"}`, want: "assistant SAID"},
			{json: `{"content":{"parts":[{"text":"SAID"}]},"index":1}`, refused: "must be 0"},
			{json: `{"finishReason":"SAFETY","index":0}`},
			{json: `{"functionCall":{"name":"f","args":{"contents":[{"parts":[{"text":"SAID"}]}]}}}`, want: "assistant call f"},
			{json: `{"function_call":{"name":"f","args":{}}}`, want: "assistant call f"},
			{json: `{"functionResponse":{"name":"f","response":{"result":"SAID"}}}`, want: "tool SAID"},
			{json: `{"text":"SAID","thought":true}`, want: "assistant reasoning"},
			{json: `{"text":"SAID","thoughtSignature":"AAAA"}`, want: "assistant reasoning,assistant SAID"},
			{json: `{"executableCode":{"language":"PYTHON","code":"SAID"}}`, want: "assistant opaque"},
			{json: `{"text":"SAID"}`, refused: unclear},
			{json: `{"inlineData":{"mimeType":"image/png","data":"AAAA"}}`, refused: unclear},
			{json: `{"fileData":{"fileUri":"https://a.example/SAID"}}`, refused: unclear},
			{json: `{"serverContent":{"modelTurn":{"parts":[{"text":"SAID"}]}}}`, refused: "must be a content"},
			{json: `{"name":"f","args":{"text":"SAID"}}`, refused: "must be a content"},
		},
	}
}

// TestReader_Read_BareItem_IsWhatItIs: a single object is read as its provider means it, or refused by name. By itself and in a list, text
// from tools and models is never taken for a user's words.
func TestReader_Read_BareItem_IsWhatItIs(t *testing.T) {
	t.Parallel()
	for _, reader := range readers() {
		for _, item := range bareItems()[reader.Format()] {
			for _, json := range []string{item.json, "[" + item.json + "]"} {
				in, err := reader.Read(&provider.ReadRequest{JSON: json})
				switch {
				case item.refused != "" && (err == nil || !strings.Contains(refusalOf(err), item.refused) || strings.Contains(refusalOf(err), "SAID")):
					t.Errorf("%v: %s is not refused as %q: %v %v", reader.Format(), json, item.refused, err, saidBy(in))
				case item.refused == "" && (err != nil || saidBy(in) != item.want):
					t.Errorf("%v: %s is %q, want %q (%v)", reader.Format(), json, saidBy(in), item.want, refusalOf(err))
				}
			}
		}
	}
}

func refusalOf(err error) string {
	var e *conversation.Error
	if !errors.As(err, &e) {
		return ""
	}
	var out []string
	for _, v := range e.Violations {
		out = append(out, v.Field+" "+v.Text)
	}
	return strings.Join(out, "; ")
}

// saidBy is what each side says in what was read.
func saidBy(in *provider.Input) string {
	if in == nil {
		return ""
	}
	var out []string
	for i := range in.Messages {
		m := &in.Messages[i]
		for _, p := range m.Parts {
			said := p.Text.Inline
			switch {
			case p.Call != nil:
				said = "call " + p.Call.Name
			case p.Result != nil:
				said = p.Result.Text.Inline
			case p.Reasoning != nil:
				said = "reasoning"
			case p.Opaque != nil:
				said = "opaque"
			}
			out = append(out, m.Role.String()+" "+said)
		}
	}
	return strings.Join(out, ",")
}
