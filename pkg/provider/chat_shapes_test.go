package provider_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/internal/validate"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// formatOf is a format by its number.
func formatOf(f conversation.Format) provider.Format {
	all := formats()
	return all[slices.IndexFunc(all, func(one provider.Format) bool { return one.Format() == f })]
}

// context reads a list in one format and renders it in another, for a model.
func context(t *testing.T, from, to conversation.Format, list, by, called string) (string, []provider.Repair) {
	t.Helper()
	out, repairs := rendered(t, door{formatOf(to), doorOf(from).reader}, list, by, called)
	return out, repairs
}

const (
	chat   = conversation.FormatOpenAIChat
	claude = conversation.FormatAnthropic
)

// TestReader_Arguments_OfNone_AreAnEmptyObject: servers write null, the text null, and no text for none.
func TestReader_Arguments_OfNone_AreAnEmptyObject(t *testing.T) {
	t.Parallel()
	for _, arguments := range []string{`null`, `"null"`, `" null"`, `""`, `" "`, `{}`, `"{}"`} {
		for from, list := range map[conversation.Format]string{
			chat:                               `[{"role":"user","content":"q"},{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"get","arguments":ARGS}}]},{"role":"tool","tool_call_id":"c1","content":"x"}]`,
			conversation.FormatOpenAIResponses: `[{"role":"user","content":"q"},{"type":"function_call","call_id":"c1","name":"get","arguments":ARGS},{"type":"function_call_output","call_id":"c1","output":"x"}]`,
		} {
			for to, want := range map[conversation.Format]string{
				chat: `"arguments":"{}"`, conversation.FormatOpenAIResponses: `"arguments":"{}"`, claude: `"input":{}`, conversation.FormatGemini: `"args":{}`,
			} {
				if out, _ := context(t, from, to, strings.Replace(list, "ARGS", arguments, 1), "m", "m"); !strings.Contains(out, want) {
					t.Errorf("%v, %s to %v: %s", from, arguments, to, out)
				}
			}
		}
	}
}

// TestFormat_Arguments_HalfASurrogatePair_IsReplacedByItself: if a model wrote half of an emoji, everything else that it wrote stays.
func TestFormat_Arguments_HalfASurrogatePair_IsReplacedByItself(t *testing.T) {
	t.Parallel()
	for came, want := range map[string]string{
		`{"a":"\ud83d..."}`: `{"a":"�..."}`, `{"a":"\udc00\ud83d\ude00"}`: `{"a":"�\ud83d\ude00"}`, `{"\ud83d\ud83d":1}`: `{"��":1}`,
		`{"a":"\\ud83d"}`: `{"a":"\\ud83d"}`, `{"a":"\ud83d\n"}`: `{"a":"�\n"}`, `{"a":"\uD83D\uDE00"}`: `{"a":"\uD83D\uDE00"}`,
	} {
		quoted := string(provider.AppendString(nil, came))
		lists := map[conversation.Format]string{
			chat:                               `[{"role":"user","content":"q"},{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"w","arguments":` + quoted + `}}]},{"role":"tool","tool_call_id":"c1","content":"x"}]`,
			claude:                             `[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"w","input":` + came + `}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"x"}]}]`,
			conversation.FormatOpenAIResponses: `[{"role":"user","content":"q"},{"type":"function_call","call_id":"c1","name":"w","arguments":` + quoted + `},{"type":"function_call_output","call_id":"c1","output":"x"}]`,
			conversation.FormatGemini:          `[{"role":"user","parts":[{"text":"q"}]},{"role":"model","parts":[{"functionCall":{"name":"w","args":` + came + `}}]},{"role":"user","parts":[{"functionResponse":{"name":"w","response":{"result":"x"}}}]}]`,
		}
		for from, list := range lists {
			for to := range lists {
				out, _ := context(t, from, to, list, "m", "m")
				in := want
				if to == chat || to == conversation.FormatOpenAIResponses {
					in = string(provider.AppendString(nil, want))
				}
				if !strings.Contains(out, in) {
					t.Errorf("%v to %v: %s became %s", from, to, came, out)
				}
			}
		}
	}
}

