package main

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// Requests that are taken, one for each API, and in each a call that is answered.
const (
	chatRequest = `{"model":"fake","messages":[{"role":"user","content":"hi"},
		{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"get_weather","arguments":"{}"}}]},
		{"role":"tool","tool_call_id":"a","content":"rain"}],
		"tools":[{"type":"function","function":{"name":"get_weather","parameters":{"type":"object","properties":{"city":{"type":"string"}}}}}]}`
	responsesRequest = `{"model":"fake","store":false,"input":[{"role":"user","content":"hi"},
		{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"SEAL"},
		{"type":"function_call","call_id":"a","name":"get_weather","arguments":"{}"},
		{"type":"function_call_output","call_id":"a","output":"rain"}],
		"tools":[{"type":"function","name":"get_weather","parameters":{"type":"object","properties":{"city":{"type":"string"}}}}]}`
	anthropicRequest = `{"model":"fake","max_tokens":10,"messages":[{"role":"user","content":"hi"},
		{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"get_weather","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"rain"}]}],
		"tools":[{"name":"get_weather","input_schema":{"type":"object","properties":{"city":{"type":"string"}}}}]}`
	geminiRequest = `{"contents":[{"role":"user","parts":[{"text":"hi"}]},
		{"role":"model","parts":[{"functionCall":{"name":"get_weather","args":{}},"thoughtSignature":"SIGN"}]},
		{"role":"user","parts":[{"functionResponse":{"name":"get_weather","response":{"result":"rain"}}}]}],
		"tools":[{"functionDeclarations":[{"name":"get_weather","parameters":{"type":"object","properties":{"city":{"type":"string"}}}}]}]}`
)

type accepted struct{ path, body string }

// asked are the requests that are taken, by API.
func asked() map[string]accepted {
	return map[string]accepted{
		"chat":      {"/v1/chat/completions", chatRequest},
		"responses": {"/v1/responses", strings.Replace(responsesRequest, "SEAL", seal("rs_1"), 1)},
		"anthropic": {"/v1/messages", anthropicRequest},
		"gemini":    {"/v1beta/models/fake:generateContent", strings.Replace(geminiRequest, "SIGN", sign("get_weather"), 1)},
	}
}

// marked is Anthropic's request with so many cache marks.
func marked(n int) string {
	block := `{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}`
	return `"system":[` + strings.TrimSuffix(strings.Repeat(block+",", n), ",") + `],"max_tokens"`
}

