package provider_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

const (
	chatCall  = `{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"get","arguments":"{\"x\": 1}"}},{"id":"b","type":"function","function":{"name":"put","arguments":"[1]"}}]}`
	chatBoth  = `{"role":"tool","tool_call_id":"a","content":"one"},{"role":"tool","tool_call_id":"b","content":""}`
	pngBase64 = "UE5HUE5H"
)

// chatKinds are what chat completions take and answer, each the middle of a list.
func chatKinds() map[string]string {
	return map[string]string{
		"texts":            `{"role":"system","content":"S"},{"role":"developer","content":[{"type":"text","text":"D"},{"type":"text","text":"E"}]},{"role":"user","name":"Anna","content":"hi\n\"\u00e9\""},{"role":"assistant","content":"yo","refusal":null,"annotations":[]}`,
		"parallel calls":   chatCall + "," + chatBoth,
		"words and a call": `{"role":"assistant","content":"Look.","tool_calls":[{"id":"a","type":"function","function":{"name":"get","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":[{"type":"text","text":"one"}]}`,
		"a list as result": `{"role":"assistant","content":"","tool_calls":[{"id":"a","type":"function","function":{"name":"get","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]}`,
		"custom":           `{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"custom","custom":{"name":"sql","input":"select 1"}}]},{"role":"tool","tool_call_id":"a","content":"1"}`,
		"refusal":          `{"role":"assistant","content":null,"refusal":"No."}`,
		"refusal in parts": `{"role":"assistant","content":[{"type":"text","text":"Well,"},{"type":"refusal","refusal":"no."}]}`,
		"audio":            `{"role":"assistant","content":null,"audio":{"id":"audio_1"}}`,
		"reasoning":        `{"role":"assistant","reasoning_content":"hm","content":"So."}`,
		"media": `{"role":"user","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"https://e.x/a.png?x=1","detail":"low"}},{"type":"image_url","image_url":{"url":"data:image/png;base64,` + pngBase64 + `"}},` +
			`{"type":"input_audio","input_audio":{"data":"V0FW","format":"wav"}},{"type":"input_audio","input_audio":{"data":"TVAz","format":"mp3"}},{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,UERG"}},` +
			`{"type":"file","file":{"filename":"a.txt","file_data":"data:text/plain;base64,VFhU"}},{"type":"file","file":{"file_id":"file-1"}}]}`,
	}
}