// TestReader_Residue_HalfASurrogatePair_IsReplacedByItself: everything else in the provider's JSON stays.
func TestReader_Residue_HalfASurrogatePair_IsReplacedByItself(t *testing.T) {
	out, _ := context(t, chat, chat, `[{"role":"user","content":"q"},{"role":"assistant","content":"a","reasoning_details":[{"text":"\ud83d.","signature":"s"}]}]`, "openrouter/auto", "openrouter/auto")
	if !strings.Contains(out, `"reasoning_details":[{"text":"�.","signature":"s"}]`) {
		t.Error(out)
	}
}

// TestChat_Shapes_OfOtherServers_AreTaken: this covers shapes that are not OpenAI's, and those that once were.
func TestChat_Shapes_OfOtherServers_AreTaken(t *testing.T) {
	t.Parallel()
	const begins = `[{"role":"user","content":"q"},`
	for name, c := range map[string]struct{ list, want string }{
		"function_call": {
			`{"role":"assistant","content":null,"function_call":{"name":"calc","arguments":"{}"}},{"role":"function","name":"calc","content":"4"}]`,
			`{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"calc","arguments":"{}"}}]},{"role":"tool","name":"calc","tool_call_id":"call_1","content":"4"}]`,
		},
		"empty ids": {
			`{"role":"assistant","content":"","tool_calls":[{"id":"","type":"function","function":{"name":"a","arguments":"{}"}},{"id":"","type":"","function":{"name":"b","arguments":"{}"}}]},{"role":"tool","tool_call_id":"","name":"a","content":"1"},{"role":"tool","name":"b","content":"2"}]`,
			`{"role":"assistant","content":"","tool_calls":[{"id":"call_1","type":"function","function":{"name":"a","arguments":"{}"}},{"id":"call_2","type":"function","function":{"name":"b","arguments":"{}"}}]},{"role":"tool","name":"a","tool_call_id":"call_1","content":"1"},{"role":"tool","name":"b","tool_call_id":"call_2","content":"2"}]`,
		},
		"ids made twice": {
			`{"role":"assistant","tool_calls":[{"function":{"name":"a","arguments":{}}}]},{"role":"tool","tool_name":"a","content":"1"},{"role":"assistant","tool_calls":[{"function":{"name":"a","arguments":{}}}]},{"role":"tool","tool_name":"a","content":"2"}]`,
			`{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"a","arguments":"{}"}}]},{"role":"tool","name":"a","tool_call_id":"call_1","content":"1"},{"role":"assistant","content":null,"tool_calls":[{"id":"pal000002","type":"function","function":{"name":"a","arguments":"{}"}}]},{"role":"tool","name":"a","tool_call_id":"pal000002","content":"2"}]`,
		},
		"results in another order": {
			`{"role":"assistant","tool_calls":[{"id":"x","type":"function","function":{"name":"a","arguments":"{}"}},{"id":"y","type":"function","function":{"name":"a","arguments":"{}"}}]},{"role":"tool","tool_call_id":"x","content":"1"},{"role":"tool","name":"a","content":"2"}]`,
			`{"role":"assistant","content":null,"tool_calls":[{"id":"x","type":"function","function":{"name":"a","arguments":"{}"}},{"id":"y","type":"function","function":{"name":"a","arguments":"{}"}}]},{"role":"tool","tool_call_id":"x","content":"1"},{"role":"tool","name":"a","tool_call_id":"y","content":"2"}]`,
		},
		"no result, and JSON in place of a text": {
			`{"role":"assistant","tool_calls":[{"id":"x","type":"function","function":{"name":"a","arguments":"{}"}},{"id":"y","type":"function","function":{"name":"a","arguments":"{}"}},{"id":"z","type":"function","function":{"name":"a","arguments":"{}"}}]},{"role":"tool","tool_call_id":"x","content":null},{"role":"tool","tool_call_id":"y","content":{"n": 4}},{"role":"tool","tool_call_id":"z"}]`,
			`{"role":"assistant","content":null,"tool_calls":[{"id":"x","type":"function","function":{"name":"a","arguments":"{}"}},{"id":"y","type":"function","function":{"name":"a","arguments":"{}"}},{"id":"z","type":"function","function":{"name":"a","arguments":"{}"}}]},{"role":"tool","tool_call_id":"x","content":""},{"role":"tool","tool_call_id":"y","content":"{\"n\": 4}"},{"role":"tool","tool_call_id":"z","content":""}]`,
		},
		"reasoning twice": {
			`{"role":"assistant","content":"a","reasoning":"hm","reasoning_content":"hm"}]`,
			`{"role":"assistant","content":"a","reasoning_content":"hm","reasoning":"hm"}]`,
		},
		"two reasonings": {
			`{"role":"assistant","content":"a","reasoning":"hm","reasoning_content":"so"}]`,
			`{"role":"assistant","content":"a","reasoning_content":"so","reasoning":"hm"}]`,
		},
		"a signature of the message": {
			`{"role":"assistant","content":"a","extra_content":{"google":{"thought_signature":"c2ln"}}}]`,
			`{"role":"assistant","content":"a","extra_content":{"google":{"thought_signature":"c2ln"}}}]`,
		},
		"more than a signature": {
			`{"role":"assistant","content":"a","extra_content":{"google":{"thought_signature":"c2ln","thought":true},"x":1},"tool_calls":[{"id":"x","type":"function","function":{"name":"a","arguments":"{}"},"extra_content":{"x":1,"google":{"thought_signature":"c2ln"}}}]},{"role":"tool","tool_call_id":"x","content":"1"}]`,
			`{"role":"assistant","content":"a","tool_calls":[{"id":"x","type":"function","function":{"name":"a","arguments":"{}"},"extra_content":{"x":1,"google":{"thought_signature":"c2ln"}}}],"extra_content":{"google":{"thought_signature":"c2ln","thought":true},"x":1}},{"role":"tool","tool_call_id":"x","content":"1"}]`,
		},
		"pieces of a result with more": {
			`{"role":"assistant","tool_calls":[{"id":"x","type":"function","function":{"name":"a","arguments":"{}"}}]},{"role":"tool","tool_call_id":"x","content":[{"type":"text","text":"1","x_new":{"a":null},"cache_control":{"type":"ephemeral"}}],"x_new":1}]`,
			`{"role":"assistant","content":null,"tool_calls":[{"id":"x","type":"function","function":{"name":"a","arguments":"{}"}}]},{"role":"tool","tool_call_id":"x","content":[{"type":"text","text":"1","x_new":{"a":null}}],"x_new":1}]`,
		},
		"members of the user's": {
			`{"role":"user","content":[{"type":"text","text":"a","x_new":1},{"type":"image_url","image_url":{"url":"https://e.x/a.png","x_new":2},"x_new":3}],"x_new":4},{"role":"developer","content":"b","x_new":5}]`,
			`{"role":"user","content":[{"type":"text","text":"a","x_new":1},{"type":"image_url","image_url":{"url":"https://e.x/a.png","x_new":2},"x_new":3}],"x_new":4},{"role":"developer","content":"b","x_new":5}]`,
		},
		"files that a router has parsed": {
			`{"role":"assistant","content":"a","annotations":[{"type":"file","file":{"hash":"h"}}]},{"role":"assistant","content":"b","annotations":[{"type":"url_citation","url_citation":{}}]}]`,
			`{"role":"assistant","content":"a","annotations":[{"type":"file","file":{"hash":"h"}}]},{"role":"assistant","content":"b"}]`,
		},
	} {
		out, _ := context(t, chat, chat, begins+c.list, "any-model", "any-model")
		if want := begins + c.want; out != want {
			t.Errorf("%s: went\n%s\nwant\n%s", name, out, want)
		}
	}
}