func TestServer_Requests_RefusesWhatProvidersRefuse(t *testing.T) {
	t.Parallel()
	arrays := `{"type":"object","properties":{"city":{"type":"array"}}}`
	city := `{"type":"object","properties":{"city":{"type":"string"}}}`
	for _, c := range []struct{ api, what, old, new, fault string }{
		{"chat", "an unknown member", `"model"`, `"top_k":1,"model"`, `unknown parameter "top_k"`},
		{"chat", "no model", `"model":"fake",`, ``, "model: is required"},
		{"chat", "no JSON", `{"model"`, `"model"`, "is no JSON object"},
		{"chat", "an unanswered call", `,
		{"role":"tool","tool_call_id":"a","content":"rain"}`, ``, "no result"},
		{"chat", "an unknown member of a message", `"role":"user",`, `"role":"user","id":"x",`, "key that the provider does not know"},
		{"chat", "a call of another tool", `"function":{"name":"get_weather","arg`, `"function":{"name":"other","arg`, "not among the tools"},
		{"chat", "no tools at all", `"tools":`, `"tools":[],"metadata":`, "too short"},
		{"chat", "a tool without type", `[{"type":"function","function":{"name":"get_weather","par`, `[{"function":{"name":"get_weather","par`, "type: is required"},
		{"chat", "a flat tool", `"parameters"`, `"input_schema"`, `unknown parameter "input_schema"`},
		{"chat", "a tool's bad name", `{"name":"get_weather","par`, `{"name":"get weather","par`, "name: does not match"},
		{"chat", "a schema of a list", city, `{"type":"array","items":{}}`, "must be of type object"},
		{"chat", "a list of anything", city, arrays, "missing items"},
		{"chat", "strict, and optional", `"parameters"`, `"strict":true,"parameters"`, "additionalProperties must be false"},
		{"chat", "options of no stream", `"model"`, `"stream_options":{"include_usage":true},"model"`, "only allowed when stream"},
		{"chat", "a choice of no tool", `"tools":`, `"tool_choice":"auto","metadata":`, "only allowed when tools"},
		{"chat", "a long cache key", `"model"`, `"prompt_cache_key":"` + strings.Repeat("k", 65) + `","model"`, "at most 64"},
		{"responses", "a member of Chat's", `"model"`, `"messages":[],"model"`, `unknown parameter "messages"`},
		{"responses", "a tool of Chat's", `[{"type":"function","name":"get_weather",`, `[{"type":"function","function":{"name":"get_weather"},`, `unknown parameter "function"`},
		{"responses", "a call of another tool", `"call_id":"a","name":"get_weather"`, `"call_id":"a","name":"other"`, "not among the tools"},
		{"responses", "an unknown include", `"model"`, `"include":["everything"],"model"`, "unsupported value"},
		{"responses", "an earlier response", `"model"`, `"previous_response_id":"resp_1","model"`, "not found"},
		{"responses", "reasoning that nobody has", `,"encrypted_content":"` + seal("rs_1") + `"`, ``, "not persisted"},
		{"responses", "an item's id twice", `"type":"function_call",`, `"id":"rs_1","type":"function_call",`, "duplicate item"},
		{"responses", "reasoning of another item", `"id":"rs_1"`, `"id":"rs_2"`, "could not be verified"},
		{"responses", "reference to an item", `{"role":"user","content":"hi"}`, `{"type":"item_reference","id":"msg_1"}`, "item not found"},
		{"responses", "an unanswered call", `,
		{"type":"function_call_output","call_id":"a","output":"rain"}`, ``, "no result"},
		{"anthropic", "no max_tokens", `"max_tokens":10,`, ``, "max_tokens: is required"},
		{"anthropic", "an unknown member", `"max_tokens"`, `"store":false,"max_tokens"`, `unknown parameter "store"`},
		{"anthropic", "a system message", `{"role":"user","content":"hi"}`, `{"role":"system","content":"hi"}`, "has no place for it"},
		{"anthropic", "five marks", `"max_tokens"`, marked(5), "a maximum of 4"},
		{"anthropic", "a mark of its own kind", `"input_schema"`, `"cache_control":{"type":"forever"},"input_schema"`, "must be of type ephemeral"},
		{"anthropic", "a tool of OpenAI's", `"input_schema"`, `"parameters"`, "input_schema: is required"},
		{"anthropic", "a tool twice", `"tools":[`, `"tools":[{"name":"get_weather","input_schema":{"type":"object"}},`, "twice"},
		{"anthropic", "a call without tools", `"tools":`, `"stop_sequences":`, "not among the tools"},
		{"anthropic", "thinking of somebody else", `[{"type":"tool_use"`, `[{"type":"thinking","thinking":"x","signature":"y"},{"type":"tool_use"`, "invalid signature"},
		{"anthropic", "thinking that was lost", `"max_tokens"`, `"thinking":{"type":"enabled","budget_tokens":5},"max_tokens"`, "expected thinking"},
		{"anthropic", "thinking without a signature", `[{"type":"tool_use"`, `[{"type":"thinking","thinking":"x"},{"type":"tool_use"`, "lacks its signature"},
		{"anthropic", "thinking at the end", `"input":{}}]`, `"input":{}},{"type":"thinking","thinking":"x","signature":"` + seal("x") + `"}]`, "must not end its message"},
		{"anthropic", "a server tool that nothing answered", `"content":"rain"}]`, `"content":"rain"}]},{"role":"assistant","content":[{"type":"server_tool_use","id":"s","name":"web_search","input":{}}]},{"role":"user","content":"and?"`, "no result"},
		{"anthropic", "a call out of code that is not there", `"input":{}}]`, `"input":{},"caller":{"type":"code_execution_20250825","tool_id":"s"}}]`, "no call"},
		{"anthropic", "an unanswered call", `"tool_use_id":"a"`, `"tool_use_id":"b"`, "no result"},
		{"gemini", "an unknown member", `"contents"`, `"messages":[],"contents"`, `unknown parameter "messages"`},
		{"gemini", "an unknown setting", `"contents"`, `"generationConfig":{"max_tokens":1},"contents"`, `unknown parameter "max_tokens"`},
		{"gemini", "a tool's unknown word", `"type":"string"`, `"type":"string","oneOf":[]`, `unknown parameter "oneOf"`},
		{"gemini", "a call of another tool", `"functionCall":{"name":"get_weather"`, `"functionCall":{"name":"other"`, "not among the tools"},
		{"gemini", "a call without its signature", `,"thoughtSignature":"` + sign("get_weather") + `"`, ``, "missing a thought_signature"},
		{"gemini", "a signature of another call", sign("get_weather"), sign("other"), "not valid"},
		{"gemini", "an unanswered call", `"functionResponse":{"name":"get_weather"`, `"functionResponse":{"name":"web_search"`, "no call"},
		{"chat", "a tool's unknown member", `[{"type":"function",`, `[{"type":"function","strict":true,`, `unknown parameter "strict"`},
		{"chat", "a tool of no kind", `[{"type":"function",`, `[{"type":"tool",`, "type: is none of"},
		{"chat", "a custom tool's bad name", `"tools":[`, `"tools":[{"type":"custom","custom":{"name":"a b"}},`, "name: does not match"},
		{"chat", "a custom tool with a schema", `"tools":[`, `"tools":[{"type":"custom","custom":{"name":"x","parameters":{}}},`, `unknown parameter "parameters"`},
		{"chat", "no schema at all", city, `"city"`, "is no JSON schema"},
		{"chat", "strict, and not required", `"parameters":{`, `"strict":true,"parameters":{"additionalProperties":false,`, "required must have"},
		{"chat", "a list of anything, among others", city, `{"type":"object","anyOf":[{"type":"array"}]}`, "missing items"},
		{"responses", "no input", `"input"`, `"metadata"`, "input: is required"},
		{"responses", "options of no stream", `"model"`, `"stream_options":{"include_obfuscation":true},"model"`, "only allowed when stream"},
		{"responses", "a long cache key", `"model"`, `"prompt_cache_key":"` + strings.Repeat("k", 65) + `","model"`, "at most 64"},
		{"responses", "a tool without type", `[{"type":"function","name":"get_weather","par`, `[{"name":"get_weather","par`, "type: is required"},
		{"responses", "a tool twice", `"tools":[`, `"tools":[{"type":"function","name":"get_weather"},`, "twice"},
		{"responses", "a schema of a list", city, `{"type":"array","items":{}}`, "must be of type object"},
		{"anthropic", "a bad name of its own tool", `"tools":[`, `"tools":[{"type":"bash_20250124","name":"a b"},`, "name: does not match"},
		{"anthropic", "a tool's unknown member", `"input_schema"`, `"parameters":{},"input_schema"`, `unknown parameter "parameters"`},
		{"anthropic", "a schema of a list", city, `{"type":"array","items":{}}`, "must be of type object"},
		{"anthropic", "an empty schema", city, `{}`, "type: is required"},
		{"anthropic", "an unknown member of a choice", `"max_tokens"`, `"tool_choice":{"type":"auto","x":1},"max_tokens"`, `unknown parameter "x"`},
		{"anthropic", "an unknown choice", `"max_tokens"`, `"tool_choice":{"type":"maybe"},"max_tokens"`, "type: is none of"},
		{"anthropic", "a choice of no tool", `"tools":`, `"tool_choice":{"type":"auto"},"stop_sequences":`, "while providing tools"},
		{"gemini", "no contents", `"contents"`, `"safetySettings"`, "contents: is required"},
		{"gemini", "an unknown member beside tools", `[{"functionDeclarations"`, `[{"functions":[],"functionDeclarations"`, `unknown parameter "functions"`},
		{"gemini", "declarations that are no list", `"tools":[`, `"tools":[{"functionDeclarations":{}},`, "is no array"},
		{"gemini", "an unknown member of a choice", `"contents"`, `"toolConfig":{"mode":"AUTO"},"contents"`, `unknown parameter "mode"`},
		{"gemini", "a tool's bad name", `{"name":"get_weather","par`, `{"name":"get weather","par`, "name: does not match"},
		{"gemini", "two schemas", `"parameters"`, `"parametersJsonSchema":{"type":"object"},"parameters"`, "mutually exclusive"},
		{"gemini", "a JSON schema of a list", `"parameters":` + city, `"parametersJsonSchema":{"type":"array","items":{}}`, "must be of type object"},
		{"gemini", "an unknown type", `"type":"string"`, `"type":"text"`, "type: is none of"},
		{"gemini", "properties that are a list", `{"city":{"type":"string"}}`, `[]`, "properties: is no JSON object"},
		{"gemini", "an unknown type in a list", `{"type":"string"}`, `{"type":"array","items":{"type":"text"}}`, "type: is none of"},
		{"gemini", "a list of anything", `{"type":"string"}`, `{"type":"array"}`, "missing items"},
	} {
		from := asked()[c.api]
		body := strings.Replace(from.body, c.old, c.new, 1)
		if body == from.body {
			t.Fatalf("%s, %s: the request is as it was", c.api, c.what)
		}
		status, answer := post(newServer(0), from.path, body)
		if status != http.StatusBadRequest || !strings.Contains(answer, quoted(c.fault)) {
			t.Errorf("%s, %s: %d %s", c.api, c.what, status, answer)
		}
	}
}