func responsesKinds() map[string]string {
	call := func(kind, rest string) string { return `{"type":"` + kind + `","call_id":"c1",` + rest + `}` }
	kinds := map[string]string{
		"messages": `{"role":"system","content":"S"},{"type":"message","role":"developer","content":[{"type":"input_text","text":"D"}]},{"role":"user","content":"hi"},` +
			`{"type":"message","id":"msg_1","status":"completed","role":"assistant","phase":"commentary","content":[{"type":"output_text","text":"a","annotations":[],"logprobs":null},{"type":"output_text","text":"b","annotations":[]}]},{"role":"assistant","content":"c"}`,
		"refusal": `{"type":"message","id":"msg_1","status":"completed","role":"assistant","content":[{"type":"refusal","refusal":"No."}]}`,
		"cited": `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"e"},{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"q"}},` +
			`{"type":"message","id":"msg_1","status":"completed","role":"assistant","phase":"final_answer","content":[{"type":"output_text","text":"a","annotations":[{"type":"url_citation","start_index":0,"end_index":1,"title":"t","url":"https://e.x"}],"logprobs":[]},{"type":"output_text","text":"b","annotations":[]},{"type":"refusal","refusal":"No."}]},` +
			`{"type":"message","id":"msg_2","status":"incomplete","role":"assistant","content":[{"type":"output_text","text":"c","annotations":[]}],"new_member":{"a":null,"b":[1]}}`,
		"answered items": `{"type":"function_call","id":"fc_1","status":"completed","call_id":"a","name":"get","arguments":"{}","async":true},{"type":"function_call_output","id":"fco_1","status":"completed","call_id":"a","name":"get","output":"one"},` +
			`{"type":"custom_tool_call","id":"ctc_1","call_id":"b","name":"sql","input":"select 1"},{"type":"custom_tool_call_output","id":"cto_1","call_id":"b","output":[{"type":"input_text","text":"1"},{"type":"input_text","text":"2"}]}`,
		"media": `{"role":"user","content":[{"type":"input_text","text":"see"},{"type":"input_image","image_url":"https://e.x/a.png","detail":"original"},{"type":"input_image","image_url":"data:image/png;base64,` + pngBase64 + `"},` +
			`{"type":"input_image","file_id":"file-1","detail":"high"},{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,UERG"},{"type":"input_file","file_url":"https://e.x/a.pdf"},` +
			`{"type":"input_file","file_id":"file-2"},{"type":"input_file","filename":"a.csv","file_data":"data:text/csv;base64,VFhU"}]}`,
		"function calls": `{"type":"message","id":"m","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Both.","annotations":[]}]},{"type":"function_call","id":"fc_1","status":"completed","call_id":"a","name":"get","arguments":"{\"x\": 1}","namespace":"crm","caller":{"type":"direct"}},` +
			`{"type":"function_call","call_id":"b","name":"put","arguments":"[1]","caller":null},{"type":"function_call_output","call_id":"a","output":"one"},{"type":"function_call_output","call_id":"b","output":[{"type":"input_text","text":"two"},{"type":"input_image","image_url":"data:image/png;base64,` + pngBase64 + `","detail":"auto"}]}`,
		"reasoning": `{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"t"}],"encrypted_content":"e","status":null,"content":null},{"type":"function_call","call_id":"a","name":"get","arguments":"{}"},{"type":"function_call_output","call_id":"a","output":"one"}`,
		"custom":    call("custom_tool_call", `"name":"sql","input":"select 1","namespace":"db"`) + "," + call("custom_tool_call_output", `"output":"1"`),
		"computer": call("computer_call", `"id":"cu_1","status":"completed","pending_safety_checks":[{"id":"s"}],"action":{"type":"click","x":1,"y":2,"button":"left"}`) + "," +
			call("computer_call_output", `"output":{"type":"computer_screenshot","image_url":"data:image/png;base64,`+pngBase64+`"},"acknowledged_safety_checks":[{"id":"s"}]`),
		"computer, kept screenshot": call("computer_call", `"id":"cu_1","status":"completed","pending_safety_checks":[],"actions":[{"type":"wait"}]`) + "," +
			call("computer_call_output", `"output":{"type":"computer_screenshot","file_id":"file-1"}`),
		"local shell": call("local_shell_call", `"id":"ls_1","status":"completed","action":{"type":"exec","command":["ls"],"env":{}}`) + `,{"type":"local_shell_call_output","id":"c1","output":"a b"}`,
		"shell": call("shell_call", `"id":"sh_1","status":"completed","action":{"commands":["ls"]},"environment":{"type":"local"}`) + "," +
			call("shell_call_output", `"output":[{"stdout":"a","stderr":"","outcome":{"type":"exit","exit_code":0}}],"max_output_length":10`),
		"apply patch": call("apply_patch_call", `"id":"ap_1","status":"completed","operation":{"type":"delete_file","path":"a"}`) + "," + call("apply_patch_call_output", `"status":"failed","output":"no such file"`),
	}
	for kind, rest := range map[string]string{
		"file_search_call":      `"id":"fs","status":"completed","queries":["q"],"results":null`,
		"web_search_call":       `"id":"ws","status":"completed","action":{"type":"search","query":"q","sources":null}`,
		"image_generation_call": `"id":"ig","status":"completed","result":"UE5H"`,
		"code_interpreter_call": `"id":"ci","status":"completed","container_id":"c","code":"1","outputs":[{"type":"logs","logs":"1"}]`,
		"mcp_list_tools":        `"id":"ml","server_label":"s","tools":[{"name":"t","input_schema":{"default":null}}]`,
		"mcp_approval_request":  `"id":"ma","server_label":"s","name":"t","arguments":"{}"`,
		"mcp_approval_response": `"approval_request_id":"ma","approve":true`,
		"mcp_call":              `"id":"mc","server_label":"s","name":"t","arguments":"{}","output":"o","error":null`,
		"program":               `"id":"pr","call_id":"p1","code":"x","fingerprint":"f"`,
		"program_output":        `"id":"po","call_id":"p1","result":"r","status":"completed"`,
		"tool_search_call":      `"id":"ts","arguments":{"q":null},"status":"completed","execution":"server"`,
		"tool_search_output":    `"id":"to","tools":[],"status":"completed"`,
		"additional_tools":      `"role":"developer","tools":[]`,
		"configuration_update":  `"reasoning":{"effort":"high"}`,
		"compaction":            `"id":"cp","encrypted_content":"e"`,
		"item_reference":        `"id":"ir"`,
	} {
		kinds[kind] = `{"type":"` + kind + `",` + rest + `}`
	}
	return kinds
}