// TestChat_Native_Answer_IsTaken: Ollama's own API answers with one message, and has counts next to it.
func TestChat_Native_Answer_IsTaken(t *testing.T) {
	in, err := doorOf(chat).reader.Read(&provider.ReadRequest{JSON: `{"model":"qwen3:8b","created_at":"x","message":{"role":"assistant","content":"a","thinking":"hm"},"done":true,"done_reason":"stop","prompt_eval_count":30,"eval_count":7}`})
	if err != nil || in.Shape != provider.ShapeResponse || in.Model != "qwen3:8b" || in.Usage == nil || *in.Usage != (provider.Usage{Input: 30, Output: 7}) || len(in.Messages[0].Parts) != 2 {
		t.Errorf("%+v, %v", in, err)
	}
}

// TestChat_History_OfAnotherModel_IsTakenByADialect: members that a dialect requires on calls are also added to calls of other models. The
// other models' reasoning is not.
func TestChat_History_OfAnotherModel_IsTakenByADialect(t *testing.T) {
	t.Parallel()
	const list = `[{"role":"user","content":"q"},{"role":"assistant","content":"Look.","reasoning_content":"secret","tool_calls":[{"id":"call_1","type":"function","function":{"name":"get","arguments":"{}"}}]},{"role":"tool","tool_call_id":"call_1","content":"1"},{"role":"assistant","content":"So.","x_new":1},{"role":"user","content":"q"}]`
	for model, want := range map[string][2]string{
		"deepseek-v4-pro":      {`"Look.","tool_calls":[{"id":"call_1","type":"function","function":{"name":"get","arguments":"{}"}}],"reasoning_content":""}`, `"So."}`},
		"kimi-k2.6":            {`}}],"reasoning_content":" "}`, `"So."}`},
		"kimi-k2.7-code":       {`}}],"reasoning_content":""}`, `"So.","reasoning_content":""}`},
		"glm-5":                {`}}],"reasoning_content":""}`, `"So."}`},
		"gpt-5.1":              {`}}]}`, `"So."}`},
		"gemini-3-pro-preview": {`,"extra_content":{"google":{"thought_signature":"skip_thought_signature_validator"}}}]}`, `"So."}`},
		"mistral-large-latest": {`"id":"pal000001"`, `"So."}`},
	} {
		out, repairs := context(t, chat, chat, list, "another", model)
		if !strings.Contains(out, want[0]) || !strings.Contains(out, want[1]) || strings.Contains(out, "secret") {
			t.Errorf("%s: %s", model, out)
		}
		for _, reason := range []conversation.Reason{conversation.ReasonForeignBlock, conversation.ReasonResidueDropped} {
			if !slices.ContainsFunc(repairs, func(r provider.Repair) bool { return r.Reason == reason }) {
				t.Errorf("%s: no decision %d among %+v", model, reason, repairs)
			}
		}
	}
}