// TestServer_ChatOfAModel_RefusesWhatItsProviderRefuses: the model's name decides. A request that is right for the model is taken.
func TestServer_ChatOfAModel_RefusesWhatItsProviderRefuses(t *testing.T) {
	t.Parallel()
	const call = `"content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"get_weather","arguments":"{}"}`
	signed := `,"extra_content":{"google":{"thought_signature":"c2ln"}}`
	thought := func(text string) string { return `"reasoning_content":"` + text + `",` + call }
	for _, c := range []struct{ model, right, wrong, fault string }{
		{"deepseek-v4-pro", thought(""), call, "lacks the reasoning"},
		{"deepseek-r1", call, thought("hm"), "key that the provider does not know"},
		{"kimi-k2-thinking", thought(""), call, "lacks the reasoning"},
		{"moonshotai/kimi-k2.6", thought(" "), thought(""), "lacks the reasoning"},
		{"kimi-k2.7-code", thought(""), call, "lacks the reasoning"},
		{"mistral-large-latest", strings.Replace(call, `"a"`, `"D681PevKs"`, 1), call, "id does not match"},
		{"mistral-medium-3-5", strings.Replace(call, `"a"`, `"D681PevKs"`, 1), strings.Replace(thought("hm"), `"a"`, `"D681PevKs"`, 1), "key that the provider does not know"},
		{"gemini-3-pro-preview", call + signed, call, "lacks its signature"},
	} {
		of := func(said string) (int, string) {
			body := strings.Replace(strings.Replace(chatRequest, `"fake"`, `"`+c.model+`"`, 1), call, said, 1)
			if strings.Contains(said, "D681PevKs") {
				body = strings.Replace(body, `"tool_call_id":"a"`, `"tool_call_id":"D681PevKs"`, 1)
			}
			return post(newServer(0), "/v1/chat/completions", body)
		}
		if status, answer := of(c.right); status != http.StatusOK {
			t.Errorf("%s: what is right: %d %s", c.model, status, answer)
		}
		if status, answer := of(c.wrong); status != http.StatusBadRequest || !strings.Contains(answer, c.fault) {
			t.Errorf("%s: what is wrong: %d %s", c.model, status, answer)
		}
	}
}