func anthropicKinds() map[string]string {
	kinds := map[string]string{
		"texts": `{"role":"assistant","content":"yo"},{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`,
		"calls": `{"role":"assistant","content":[{"type":"text","text":"Both.","citations":null},{"type":"tool_use","id":"toolu_1","name":"get","input":{"x": null},"caller":{"type":"direct"}},{"type":"tool_use","id":"toolu_2","name":"put","input":{}}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"one"},{"type":"tool_result","tool_use_id":"toolu_2","is_error":true,"content":[{"type":"text","text":"bad"}]},{"type":"text","text":"and?"}]}`,
		"results": `{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"a","input":{}},{"type":"tool_use","id":"t2","name":"b","input":{}},{"type":"tool_use","id":"t3","name":"c","input":{},"toolset_name":"ts"}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1"},{"type":"tool_result","tool_use_id":"t2","content":[{"type":"text","text":"see"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + pngBase64 + `"}}]},` +
			`{"type":"tool_result","tool_use_id":"t3","toolset_name":"ts","content":[{"type":"tool_reference","tool_name":"x"},{"type":"search_result","source":"s","title":"t","content":[{"type":"text","text":"found"}]}]}]}`,
		"media": `{"role":"user","content":[{"type":"image","source":{"type":"url","url":"https://e.x/a.png"}},{"type":"image","source":{"type":"file","file_id":"file_1"}},{"type":"document","title":"T","context":"C","citations":{"enabled":true},"source":{"type":"base64","media_type":"application/pdf","data":"UERG"}},` +
			`{"type":"document","source":{"type":"file","file_id":"file_2"}},{"type":"document","title":"Notes","source":{"type":"text","media_type":"text/plain","data":"words"}},{"type":"document","source":{"type":"content","content":[{"type":"text","text":"x"},{"type":"text","text":"y"}]}},` +
			`{"type":"search_result","source":"https://e.x","title":"t","content":[{"type":"text","text":"one"}],"citations":{"enabled":true}},{"type":"search_result","source":"s","title":"t","content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]}]}`,
		"citations": `{"role":"assistant","content":[{"type":"text","text":"It is."},{"type":"text","text":"So.","citations":[{"type":"char_location","cited_text":"c","document_index":0,"document_title":null,"start_char_index":0,"end_char_index":1,"file_id":"file_1"}]}]}`,
		"thinking":  `{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"sig"},{"type":"redacted_thinking","data":"x"},{"type":"text","text":"So."}]}`,
		"called by a server's tool": `{"role":"assistant","content":[{"type":"server_tool_use","id":"srv","name":"code_execution","input":{"a":null},"caller":null},{"type":"code_execution_tool_result","tool_use_id":"srv","content":{"type":"code_execution_result"}},` +
			`{"type":"tool_use","id":"t1","name":"get","input":{},"caller":{"type":"code_execution_20250825","tool_id":"srv"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"x"}]}`,
		"container_upload": `{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"container_upload","file_id":"f"}]}`,
		"compaction":       `{"role":"assistant","content":[{"type":"compaction","content":"so far"},{"type":"text","text":"a"}]}`,
		"mcp":              `{"role":"assistant","content":[{"type":"mcp_tool_use","id":"m","name":"t","server_name":"s","input":{}},{"type":"mcp_tool_result","tool_use_id":"m","is_error":false,"content":[]}]}`,
	}
	for _, kind := range []string{"web_search", "web_fetch", "code_execution", "bash_code_execution", "text_editor_code_execution", "tool_search"} {
		kinds[kind] = `{"role":"assistant","content":[{"type":"server_tool_use","id":"srv","name":"` + kind + `","input":{}},{"type":"` + kind + `_tool_result","tool_use_id":"srv","content":[{"type":"x","page_age":null}]},{"type":"text","text":"a"}]}`
	}
	return kinds
}

