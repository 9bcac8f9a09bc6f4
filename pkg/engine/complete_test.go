package engine_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store/memory"
)

// ownTools stand for the sidecar's tools.
func ownTools(f conversation.Format, withMemory bool) []engine.Tool {
	tools := []engine.Tool{{Name: "expand_message", JSON: json.RawMessage(fmt.Sprintf(`{"name":"expand_message","format":%d}`, f))}}
	if withMemory {
		tools = append(tools, engine.Tool{Name: "search_memory", JSON: json.RawMessage(`{"name":"search_memory"}`)})
	}
	return tools
}

func newCompleteBench(t *testing.T) *bench {
	b := newBenchWith(memory.New(memory.Options{}), func(o *engine.Options) { o.RecallTools, o.CacheBytes = ownTools, 1<<20 })
	b.append(t, "c", user("hello"), call("a"), result("a", "found"), answer("It is <found> & said."), user("thanks"))
	return b
}

// TestEngine_Build_Complete: a complete request holds system prompt, context and tools under the keys of its provider, the context byte for byte.
func TestEngine_Build_Complete(t *testing.T) {
	const prompt, tools = `You are "kumquat".`, `[ {"name":"mine","x":1.50} ]`
	for f, want := range map[conversation.Format]string{
		conversation.FormatOpenAIChat:      `{"messages":MESSAGES,"tools":[{"name":"mine","x":1.50},OWN]}`,
		conversation.FormatOpenAIResponses: `{"instructions":PROMPT,"input":MESSAGES,"tools":[{"name":"mine","x":1.50},OWN],"store":false,"include":["reasoning.encrypted_content"]}`,
		conversation.FormatAnthropic:       `{"system":SYSTEM,"messages":MESSAGES,"tools":[{"name":"mine","x":1.50},OWN]}`,
		conversation.FormatGemini:          `{"systemInstruction":SYSTEM,"contents":MESSAGES,"tools":[{"name":"mine","x":1.50},{"functionDeclarations":[OWN]}]}`,
	} {
		b := newCompleteBench(t)
		ask := func(c engine.Completion) *engine.BuildResult {
			return b.asked(t, "c", 4000, func(r *engine.BuildRequest) {
				r.Format, r.SameTurn, r.Complete = f, true, c
				r.Fixed = engine.FixedInput{SystemPrompt: prompt, ToolsJSON: tools}
			})
		}
		quoted, _ := json.Marshal(prompt)
		got := ask(engine.Completion{On: true, RecallTools: true})
		filled := strings.NewReplacer("MESSAGES", string(got.MessagesJSON), "SYSTEM", string(got.System), "PROMPT", string(quoted),
			"OWN", string(ownTools(f, false)[0].JSON)).Replace(want)
		if string(got.RequestJSON) != filled {
			t.Errorf("format %d:\ngot  %s\nwant %s", f, got.RequestJSON, filled)
		}
		if !json.Valid(got.RequestJSON) || !bytes.Contains(got.RequestJSON, []byte("kumquat")) {
			t.Errorf("format %d: %s", f, got.RequestJSON)
		}
		without := ask(engine.Completion{On: true})
		if got.Tokens.Fixed <= without.Tokens.Fixed || bytes.Contains(without.RequestJSON, []byte("expand_message\",\"format")) {
			t.Errorf("format %d: the sidecar's tools weigh %d beside %d", f, got.Tokens.Fixed, without.Tokens.Fixed)
		}
		if plain := ask(engine.Completion{}); plain.RequestJSON != nil {
			t.Errorf("format %d: nobody asked for %s", f, plain.RequestJSON)
		}
	}
}