// quoted is a text as it stands inside JSON.
func quoted(text string) string { return strings.ReplaceAll(text, `"`, `\"`) }

func TestServer_Refusal_IsInTheProvidersForm(t *testing.T) {
	t.Parallel()
	s := newServer(0)
	for _, api := range slices.Sorted(maps.Keys(asked())) {
		from := asked()[api]
		if status, answer := post(s, from.path, from.body); status != http.StatusOK {
			t.Errorf("%s: a good request: %d %s", api, status, answer)
		}
		_, answer := post(s, from.path, `{"wrong":1}`)
		var refused struct {
			Type  string
			Error struct {
				Message, Type, Status string
				Code                  any
			}
		}
		if err := json.Unmarshal([]byte(answer), &refused); err != nil || refused.Error.Message == "" {
			t.Errorf("%s: refused with %s", api, answer)
		}
		if api == "gemini" != (refused.Error.Status == "INVALID_ARGUMENT") || api == "anthropic" != (refused.Type == "error") {
			t.Errorf("%s: refused with %s", api, answer)
		}
	}
	_, answer := get(s, "/stats")
	var counted counts
	if err := json.Unmarshal([]byte(answer), &counted); err != nil || counted.Requests != 8 || counted.Refused != 4 || len(counted.Refusals) == 0 ||
		counted.LargestBytes == 0 {
		t.Errorf("counted %s", answer)
	}
	post(s, "/reset", "")
	if _, answer := get(s, "/stats"); !strings.Contains(answer, `"requests":0`) {
		t.Errorf("after a reset: %s", answer)
	}
}