func geminiKinds() map[string]string {
	return map[string]string{
		"texts": `{"role":"model","parts":[{"text":"yo"},{"text":"more","partMetadata":{"a_b":null}}]},{"parts":[{"text":"a"}]},{"role":"user","parts":[{"text":"b"}]}`,
		"calls, no ids": `{"role":"model","parts":[{"text":"hm","thought":true,"thoughtSignature":"c2ln"},{"functionCall":{"name":"get","args":{"x_y": 1}},"thoughtSignature":"c2ln"},{"functionCall":{"name":"put"}},{"functionCall":{"name":"get","args":{}}}]},` +
			`{"role":"user","parts":[{"functionResponse":{"name":"get","response":{"result":"one"}}},{"functionResponse":{"name":"put","response":{"error":"bad"}}},{"functionResponse":{"name":"get","response":{"a_b":[1,null]}}}]}`,
		"responses": `{"role":"model","parts":[{"function_call":{"id":"1","name":"a","args":{}}},{"function_call":{"id":"2","name":"b","args":{}}},{"function_call":{"id":"3","name":"c","args":{}}},{"function_call":{"id":"4","name":"d","args":{}}}]},` +
			`{"role":"user","parts":[{"function_response":{"id":"1","name":"a","response":{"output":"x"},"will_continue":null}},{"function_response":{"id":"2","name":"b","scheduling":"SILENT","response":{"error":{"code":1}}}},` +
			`{"function_response":{"id":"3","name":"c","response":{"result":"x"},"parts":[{"inline_data":{"mime_type":"image/png","data":"` + pngBase64 + `"}}]}},{"function_response":{"id":"4","name":"d","response":{"a":1},"parts":[{"inlineData":{"mimeType":"image/png","data":"` + pngBase64 + `"}}]}}]}`,
		"media": `{"role":"user","parts":[{"inline_data":{"mime_type":"image/png","data":"-_-_","display_name":"d"},"media_resolution":{"level":"LOW"}},{"fileData":{"mimeType":"video/mp4","fileUri":"gs://b/v.mp4"},"videoMetadata":{"startOffset":"1s","fps":null}}]},` +
			`{"role":"model","parts":[{"inlineData":{"mimeType":"image/png","data":"` + pngBase64 + `"},"thoughtSignature":"c2ln"}]}`,
		"ids and members": `{"role":"model","new_member":{"a_b":1,"c":null},"parts":[{"function_call":{"id":"fc-1","name":"get","args":null,"new_thing":{"x_y":[1,{"z":null}]},"partial_args":null},"thought_signature":"c2ln","some_metadata":{"k_l":"v"}},` +
			`{"functionCall":{"name":"put","id":null},"partMetadata":{"a_b":1}},{"functionCall":{"id":"fc-2","name":"get"}}]},{"role":"user","parts":[{"functionResponse":{"id":"fc-1","name":"get","response":{"img":{"$ref":"a.png"}},` +
			`"parts":[{"inlineData":{"mimeType":"image/png","displayName":"a.png","data":"` + pngBase64 + `"}},{"file_data":{"mime_type":"image/png","file_uri":"https://e.x/b.png","display_name":"b.png"},"mediaResolution":{"level":"LOW"}}]},"partMetadata":{"c_d":1}},` +
			`{"functionResponse":{"name":"put","response":{"result":"x"}}},{"functionResponse":{"name":"get","response":{"output":"x"}}}]}`,
		"signature at the end": `{"role":"model","parts":[{"text":"Hello."},{"text":"","thought_signature":"c2lnRU5E"}]}`,
		"signatures in place":  `{"role":"model","parts":[{"text":"","thoughtSignature":"c2lnMQ=="},{"functionCall":{"name":"get","args":{}}},{"text":"","thoughtSignature":"c2lnMg=="},{"text":"","thought":true,"thoughtSignature":"c2lnMw=="}]},{"role":"user","parts":[{"functionResponse":{"name":"get","response":{"result":"one"}}}]}`,
		"thought of an image":  `{"role":"model","parts":[{"inlineData":{"mimeType":"image/png","data":"` + pngBase64 + `"},"thought":true},{"text":"hm","thought":true,"thoughtSignature":"c2ln","new_member":1},{"inlineData":{"mimeType":"image/png","data":"` + pngBase64 + `"},"thoughtSignature":"c2ln"}]}`,
		"signature on text":    `{"role":"model","parts":[{"text":"a"},{"text":"b","thought_signature":"c2ln"}]}`,
		"code":                 `{"role":"model","parts":[{"executable_code":{"language":"PYTHON","code":"1","id":null},"thought_signature":"c2ln"},{"code_execution_result":{"outcome":"OUTCOME_OK","output":"1"}},{"text":"One."}]}`,
		"server's tools":       `{"role":"model","parts":[{"tool_call":{"tool_type":"GOOGLE_SEARCH_WEB","args":{"a_b":null},"id":"1"}},{"tool_response":{"tool_type":"GOOGLE_SEARCH_WEB","response":{"a_b":1},"id":"1"}},{"text":"So."}]}`,
	}
}