// TestEngine_Build_Complete_PromptOfTheDeveloper: from GPT-6.2 on, instructions belong to one request only, so the system prompt leads the
// input.
func TestEngine_Build_Complete_PromptOfTheDeveloper(t *testing.T) {
	b := newBench(0)
	b.append(t, "c", user("hello"))
	for model, first := range map[string]bool{"gpt-6.2-astra": true, "openai/gpt-6.2": true, "gpt-7-sol": true, "gpt-6.1-sol": false, "gpt-5.2": false, "o3": false, "": false} {
		r := b.asked(t, "c", 1000, func(r *engine.BuildRequest) {
			r.Format, r.Model, r.SameTurn, r.Complete = conversation.FormatOpenAIResponses, model, true, engine.Completion{On: true}
			r.Fixed = engine.FixedInput{SystemPrompt: "Be brief."}
		})
		const developer = `{"input":[{"type":"message","role":"developer","content":[{"type":"input_text","text":"Be brief."}]},{"type":"message","role":"user"`
		if got := string(r.RequestJSON); strings.HasPrefix(got, developer) != first || strings.Contains(got, `"instructions":"Be brief."`) == first {
			t.Errorf("%q: %s", model, got)
		}
	}
}

// TestEngine_Build_Complete_Empty: empty members are left out.
func TestEngine_Build_Complete_Empty(t *testing.T) {
	b := newBench(0)
	b.append(t, "c", user("hello"))
	for f, want := range map[conversation.Format]string{
		conversation.FormatOpenAIChat:      `{"messages":[{"role":"user","content":"hello"}]}`,
		conversation.FormatAnthropic:       `{"messages":[{"role":"user","content":[{"type":"text","text":"hello"}]}]}`,
		conversation.FormatGemini:          `{"contents":[{"role":"user","parts":[{"text":"hello"}]}]}`,
		conversation.FormatOpenAIResponses: `{"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hello"}]}],"store":false,"include":["reasoning.encrypted_content"]}`,
	} {
		r := b.asked(t, "c", 1000, func(r *engine.BuildRequest) {
			r.Format, r.Complete = f, engine.Completion{On: true, RecallTools: true, PromptCache: true}
		})
		got := regexp.MustCompile(`,"cache_control":\{"type":"ephemeral"\}|,"prompt_cache_key":"[0-9a-f]{32}"`).ReplaceAllString(string(r.RequestJSON), "")
		if got != want {
			t.Errorf("format %d: %s", f, got)
		}
	}
}

// TestEngine_Build_Complete_ToolsOfTheCallersOwnNames: a tool that the caller already has is not offered twice, and Gemini's functions are
// declared in one tool only.
func TestEngine_Build_Complete_ToolsOfTheCallersOwnNames(t *testing.T) {
	b := newCompleteBench(t)
	for _, tt := range []struct {
		format      conversation.Format
		tools, want string
	}{
		{conversation.FormatAnthropic, `[{"name":"expand_message"}]`, `[{"name":"expand_message"}]`},
		{conversation.FormatOpenAIChat, `[{"type":"function","function":{"name":"expand_message"}}]`, `[{"type":"function","function":{"name":"expand_message"}}]`},
		{conversation.FormatGemini, `[{"googleSearch":{}},{"functionDeclarations":[{"name":"f"}]}]`, `[{"googleSearch":{}},{"functionDeclarations":[{"name":"f"},{"name":"expand_message","format":5}]}]`},
		{conversation.FormatGemini, `[{"function_declarations":[{"name":"expand_message"}]}]`, `[{"function_declarations":[{"name":"expand_message"}]}]`},
	} {
		r := b.asked(t, "c", 4000, func(r *engine.BuildRequest) {
			r.Format, r.SameTurn, r.Complete = tt.format, true, engine.Completion{On: true, RecallTools: true}
			r.Fixed.ToolsJSON = tt.tools
		})
		var got struct{ Tools json.RawMessage }
		if err := json.Unmarshal(r.RequestJSON, &got); err != nil || string(got.Tools) != tt.want {
			t.Errorf("tools %s (%v), want %s", got.Tools, err, tt.want)
		}
	}
	for _, tools := range []string{`{"name":"x"}`, `["x"]`, `7`} {
		_, err := b.Build(ctx, engine.BuildRequest{
			Key: keyOf("c"), Format: conversation.FormatAnthropic, Complete: engine.Completion{On: true}, Fixed: engine.FixedInput{ToolsJSON: tools},
		})
		expect(t, err, conversation.InvalidField)
		if violation(err) != "fixed_input.tools_json" {
			t.Errorf("violation of %q", violation(err))
		}
	}
}

