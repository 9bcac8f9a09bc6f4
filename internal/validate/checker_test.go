package validate

import (
	"slices"
	"strings"
	"testing"
)

// legal are contexts without a fault. Every illegal one below is one of these
// with one thing changed.
var legal = map[Format][2]string{
	OpenAIChat: {"", `[
		{"role":"system","content":"Be brief."},
		{"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"https://x.example/a.png","detail":"low"}}]},
		{"role":"assistant","content":null,"tool_calls":[
			{"id":"c1","type":"function","function":{"name":"find","arguments":"{\"q\":1}"}},
			{"id":"c2","type":"function","function":{"name":"list","arguments":"{}"}}]},
		{"role":"tool","tool_call_id":"c2","content":""},
		{"role":"tool","tool_call_id":"c1","content":"found"},
		{"role":"assistant","content":"Done."}]`},
	OpenAIResponses: {"", `[
		{"type":"message","role":"system","content":[{"type":"input_text","text":"Be brief."}]},
		{"role":"user","content":"look"},
		{"role":"user","content":[{"type":"input_text","text":"here"},{"type":"input_image","image_url":"https://x.example/a.png","detail":"auto"}]},
		{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"xx"},
		{"type":"function_call","call_id":"c1","name":"find","arguments":"{\"q\":1}"},
		{"type":"function_call","call_id":"c2","name":"list","arguments":"{}"},
		{"type":"function_call_output","call_id":"c2","output":""},
		{"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"found"}]},
		{"type":"message","role":"assistant","content":"So."},
		{"type":"message","role":"assistant","id":"msg_1","status":"completed","content":[{"type":"output_text","text":"Done.","annotations":[]}]}]`},
	Anthropic: {`[{"type":"text","text":"Be brief."}]`, `[
		{"role":"user","content":[{"type":"text","text":"look"},{"type":"image","source":{"type":"url","url":"https://x.example/a.png"}}]},
		{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"sig"},
			{"type":"tool_use","id":"c1","name":"find","input":{"q":1}},
			{"type":"tool_use","id":"c2","name":"list","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"c2","content":""},
			{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"found"}],"is_error":true},
			{"type":"text","text":"and?"}]}]`},
	Gemini: {`{"parts":[{"text":"Be brief."}]}`, `[
		{"role":"user","parts":[{"text":"look"},{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]},
		{"role":"model","parts":[{"text":"hm","thought":true,"thoughtSignature":"c2ln"},
			{"functionCall":{"name":"find","args":{"q":1}}},{"functionCall":{"name":"list","args":{}}}]},
		{"role":"user","parts":[{"functionResponse":{"name":"find","response":{"output":"found"}}},
			{"functionResponse":{"name":"list","response":{"output":""}}},{"text":"and?"}]}]`},
	Neutral: {"", `[
		{"role":"system","parts":[{"kind":"text","texts":["Be brief."]}]},
		{"role":"assistant","parts":[{"kind":"call","id":"c1","name":"find","texts":["{}"]}]},
		{"role":"tool","parts":[{"kind":"result","id":"c1","texts":["found"]}]}]`},
}

// fault makes a legal context break a rule: old becomes new, everywhere. A new
// that begins with "system:" is given as the system instead.
type fault struct {
	name     string
	rule     Rule
	old, new string
}