// kindsOf are the middles of lists, by what they hold, and the user's message around them.
func kindsOf(f conversation.Format) (kinds map[string]string, user string) {
	switch f {
	case conversation.FormatOpenAIChat:
		return chatKinds(), `{"role":"user","content":"q"}`
	case conversation.FormatOpenAIResponses:
		return responsesKinds(), `{"role":"user","content":"q"}`
	case conversation.FormatAnthropic:
		return anthropicKinds(), `{"role":"user","content":"q"}`
	default:
		return geminiKinds(), `{"role":"user","parts":[{"text":"q"}]}`
	}
}

// TestReader_Read_EveryKind_GoesBack: the law of the round trip, by kind.
func TestReader_Read_EveryKind_GoesBack(t *testing.T) {
	t.Parallel()
	for _, d := range doors() {
		kinds, user := kindsOf(d.Format.Format())
		for name, list := range kinds {
			t.Run(d.Traits().Name+"/"+name, func(t *testing.T) {
				t.Parallel()
				backAgain(t, d, "["+user+",\n"+list+" , "+user+"]")
			})
		}
	}
}

// TestReader_Read_AnyKinds_GoBack: the law for whole conversations, in which ids repeat, written as SDKs print them: with what is absent as
// null, and other spacing.
func TestReader_Read_AnyKinds_GoBack(t *testing.T) {
	for _, d := range doors() {
		t.Run(d.Traits().Name, func(t *testing.T) {
			kinds, user := kindsOf(d.Format.Format())
			anyKind, absent := rapid.SampledFrom(slices.Sorted(maps.Keys(kinds))), "zzz"
			if d.Format.Format() == conversation.FormatAnthropic {
				absent = "cache_control" // which may stand in what is kept as it came
			}
			proptest.Check(t, func(t *rapid.T) {
				list := "[" + user
				for _, kind := range rapid.SliceOfN(anyKind, 1, 6).Draw(t, "kinds") {
					middle := kinds[kind]
					if rapid.Bool().Draw(t, "nulls") {
						middle = strings.ReplaceAll(middle, `{"`, `{ "`+absent+`" : null,"`)
					}
					list += ",\n " + middle + "," + user
				}
				backAgain(t, d, list+"]")
			})
		})
	}
}