// TestEngine_Build_Complete_PromptCache: marks are set on the last tool, on the last system block, before the tail and at the end, never
// more than four including the caller's own. Without marks, the request has the same bytes as if marks did not exist.
func TestEngine_Build_Complete_PromptCache(t *testing.T) {
	const mark = `,"cache_control":{"type":"ephemeral"}`
	marked := `[{"name":"a"` + mark + `},{"name":"b"` + mark + `},{"name":"c"` + mark + `},{"name":"d"}]`
	for _, tt := range []struct {
		tools       string
		marks       int
		lastTool    bool
		cacheMarked bool
	}{
		{`[{"name":"a"},{"name":"d"}]`, 3, true, true},
		{marked, 4, false, true},
		{strings.ReplaceAll(marked, `,{"name":"c"`+mark+`}`, ""), 4, false, true},
		{``, 2, false, true},
	} {
		b := newCompleteBench(t)
		ask := func(cache bool) string {
			r := b.asked(t, "c", 4000, func(r *engine.BuildRequest) {
				r.Format, r.SameTurn, r.Complete = conversation.FormatAnthropic, true, engine.Completion{On: true, PromptCache: cache}
				r.Fixed = engine.FixedInput{SystemPrompt: "Be brief.", ToolsJSON: tt.tools}
			})
			return string(r.RequestJSON)
		}
		got, plain := ask(true), ask(false)
		if n := strings.Count(got, `"cache_control"`); n != tt.marks || !json.Valid([]byte(got)) {
			t.Errorf("%s: %d marks, want %d: %s", tt.tools, n, tt.marks, got)
		}
		if strings.ReplaceAll(got, mark, "") != strings.ReplaceAll(plain, mark, "") {
			t.Errorf("marks apart, the request differs:\n%s\n%s", got, plain)
		}
		if !strings.Contains(got, `"text":"thanks"`+mark) || tt.lastTool != strings.Contains(got, `{"name":"d"`+mark) {
			t.Errorf("%s: %s", tt.tools, got)
		}
	}
}

// TestEngine_Build_Complete_CacheKey: OpenAI's cache key never changes for a conversation, differs from that of any other, and reveals
// nothing of the conversation's id.
func TestEngine_Build_Complete_CacheKey(t *testing.T) {
	b := newCompleteBench(t)
	b.append(t, "other", user("hello"))
	var keys []string
	for _, id := range []string{"c", "c", "other"} {
		r := b.asked(t, id, 4000, func(r *engine.BuildRequest) {
			r.Format, r.Complete = conversation.FormatOpenAIChat, engine.Completion{On: true, PromptCache: true}
		})
		var got struct {
			Key string `json:"prompt_cache_key"`
		}
		if err := json.Unmarshal(r.RequestJSON, &got); err != nil || len(got.Key) != 32 {
			t.Fatalf("%s: %v", r.RequestJSON, err)
		}
		keys = append(keys, got.Key)
	}
	if keys[0] != keys[1] || slices.Contains(keys[2:], keys[0]) {
		t.Errorf("keys %v", keys)
	}
}

// TestEngine_Build_Complete_Repeated: a retry gets the same request.
func TestEngine_Build_Complete_Repeated(t *testing.T) {
	b := newCompleteBench(t)
	ask := func() *engine.BuildResult {
		return b.asked(t, "c", 4000, func(r *engine.BuildRequest) {
			r.Format, r.Request = conversation.FormatAnthropic, request("BuildContext", "again", "x")
			r.Complete = engine.Completion{On: true, RecallTools: true, PromptCache: true}
			r.Fixed = engine.FixedInput{SystemPrompt: "Be brief.", ToolsJSON: `[{"name":"mine"}]`}
		})
	}
	first, again := ask(), ask()
	if !again.Duplicate || !bytes.Equal(first.RequestJSON, again.RequestJSON) {
		t.Errorf("first %s\nagain %s", first.RequestJSON, again.RequestJSON)
	}
}