// TestChat_Signature_OfGemini_IsTheSameInItsOwnAPI: both ways, to the same model alone.
func TestChat_Signature_OfGemini_IsTheSameInItsOwnAPI(t *testing.T) {
	t.Parallel()
	const compatible = `[{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"get","arguments":"{}"},"extra_content":{"google":{"thought_signature":"c2ln"}}},{"id":"c2","type":"function","function":{"name":"put","arguments":"{}"}}]},` +
		`{"role":"tool","tool_call_id":"c1","content":"1"},{"role":"tool","tool_call_id":"c2","content":"2"},{"role":"assistant","content":"So.","extra_content":{"google":{"thought_signature":"dGV4dA"}}},{"role":"user","content":"q"}]`
	const own = `[{"role":"user","parts":[{"text":"q"}]},{"role":"model","parts":[{"functionCall":{"name":"get","args":{}},"thoughtSignature":"c2ln"},{"functionCall":{"name":"put","args":{}}}]},` +
		`{"role":"user","parts":[{"functionResponse":{"name":"get","response":{"result":"1"}}},{"functionResponse":{"name":"put","response":{"result":"2"}}}]},{"role":"model","parts":[{"text":"So.","thoughtSignature":"dGV4dA"}]},{"role":"user","parts":[{"text":"q"}]}]`
	const model = "gemini-3-pro-preview"
	gemini := conversation.FormatGemini
	if out, _ := context(t, chat, gemini, compatible, model, model); out != own {
		t.Errorf("went to Gemini\n%s\nwant\n%s", out, own)
	}
	out, _ := context(t, gemini, chat, own, model, model)
	if want := strings.NewReplacer(`"c1"`, `"call_1"`, `"c2"`, `"call_2"`).Replace(compatible); out != want {
		t.Errorf("went to its compatible API\n%s\nwant\n%s", out, want)
	}
	for _, f := range []conversation.Format{chat, gemini} {
		if out, _ := context(t, chat, f, compatible, model, "gemini-2.5-flash"); strings.Contains(out, "c2ln") || strings.Contains(out, "dGV4dA") {
			t.Errorf("another model got them: %s", out)
		}
	}
}