func TestServer_AnthropicWithoutVersion_Refuses(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/messages", strings.NewReader(anthropicRequest))
	w := httptest.NewRecorder()
	newServer(0).ServeHTTP(w, r)
	if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "anthropic-version") {
		t.Errorf("answered %d %s", w.Code, w.Body)
	}
}

func post(s *server, path, body string) (int, string) {
	return do(s, httptest.NewRequest(http.MethodPost, path, strings.NewReader(body)))
}

func get(s *server, path string) (int, string) {
	return do(s, httptest.NewRequest(http.MethodGet, path, http.NoBody))
}

func do(s *server, r *http.Request) (int, string) {
	r.Header.Set("Anthropic-Version", "2023-06-01")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// TestServer_GeminiSignatures_AreDemandedOfVersionThree: and the documented placeholders are taken.
func TestServer_GeminiSignatures_AreDemandedOfVersionThree(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what, model, signature string
		status                 int
	}{
		{"none", "gemini-3-pro-preview", "", http.StatusBadRequest}, {"none, of a later one", "gemini-4-argon", "", http.StatusBadRequest},
		{"none, of an older one", "gemini-2.5-pro", "", http.StatusOK}, {"none, of one that makes images", "gemini-3-pro-image-preview", "", http.StatusOK},
		{"its own", "gemini-3-pro-preview", sign("get_weather"), http.StatusOK}, {"another's", "gemini-3-pro-preview", sign("other"), http.StatusBadRequest},
		{"a placeholder", "gemini-3-pro-preview", placeholders[0], http.StatusOK}, {"the other placeholder", "gemini-3-pro-preview", placeholders[1], http.StatusOK},
	} {
		status, answer := post(newServer(0), "/v1beta/models/"+c.model+":generateContent", strings.Replace(geminiRequest, "SIGN", c.signature, 1))
		if status != c.status || status == http.StatusBadRequest && !strings.Contains(answer, "signature") {
			t.Errorf("%s: %d %s", c.what, status, answer)
		}
	}
}

// TestServer_AnthropicTurns_RefusesByModelAndThinking: whoever has thinking enabled goes on with a turn that begins with it; adaptive thinking
// stands anywhere. System messages stand among the others for models that take them.
func TestServer_AnthropicTurns_RefusesByModelAndThinking(t *testing.T) {
	t.Parallel()
	thought := `{"type":"thinking","thinking":"x","signature":"` + seal("x") + `"},`
	const words = `{"type":"text","text":"I look."},`
	const told = `"rain"}]},{"role":"system","content":"Be brief.","clear_at":"next_user_message"}],`
	for _, c := range []struct {
		what, model, thinking, before, results, fault string
	}{
		{"thinking first", "fake", "enabled", thought + words + thought, "", ""},
		{"words first", "fake", "enabled", words + thought, "", "expected thinking"},
		{"no thinking", "fake", "enabled", words, "", "expected thinking"},
		{"words first, adaptive", "fake", "adaptive", words + thought, "", ""},
		{"system, of a model that takes it", "claude-opus-4-8", "adaptive", "", told, ""},
		{"system, of one that does not", "claude-sonnet-4-6", "adaptive", "", told, "role that the format does not know"},
	} {
		body := strings.Replace(anthropicRequest, `"fake"`, `"`+c.model+`","thinking":{"type":"`+c.thinking+`"}`, 1)
		body = strings.Replace(body, `[{"type":"tool_use"`, `[`+c.before+`{"type":"tool_use"`, 1)
		if c.results != "" {
			body = strings.Replace(body, `"rain"}]}],`, c.results, 1)
		}
		status, answer := post(newServer(0), "/v1/messages", body)
		if taken := status == http.StatusOK; taken != (c.fault == "") || !strings.Contains(answer, quoted(c.fault)) && !taken {
			t.Errorf("%s: %d %s", c.what, status, answer)
		}
	}
}