var faults = map[Format][]fault{
	OpenAIChat: {
		{"no array", RuleJSON, "[\n", "{\n"},
		{"broken element", RuleJSON, `"content":"Done."`, `"content":Done`},
		{"trailing comma", RuleJSON, `"Done."}]`, `"Done."},]`},
		{"invalid UTF-8", RuleJSON, "Done", "Don\xff"},
		{"system apart", RuleSystem, "", `system:"Be brief."`},
		{"unknown key", RuleUnknownKey, `"role":"user",`, `"role":"user","index":1,`},
		{"key of another role", RuleUnknownKey, `"role":"user",`, `"role":"user","tool_call_id":"c1",`},
		{"name of a tool message", RuleSpeaker, `"role":"tool",`, `"role":"tool","name":"fi nd",`},
		{"key of another part", RuleUnknownKey, `"type":"text","text":"look"`, `"type":"text","text":"look","refusal":"x"`},
		{"key twice", RuleTwice, `"role":"user",`, `"role":"user","role":"user",`},
		{"no role", RuleMissing, `"role":"user",`, ``},
		{"no content", RuleMissing, `,"content":"Done."`, ``},
		{"type of content", RuleType, `"content":"Done."`, `"content":5`},
		{"type of call", RuleValue, `"type":"function"`, `"type":"tool"`},
		{"role of another", RuleRole, `"role":"user"`, `"role":"model"`},
		{"empty text", RuleEmpty, `"Done."`, `""`},
		{"empty part", RuleEmpty, `"text":"look"`, `"text":""`},
		{"no calls", RuleEmpty, `"content":"Done."`, `"content":"Done.","tool_calls":[]`},
		{"long id", RuleID, `"c1"`, `"` + strings.Repeat("c", 41) + `"`},
		{"id twice", RuleIDUnique, `"id":"c2"`, `"id":"c1"`},
		{"name", RuleName, `"find"`, `"fi nd"`},
		{"arguments as object", RuleType, `"{\"q\":1}"`, `{"q":1}`},
		{"arguments no JSON", RuleArguments, `"{\"q\":1}"`, `"q=1"`},
		{"call unanswered", RuleUnanswered, `{"role":"tool","tool_call_id":"c1","content":"found"},`, ``},
		{"answered twice", RuleUnasked, `"tool_call_id":"c1"`, `"tool_call_id":"c2"`},
		{"something between", RuleUnanswered, `{"role":"tool","tool_call_id":"c1"`, `{"role":"user","content":"x"},{"role":"tool","tool_call_id":"c1"`},
		{"image", RuleValue, `https://x`, `file://x`},
	},
	OpenAIResponses: {
		{"no array", RuleJSON, "[\n", "{\n"},
		{"system apart", RuleSystem, "", `system:"Be brief."`},
		{"unknown key", RuleUnknownKey, `"role":"user",`, `"role":"user","name":"x",`},
		{"key of another part", RuleUnknownKey, `"type":"output_text",`, `"type":"output_text","detail":"low",`},
		{"output's text as input", RuleValue, `output_text`, `input_text`},
		{"output without id", RuleMissing, `"id":"msg_1",`, ``},
		{"output without status", RuleMissing, `"status":"completed",`, ``},
		{"output with an empty id", RuleEmpty, `"msg_1"`, `""`},
		{"output of another status", RuleValue, `"completed"`, `"done"`},
		{"annotations no list", RuleType, `"annotations":[]`, `"annotations":{}`},
		{"text with an id", RuleUnknownKey, `"content":"So."`, `"id":"msg_2","content":"So."`},
		{"output without type", RuleMissing, `"type":"message","role":"assistant","id"`, `"role":"assistant","id"`},
		{"output without annotations", RuleMissing, `,"annotations":[]`, ``},
		{"text as a list", RuleMissing, `"content":"So."`, `"content":[{"type":"output_text","text":"So."}]`},
		{"empty text of the assistant", RuleEmpty, `"So."`, `""`},
		{"image without detail", RuleMissing, `,"detail":"auto"`, ``},
		{"detail of an image", RuleValue, `"detail":"auto"`, `"detail":"full"`},
		{"unknown item", RuleValue, `"type":"reasoning"`, `"type":"thinking"`},
		{"role tool", RuleRole, `"role":"user"`, `"role":"tool"`},
		{"empty text", RuleEmpty, `"look"`, `""`},
		{"no output", RuleMissing, `,"output":""`, ``},
		{"no id", RuleMissing, `"call_id":"c1","name"`, `"name"`},
		{"empty id", RuleID, `"c1"`, `""`},
		{"id twice", RuleIDUnique, `"call_id":"c2"`, `"call_id":"c1"`},
		{"name", RuleName, `"find"`, `"fi.nd"`},
		{"arguments no JSON", RuleArguments, `"{\"q\":1}"`, `""`},
		{"call unanswered", RuleUnanswered, `{"type":"function_call_output","call_id":"c2","output":""},`, ``},
		{"output without call", RuleUnasked, `{"type":"function_call","call_id":"c2","name":"list","arguments":"{}"},`, ``},
		{"reasoning alone", RuleReasoning, `{"type":"function_call","call_id":"c1"`, `{"role":"user","content":"x"},{"type":"function_call","call_id":"c1"`},
		{"reasoning without id", RuleMissing, `"id":"rs_1",`, ``},
		{"reasoning without summary", RuleMissing, `"summary":[{"type":"summary_text","text":"hm"}],`, ``},
		{"reasoning that says null", RuleType, `"id":"rs_1",`, `"id":"rs_1","status":null,`},
		{"reasoning whose content is null", RuleType, `"id":"rs_1",`, `"id":"rs_1","content":null,`},
		{"summary", RuleType, `[{"type":"summary_text","text":"hm"}]`, `"hm"`},
		{"type of a summary", RuleValue, `"summary_text"`, `"reasoning_text"`},
	},
	Anthropic: {
		{"no array", RuleJSON, "[\n", "{\n"},
		{"empty system", RuleEmpty, "", `system:""`},
		{"system of images", RuleValue, "", `system:[{"type":"image","source":{"type":"url","url":"x"}}]`},
		{"system no list", RuleType, "", `system:{}`},
		{"unknown key", RuleUnknownKey, `{"role":"user",`, `{"role":"user","name":"x",`},
		{"unknown key in a block of the system", RuleUnknownKey, "", `system:[{"type":"text","text":"x","id":"y"}]`},
		{"role tool", RuleRole, `"role":"assistant"`, `"role":"tool"`},
		{"system in place of the model", RuleSystem, `"and?"}]}]`, `"and?"}]},{"role":"system","content":"x"},{"role":"user","content":"y"}]`},
		{"system first", RuleSystem, "[\n", `[{"role":"system","content":"x"},`},
		{"system of another kind", RuleValue, `"and?"}]}]`, `"and?"}]},{"role":"system","content":[{"type":"image","source":{"type":"url","url":"x"}}]}]`},
		{"empty content", RuleEmpty, `[{"type":"text","text":"look"},{"type":"image","source":{"type":"url","url":"https://x.example/a.png"}}]`, `[]`},
		{"blank text", RuleEmpty, `"text":"and?"`, `"text":" \n"`},
		{"empty text of a result", RuleEmpty, `"text":"found"`, `"text":""`},
		{"id", RuleID, `"c1"`, `"c.1"`},
		{"id twice", RuleIDUnique, `"c2"`, `"c1"`},
		{"name", RuleName, `"find"`, `"fi.nd"`},
		{"arguments as text", RuleArguments, `{"q":1}`, `"{}"`},
		{"no input", RuleArguments, `,"input":{"q":1}`, ``},
		{"call unanswered", RuleUnanswered, `{"type":"tool_result","tool_use_id":"c2","content":""},`, ``},
		{"result without call", RuleUnasked, `{"type":"tool_use","id":"c2","name":"list","input":{}}`, `{"type":"text","text":"x"}`},
		{"answered twice", RuleUnasked, `"tool_use_id":"c2"`, `"tool_use_id":"c1"`},
		{"result after text", RulePlace, `{"type":"tool_result","tool_use_id":"c2"`, `{"type":"text","text":"x"},{"type":"tool_result","tool_use_id":"c2"`},
		{"assistant first", RuleFirst, "[\n", `[{"role":"assistant","content":"x"},`},
		{"assistant last", RuleLast, `"and?"}]}]`, `"and?"}]},{"role":"assistant","content":"x"}]`},
		{"users in a row", RuleAlternate, `"and?"}]}]`, `"and?"}]},{"role":"user","content":"x"}]`},
		{"no signature", RuleSignature, `,"signature":"sig"`, ``},
		{"empty signature", RuleSignature, `"sig"`, `""`},
		{"thinking last", RuleThinking, `,
			{"type":"tool_use","id":"c1","name":"find","input":{"q":1}},
			{"type":"tool_use","id":"c2","name":"list","input":{}}]}`, `]}`},
		{"server's call unanswered", RuleUnanswered, `{"type":"tool_use","id":"c1"`, `{"type":"server_tool_use","id":"s1","name":"web_search","input":{}},{"type":"tool_use","id":"c1"`},
		{"server's result without call", RuleUnasked, `{"type":"tool_use","id":"c1"`, `{"type":"web_search_tool_result","tool_use_id":"s1","content":[]},{"type":"tool_use","id":"c1"`},
		{"called by code that is not there", RuleUnasked, `"input":{"q":1}`, `"input":{"q":1},"caller":{"type":"code_execution_20250825","tool_id":"s1"}`},
		{"server's call without an id", RuleID, `{"type":"tool_use","id":"c1"`, `{"type":"server_tool_use","name":"web_search","input":{}},{"type":"tool_use","id":"c1"`},
		{"result without the id of the server's call", RuleID, `{"type":"tool_use","id":"c1"`, `{"type":"web_search_tool_result","content":[]},{"type":"tool_use","id":"c1"`},
		{"server's call with a text as input", RuleArguments, `{"type":"tool_use","id":"c1"`, `{"type":"server_tool_use","id":"s1","name":"web_search","input":"{}"},{"type":"tool_use","id":"c1"`},
		{"the same server's call again", RuleUnanswered, `{"type":"tool_use","id":"c1"`, `{"type":"server_tool_use","id":"s1","input":{}},{"type":"server_tool_use","id":"s1","input":{}},{"type":"tool_use","id":"c1"`},
		{"silent error", RuleErrorText, `[{"type":"text","text":"found"}]`, `""`},
		{"no text", RuleMissing, `"text","text":"and?"`, `"text"`},
		{"is_error", RuleType, `"is_error":true`, `"is_error":"yes"`},
	},
	Gemini: {
		{"no array", RuleJSON, "[\n", "{\n"},
		{"system of media", RuleValue, "", `system:{"parts":[{"inlineData":{"mimeType":"image/png","data":"AA"}}]}`},
		{"system as text", RuleType, "", `system:"Be brief."`},
		{"unknown key", RuleUnknownKey, `{"role":"user",`, `{"role":"user","content":"x",`},
		{"snake case", RuleUnknownKey, `inlineData`, `inline_data`},
		{"two in a part", RuleValue, `{"text":"look"}`, `{"text":"look","fileData":{"fileUri":"x"}}`},
		{"role assistant", RuleRole, `"role":"model"`, `"role":"assistant"`},
		{"call of the user", RuleRole, `{"text":"and?"}`, `{"functionCall":{"name":"x","args":{}}}`},
		{"empty text", RuleEmpty, `"and?"`, `""`},
		{"no parts", RuleEmpty, `[{"text":"look"},{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]`, `[]`},
		{"name", RuleName, `"find"`, `"1find"`},
		{"args as text", RuleArguments, `{"q":1}`, `"{}"`},
		{"response as text", RuleType, `{"output":"found"}`, `"found"`},
		{"too few responses", RuleCount, `{"functionResponse":{"name":"list","response":{"output":""}}},`, ``},
		{"other order", RuleUnasked, `{"functionResponse":{"name":"find"`, `{"functionResponse":{"name":"list"`},
		{"model first", RuleFirst, "[\n", `[{"role":"model","parts":[{"text":"x"}]},`},
		{"model last", RuleLast, `"and?"}]}]`, `"and?"}]},{"role":"model","parts":[{"text":"x"}]}]`},
		{"users in a row", RuleAlternate, `"and?"}]}]`, `"and?"}]},{"role":"user","parts":[{"text":"x"}]}]`},
		{"thought without signature", RuleSignature, `,"thoughtSignature":"c2ln"`, ``},
		{"calls at the end", RuleCount, `"and?"}]}]`, `"and?"}]},{"role":"model","parts":[{"functionCall":{"name":"x"}}]}]`},
	},
	Neutral: {
		{"unanswered", RuleUnanswered, `{"role":"tool"`, `{"role":"user","parts":[{"kind":"text","texts":["x"]}]},{"role":"tool"`},
		{"unasked", RuleUnasked, `"tool","parts":[{"kind":"result","id":"c1"`, `"tool","parts":[{"kind":"result","id":"c9"`},
		{"no parts", RuleEmpty, `[{"kind":"text","texts":["Be brief."]}]`, `[]`},
		{"role", RuleRole, `"system"`, `"model"`},
		{"type", RuleType, `"texts":["Be brief."]`, `"texts":"Be brief."`},
		{"id twice", RuleIDUnique, `"texts":["found"]}]}]`, `"texts":["found"]}]},
			{"role":"assistant","parts":[{"kind":"call","id":"c1","name":"x"}]},{"role":"tool","parts":[{"kind":"result","id":"c1"}]}]`},
	},
}