// TestReader_Read_Aborted_HalfACall_IsCounted: the words are kept, and the caller is told that a call is not.
func TestReader_Read_Aborted_HalfACall_IsCounted(t *testing.T) {
	t.Parallel()
	for f, message := range map[conversation.Format]string{
		chat:                               `{"role":"assistant","content":"I look.","tool_calls":[{"id":"c1","type":"function","function":{"name":"get","arguments":"{\"pa"}},{"id":"c2","type":"function","function":{"name":"get","arguments":""}}]}`,
		conversation.FormatOpenAIResponses: `[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look."}]},{"type":"function_call","call_id":"c1","name":"get","arguments":"{\"pa"},{"type":"custom_tool_call","call_id":"c2","name":"get","input":"sel"}]`,
		claude:                             `{"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"c1","name":"get","input":"{\"pa"},{"type":"tool_use","id":"c2","name":"get","input":""}]}`,
		conversation.FormatGemini:          `{"role":"model","parts":[{"text":"I look."},{"functionCall":{"name":"get","args":"{\"pa"}},{"functionCall":{"name":"get","args":""}}]}`,
	} {
		in, err := doorOf(f).reader.Read(&provider.ReadRequest{JSON: message, Aborted: true, Shape: provider.ShapeMessage})
		if err != nil || in.LeftOut != 2 || len(in.Messages) != 1 || len(in.Messages[0].Parts) != 1 || in.Messages[0].Parts[0].Text.Inline != "I look." {
			t.Errorf("%v: %+v, %v", f, in, err)
		}
		_, err = doorOf(f).reader.Read(&provider.ReadRequest{JSON: message, Shape: provider.ShapeMessage})
		if refused := f == claude || f == conversation.FormatGemini; refused != (err != nil) {
			t.Errorf("%v, not aborted: %v", f, err)
		}
	}
}

// TestChatDialects_Demands_AreChecked: the judge knows what the table says, by itself.
func TestChatDialects_Demands_AreChecked(t *testing.T) {
	t.Parallel()
	const list = `[{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"call_0aB1","type":"function","function":{"name":"get","arguments":"{}"}}]},{"role":"tool","tool_call_id":"call_0aB1","content":"1"},{"role":"assistant","content":"So."}]`
	for _, d := range provider.ChatDialects() {
		s := speakers()
		checker, err := validate.NewChecker(validate.OpenAIChat, chars4)
		if err != nil {
			t.Fatal(err)
		}
		checker.Model = s[d.Name].model
		faults := checker.Read(nil, []byte(list)).Violations
		demands := d.Needs != provider.ReasoningFree && d.Name != "GLM" || d.NeedsSignature || d.RefusesOthers // GLM says so, and refuses nothing
		if demands != (len(faults) > 0) {
			t.Errorf("%s: %v", d.Name, faults)
		}
		if !json.Valid([]byte(list)) || len(d.Gives) == 0 {
			t.Errorf("%s says nothing of where it thinks", d.Name)
		}
	}
}