func checkBroken(t *testing.T, format Format, f fault) []Violation {
	t.Helper()
	system, messages := legal[format][0], legal[format][1]
	if given, ok := strings.CutPrefix(f.new, "system:"); ok {
		system = given
	} else {
		broken := strings.Replace(messages, f.old, f.new, 1)
		if f.old == `"c1"` || f.old == `"find"` || f.old == "output_text" || f.old == "inlineData" {
			broken = strings.ReplaceAll(messages, f.old, f.new)
		}
		if broken == messages {
			t.Fatalf("%q does not occur", f.old)
		}
		messages = broken
	}
	found, err := Check(format, []byte(system), []byte(messages))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestCheck_LegalContext_FindsNothing(t *testing.T) {
	for format, context := range legal {
		found, err := Check(format, []byte(context[0]), []byte(context[1]))
		if err != nil || len(found) > 0 {
			t.Errorf("%s: %v %v", format, found, err)
		}
	}
}

func TestCheck_BrokenRule_IsFound(t *testing.T) {
	for format, list := range faults {
		for _, f := range list {
			t.Run(string(format)+"/"+f.name, func(t *testing.T) {
				found := checkBroken(t, format, f)
				if !slices.ContainsFunc(found, func(v Violation) bool { return v.Rule == f.rule }) {
					t.Errorf("want %q, found %v", f.rule, found)
				}
			})
		}
	}
}

// A rule without a failing example could be one that cannot fail.
func TestCheck_EveryRule_HasAnExample(t *testing.T) {
	covered := map[Rule]bool{}
	for _, list := range faults {
		for _, f := range list {
			covered[f.rule] = true
		}
	}
	for _, rule := range []Rule{
		RuleJSON, RuleUnknownKey, RuleTwice, RuleMissing, RuleType, RuleValue, RuleSystem, RuleRole, RuleEmpty, RuleID, RuleIDUnique,
		RuleName, RuleArguments, RuleUnanswered, RuleUnasked, RulePlace, RuleCount, RuleFirst, RuleLast, RuleAlternate,
		RuleSignature, RuleThinking, RuleReasoning, RuleErrorText,
	} {
		if !covered[rule] {
			t.Errorf("no example breaks %q", rule)
		}
	}
}

func TestCheck_EmptyList_IsIllegal(t *testing.T) {
	for format := range legal {
		if found, _ := Check(format, nil, []byte(`[]`)); len(found) == 0 {
			t.Errorf("%s: nothing found", format)
		}
	}
	if _, err := Check("morse", nil, nil); err == nil {
		t.Error("an unknown format must fail")
	}
}

// words counts a text's words, so that expectations can be read off.
func words(text string) int { return len(strings.Fields(text)) }

func TestCount_Formula_AddsFrames(t *testing.T) {
	for format, want := range map[Format]int{
		// system 2+4, user 1+1600+4, calls 4 + 2*(6+2), results 4 + 4+1, end 4+1
		OpenAIChat: 6 + 1605 + 20 + 9 + 5,
		// as above, the image in a message of its own; reasoning and calls are one message, 1 of thinking; two ends
		OpenAIResponses: 6 + 5 + 1605 + 1 + 20 + 9 + 5 + 5,
		// system 2+4, user 1605, assistant 4+1+16, user 4+1+1
		Anthropic: 6 + 1605 + 21 + 6,
		Gemini:    6 + 1605 + 21 + 6,
		Neutral:   6 + 12 + 5,
	} {
		got, err := Count(format, []byte(legal[format][0]), []byte(legal[format][1]), words)
		if err != nil || got != want {
			t.Errorf("%s: %d tokens, want %d (%v)", format, got, want, err)
		}
	}
}

func TestChecker_Read_BlocksAreExactBytes(t *testing.T) {
	c, err := NewChecker(Anthropic, words)
	if err != nil {
		t.Fatal(err)
	}
	first := c.Read([]byte(legal[Anthropic][0]), []byte(legal[Anthropic][1]))
	again := c.Read([]byte(legal[Anthropic][0]), []byte(legal[Anthropic][1]))
	if len(first.Blocks) != 9 || first.Tokens != again.Tokens || len(again.Blocks) != 9 {
		t.Fatalf("%d blocks of %d tokens, then %d of %d", len(first.Blocks), first.Tokens, len(again.Blocks), again.Tokens)
	}
	if b := first.Blocks[1]; b.Role != "user" || b.JSON != `{"type":"text","text":"look"}` {
		t.Errorf("block 1 is %+v", b)
	}
	sum := 0
	for _, b := range first.Blocks {
		sum += b.Tokens
	}
	if sum != first.Tokens {
		t.Errorf("blocks weigh %d, the context %d", sum, first.Tokens)
	}
}

func FuzzCheck(f *testing.F) {
	for _, context := range legal {
		f.Add([]byte(context[0]), []byte(context[1]))
	}
	f.Fuzz(func(_ *testing.T, system, messages []byte) {
		for format := range legal {
			_, _ = Check(format, system, messages)
		}
	})
}

// TestChecker_Model_GeminiDemandsSignatures: from version 3 on, of the first call of each step since the user spoke.
func TestChecker_Model_GeminiDemandsSignatures(t *testing.T) {
	step := func(signature string) string {
		return `{"role":"model","parts":[{"functionCall":{"name":"a","args":{}}` + signature + `},{"functionCall":{"name":"b","args":{}}}]},
			{"role":"user","parts":[{"functionResponse":{"name":"a","response":{"result":"x"}}},{"functionResponse":{"name":"b","response":{"result":"x"}}}]}`
	}
	const user, signed = `{"role":"user","parts":[{"text":"q"}]},`, `,"thoughtSignature":"c2ln"`
	between := `,{"role":"model","parts":[{"text":"x"}]},` + user
	for _, c := range []struct {
		name, model, list string
		legal             bool
	}{
		{"signed", "gemini-3-pro-preview", user + step(signed) + "," + step(signed), true},
		{"the second is not", "gemini-3-pro-preview", user + step(signed) + "," + step(""), false},
		{"an earlier turn's", "models/gemini-3.1-pro", user + step("") + between + step(signed), true},
		{"a later version's", "gemini-4-argon", user + step(""), false},
		{"an older version's", "gemini-2.5-flash", user + step(""), true},
		{"of one that makes images", "gemini-3-pro-image-preview", user + step(""), true},
		{"of any", "", user + step(""), true},
	} {
		checker, err := NewChecker(Gemini, words)
		if err != nil {
			t.Fatal(err)
		}
		checker.Model = c.model
		found := checker.Read(nil, []byte("["+c.list+"]")).Violations
		if refused := slices.ContainsFunc(found, func(v Violation) bool { return v.Rule == RuleCallSigned }); refused == c.legal || c.legal && len(found) > 0 {
			t.Errorf("%s: %v", c.name, found)
		}
	}
}

// TestCheck_AnthropicTurnsThatGoOn_AreLegal: thinking anywhere, calls of the provider's own tools over several turns, a pause, and system messages.
func TestCheck_AnthropicTurnsThatGoOn_AreLegal(t *testing.T) {
	const ask = `{"role":"user","content":"q"}`
	for name, list := range map[string]string{
		"thinking anywhere":           `[` + ask + `,{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"thinking","thinking":"","signature":"s","new":1},{"type":"text","text":"b"}]},` + ask + `]`,
		"a pause":                     `[` + ask + `,{"role":"assistant","content":[{"type":"server_tool_use","id":"s","name":"web_search","input":{}}]}]`,
		"a result in the next answer": `[` + ask + `,{"role":"assistant","content":[{"type":"server_tool_use","id":"s","input":{}},{"type":"tool_use","id":"t","name":"n","input":{},"caller":{"tool_id":"s"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t"}]},{"role":"assistant","content":[{"type":"code_execution_tool_result","tool_use_id":"s","content":[]},{"type":"text","text":"b"}]},` + ask + `]`,
		"results for code":            `[` + ask + `,{"role":"assistant","content":[{"type":"server_tool_use","id":"s","input":{}},{"type":"tool_use","id":"t","name":"n","input":{},"caller":{"tool_id":"s"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t"}]}]`,
		"system messages":             `[` + ask + `,{"role":"system","content":"s","clear_at":"next_user_message"},{"role":"assistant","content":"a"},` + ask + `,{"role":"system","content":[{"type":"text","text":"s"}]}]`,
	} {
		if found, err := Check(Anthropic, nil, []byte(list)); err != nil || len(found) > 0 {
			t.Errorf("%s: %v %v", name, found, err)
		}
	}
}

// TestChecker_Model_BrokenDemand_IsFound: what a model's provider demands beyond OpenAI's rules.
func TestChecker_Model_BrokenDemand_IsFound(t *testing.T) {
	for model, rule := range map[string]Rule{
		"gpt-5.1": "", "deepseek-v4-pro": RuleThought, "moonshotai/kimi-k2.6": RuleThought, "kimi-k2.7-code": RuleThought,
		"mistral-large-latest": RuleID, "gemini-3-pro-preview": RuleSignature,
	} {
		c, err := NewChecker(OpenAIChat, words)
		if err != nil {
			t.Fatal(err)
		}
		c.Model = model
		found := c.Read(nil, []byte(legal[OpenAIChat][1])).Violations
		if (len(found) == 0) != (rule == "") || rule != "" && !slices.ContainsFunc(found, func(v Violation) bool { return v.Rule == rule }) {
			t.Errorf("%s: want %q, found %v", model, rule, found)
		}
	}
}
