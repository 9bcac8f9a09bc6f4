package provider_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/internal/validate"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// speaker holds how a dialect says things: its model, and the members with its reasoning in a message, a chunk and a call.
type speaker struct {
	model string
	// thinks stands in a message that calls, chunk before its text, and signs in its first call.
	thinks, chunk, signs string
	ids                  [2]string
	calls                string // of a call: from its id to its arguments
	answers              string // of a result, before the comma
	image                string // the user's message
	refuses              bool   // it has refusals
	// wants lists, as pairs, what an SDK's text becomes according to the table: other members, or another form.
	wants [][2]string
}

// speakers have a row for each of the table.
func speakers() map[string]speaker {
	const chatCall, chatAnswer = `{"id":"%[1]s","type":"function","function":{"name":"%[2]s","arguments":"{\"x\": 1}"}%[3]s}`, `"tool_call_id":"%[1]s"`
	chat := speaker{
		ids: [2]string{"call_0aB1cD2eF3", "call_9zY8xW7vU6"}, calls: chatCall, answers: chatAnswer, refuses: true,
		image: `{"role":"user","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"data:image/png;base64,` + pngBase64 + `"}}]}`,
	}
	of := func(model, thinks string) speaker {
		s := chat
		s.model, s.thinks = model, thinks
		return s
	}
	const content, plain = `,"reasoning_content":"First the date."`, `,"reasoning":"First the date."`
	const details = `,"reasoning_details":[{"type":"reasoning.text","text":"First the date.","signature":"c2ln","format":"anthropic-claude-v1","index":0}]`
	all := map[string]speaker{
		"OpenAI":      of("openai/gpt-5.1", details),
		"DeepSeek R1": of("deepseek-r1-0528", content),
		"DeepSeek":    of("deepseek-v4-pro", content),
		"Kimi K2.5":   of("moonshotai/kimi-k2.6", content),
		"Kimi K2.7":   of("kimi-k2.7-code", content),
		"Kimi K2":     of("kimi-k2-thinking", content),
		"GLM":         of("glm-5.1", content),
		"Qwen":        of("qwen3-max", content),
		"MiniMax":     of("MiniMax-M2", content+`,"reasoning_details":[{"type":"reasoning.text","id":"r1","text":"First the date."}]`),
		"xAI":         of("grok-4.3", content),
		"LiteLLM":     of("anthropic/claude-sonnet-4-6", content+`,"thinking_blocks":[{"type":"thinking","thinking":"First the date.","signature":"c2ln"}],"provider_specific_fields":{"citations":[]}`),
		"OpenRouter":  of("openrouter/auto", plain+details),
		"vLLM":        of("hosted_vllm/my-model", plain),
		"Gemini":      of("gemini-2.5-flash", ""),
		"Gemini 3":    of("gemini-3-pro-preview", ""),
		"Mistral":     of("mistral-large-latest", ""),
		"Ollama":      of("qwen3:8b", `,"thinking":"First the date."`),
	}
	edit := func(name string, how func(*speaker)) {
		s := all[name]
		how(&s)
		all[name] = s
	}
	signs := func(s *speaker) {
		s.signs = `,"extra_content":{"google":{"thought_signature":"c2lnbmVk"}}`
		s.ids = [2]string{"function-call-11508402839405864573", "function-call-98765432109876543210"}
	}
	edit("Gemini", signs)
	edit("Gemini 3", signs)
	edit("Mistral", func(s *speaker) {
		s.chunk, s.ids, s.refuses = `{"type":"thinking","thinking":[{"type":"text","text":"First the date."}],"closed":true}`, [2]string{"D681PevKs", "aB3dE6gH9"}, false
		s.calls, s.answers = `{"id":"%[1]s","function":{"name":"%[2]s","arguments":"{\"x\": 1}"},"index":0}`, `"tool_call_id":"%[1]s","name":"%[2]s"`
		s.wants = [][2]string{{`,"index":0`, ``}, {`","function":{`, `","type":"function","function":{`}}
	})
	edit("Ollama", func(s *speaker) { // its own API is not the compatible one, which has ids, texts of arguments, and another name for thinking
		s.calls, s.answers = `{"function":{"name":"%[2]s","arguments":{"x": 1}}}`, `"tool_name":"%[2]s"`
		s.image = `{"role":"user","content":"see","images":["iVBORw0KGgo="]}`
		s.wants = [][2]string{
			{`{"function":{"name":"get","arguments":{"x": 1}}`, `{"id":"call_1","type":"function","function":{"name":"get","arguments":"{\"x\": 1}"}`},
			{`{"function":{"name":"put","arguments":{"x": 1}}`, `{"id":"call_2","type":"function","function":{"name":"put","arguments":"{\"x\": 1}"}`},
			{`"tool_name":"get"`, `"name":"get","tool_call_id":"call_1"`}, {`"tool_name":"put"`, `"name":"put","tool_call_id":"call_2"`},
			{`"thinking"`, `"reasoning"`},
			{`"content":"see","images":["iVBORw0KGgo="]`, `"content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}]`},
		}
	})
	return all
}

func (s *speaker) call(i int, name string, signed bool) string {
	signs := ""
	if signed {
		signs = s.signs
	}
	out := s.calls
	if strings.Contains(out, "%[3]s") {
		return fmt.Sprintf(out, s.ids[i], name, signs)
	}
	if strings.Contains(out, "%[1]s") {
		return fmt.Sprintf(out, s.ids[i], name)
	}
	return strings.ReplaceAll(out, "%[2]s", name)
}

func (s *speaker) result(i int, name string) string {
	return `{"role":"tool",` + strings.NewReplacer("%[1]s", s.ids[i], "%[2]s", name).Replace(s.answers) + `,"content":"one"}`
}

const userSays = `{"role":"user","content":"q"}`

// says returns a conversation of the matrix, and the index of the message that is the model's answer.
func (s *speaker) says(kind string) (messages []string, answer int) {
	assistant := func(content, rest string) string { return `{"role":"assistant","content":` + content + rest + `}` }
	calls := func(calls ...string) string { return `,"tool_calls":[` + strings.Join(calls, ",") + `]` }
	thinking, words := s.thinks, `"I look."`
	if s.chunk != "" {
		words = `[` + s.chunk + `,{"type":"text","text":"I look."},{"type":"reference","reference_ids":[1,2]}]`
	}
	switch kind {
	case "text":
		return []string{userSays, assistant(words, thinking), userSays}, 1
	case "call":
		return []string{userSays, assistant(`""`, calls(s.call(0, "get", true))), s.result(0, "get"), userSays}, 1
	case "parallel calls":
		return []string{userSays, assistant(`null`, calls(s.call(0, "get", true), s.call(1, "put", false))), s.result(0, "get"), s.result(1, "put"), userSays}, 1
	case "reasoning and a call":
		return []string{userSays, assistant(words, thinking+calls(s.call(0, "get", true))), s.result(0, "get"), assistant(`"Done."`, thinking), userSays, assistant(`"So."`, ""), userSays}, 1
	case "image":
		return []string{s.image, assistant(`"A cat."`, thinking), userSays}, 1
	case "refusal":
		if !s.refuses {
			return []string{userSays, assistant(`"No."`, ""), userSays}, 1
		}
		return []string{userSays, assistant(`null`, `,"refusal":"No."`), userSays}, 1
	case "empty":
		return []string{userSays, assistant(`""`, ""), userSays}, 1
	default: // cut
		half := strings.NewReplacer(`{\"x\": 1}`, `{\"pa`, `{"x": 1}`, `"{\"pa"`).Replace(s.call(0, "get", false))
		return []string{userSays, assistant(`"I look."`, calls(half)), userSays}, 1
	}
}

func matrixKinds() []string {
	return []string{"text", "call", "parallel calls", "reasoning and a call", "image", "refusal", "empty", "cut"}
}

// wanted returns what the table makes of messages: unchanged, except for what the row says.
func (s *speaker) wanted(t *testing.T, d *provider.ChatDialect, kind string, messages []string) (out []any) {
	t.Helper()
	for _, m := range messages {
		for _, w := range s.wants {
			m = strings.ReplaceAll(m, w[0], w[1])
		}
		var message map[string]any
		if err := json.Unmarshal([]byte(m), &message); err != nil {
			t.Fatal(err, m)
		}
		calls := message["tool_calls"]
		if kind == "cut" {
			delete(message, "tool_calls")
			calls = nil
		}
		switch {
		case message["role"] != "assistant":
		case message["content"] == "" && calls == nil:
			continue // says nothing
		default:
			for _, key := range d.Refused {
				delete(message, key)
			}
			thinks := slices.ContainsFunc(provider.ReasoningMembers(), func(key string) bool { return message[key] != nil })
			if !thinks && (d.Needs == provider.ReasoningOnAll || d.Needs == provider.ReasoningOnCalls && calls != nil) {
				message["reasoning_content"] = d.Missing
			}
		}
		out = append(out, withoutNulls(message))
	}
	return out
}

func withoutNulls(v any) any {
	switch x := v.(type) {
	case map[string]any:
		maps.DeleteFunc(x, func(_ string, e any) bool { return e == nil })
		for k, e := range x {
			x[k] = withoutNulls(e)
		}
	case []any:
		for i := range x {
			x[i] = withoutNulls(x[i])
		}
	}
	return v
}

// readAs reads messages as they may be appended: each by itself, the answer as the whole answer, all as one list.
func readAs(t rapid.TB, as, model string, messages []string, answer int, cut bool) (out []provider.InputMessage, leftOut int) {
	t.Helper()
	reader := doorOf(conversation.FormatOpenAIChat).reader
	read := func(in *provider.ReadRequest) {
		got, err := reader.Read(in)
		if err != nil {
			t.Fatalf("%v in\n%s", err, in.JSON)
		}
		out, leftOut = append(out, got.Messages...), leftOut+got.LeftOut
	}
	if as == "list" && !cut {
		read(&provider.ReadRequest{JSON: "[" + strings.Join(messages, ",") + "]", Model: model})
		return out, leftOut
	}
	for i, m := range messages {
		in := provider.ReadRequest{JSON: m, Model: model, Shape: provider.ShapeMessage, Aborted: cut && i == answer}
		switch {
		case as == "list":
			in.JSON = "[" + m + "]"
		case as == "response" && i == answer && strings.Contains(m, `"arguments":{`):
			in.JSON, in.Shape = `{"model":"`+model+`","created_at":"x","message":`+m+`,"done":true,"prompt_eval_count":3,"eval_count":2}`, provider.ShapeAuto
		case as == "response" && i == answer:
			in.JSON, in.Shape = `{"object":"chat.completion","model":"`+model+`","choices":[{"index":0,"message":`+m+`,"finish_reason":"stop"}]}`, provider.ShapeAuto
		}
		read(&in)
	}
	return out, leftOut
}

// renderedTo renders messages for a model.
func renderedTo(t rapid.TB, f provider.Format, messages []provider.InputMessage, model string) view {
	r := newRecord()
	recorded(t, r, messages)
	return compose(f, r.units(), model, chars4)
}

// TestChatDialects_Matrix_GoesBack: every dialect × everything a model may say × every way to append it is written in the same dialect as
// it came, except for what the row says. The dialect's provider accepts it, and it is legal in all five formats and for the models of all
// rows.
func TestChatDialects_Matrix_GoesBack(t *testing.T) {
	t.Parallel()
	all := speakers()
	for _, d := range provider.ChatDialects() {
		s, ok := all[d.Name]
		if !ok {
			t.Errorf("%s has no case", d.Name)
			continue
		}
		if got := provider.ChatDialectOf(s.model); got.Name != d.Name || got.Source == "" {
			t.Errorf("%s speaks %q, not %q, from %q", s.model, got.Name, d.Name, got.Source)
		}
		for _, kind := range matrixKinds() {
			messages, answer := s.says(kind)
			for _, as := range []string{"message", "response", "list"} {
				t.Run(d.Name+"/"+kind+"/"+as, func(t *testing.T) {
					read, leftOut := readAs(t, as, s.model, messages, answer, kind == "cut")
					if kind == "cut" && leftOut != 1 {
						t.Errorf("%d calls were left out", leftOut)
					}
					goesBack(t, &s, &d, kind, messages, read)
					for _, f := range formats() {
						legal(t, f, renderedTo(t, f, read, ""), chars4)
					}
					for name := range all {
						takenBy(t, read, all[name].model)
					}
				})
			}
		}
	}
}

func goesBack(t *testing.T, s *speaker, d *provider.ChatDialect, kind string, messages []string, read []provider.InputMessage) {
	t.Helper()
	_, out := provider.Assemble(doorOf(conversation.FormatOpenAIChat).Traits(), renderedTo(t, doorOf(conversation.FormatOpenAIChat).Format, read, s.model).blocks)
	var got []any
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	for i := range got {
		got[i] = withoutNulls(got[i])
	}
	if want := s.wanted(t, d, kind, messages); !reflect.DeepEqual(got, want) {
		t.Errorf("came\n%s\nwant\n%s\nwent\n%s", strings.Join(messages, "\n"), indented(want), out)
	}
}

// takenBy holds what is rendered for a model to what its provider demands.
func takenBy(t rapid.TB, read []provider.InputMessage, model string) {
	f := doorOf(conversation.FormatOpenAIChat)
	takenByProvider(t, f.Format, renderedTo(t, f.Format, read, model), model)
}

func takenByProvider(t rapid.TB, f provider.Format, v view, model string) {
	_, out := provider.Assemble(f.Traits(), v.blocks)
	checker, err := validate.NewChecker(validate.OpenAIChat, chars4)
	if err != nil {
		t.Fatal(err)
	}
	checker.Model = model
	if faults := checker.Read(nil, out).Violations; len(faults) > 0 {
		t.Fatalf("%s: %v in\n%s", model, faults, out)
	}
}

// written writes JSON as another tool would: members in any order, any character escaped, other spacing and, with more, unknown members in
// each object of the assistant's messages.
func written(t *rapid.T, v any, more bool) string {
	var b strings.Builder
	space := func() { b.WriteString(rapid.SampledFrom([]string{"", " ", "\n\t"}).Draw(t, "space")) }
	text := func(s string) {
		b.WriteByte('"')
		for _, r := range s {
			if r < 0x20 || r == '"' || r == '\\' || r < 0x7f && rapid.IntRange(0, 9).Draw(t, "escaped") == 0 {
				fmt.Fprintf(&b, `\u%04X`, r)
			} else {
				b.WriteRune(r)
			}
		}
		b.WriteByte('"')
	}
	var value func(v any)
	value = func(v any) {
		space()
		defer space()
		switch x := v.(type) {
		case map[string]any:
			keys := slices.Sorted(maps.Keys(x))
			if more {
				keys = append(keys, "x_new")
			}
			b.WriteByte('{')
			for i, key := range rapid.Permutation(keys).Draw(t, "order") {
				b.WriteString([]string{"", ","}[min(i, 1)])
				text(key)
				b.WriteByte(':')
				if e, ok := x[key]; ok {
					value(e)
				} else {
					b.WriteString(`{"a": [1, null], "b": "\u00e9"}`)
				}
			}
			b.WriteByte('}')
		case []any:
			b.WriteByte('[')
			for i, e := range x {
				b.WriteString([]string{"", ","}[min(i, 1)])
				value(e)
			}
			b.WriteByte(']')
		case string:
			text(x)
		default:
			out, _ := json.Marshal(x) //nolint:errchkjson // it was read from JSON
			b.Write(out)
		}
	}
	value(v)
	return b.String()
}

// TestChatDialects_OtherWriters_ReadTheSame: another order of members, escapes and spacing give the same context. Unknown members in
// objects of an assistant message are written back.
func TestChatDialects_OtherWriters_ReadTheSame(t *testing.T) {
	all := speakers()
	names := rapid.SampledFrom(slices.Sorted(maps.Keys(all)))
	f := doorOf(conversation.FormatOpenAIChat)
	context := func(t *rapid.T, messages []string, model string) []any {
		read, _ := readAs(t, "list", model, messages, 0, false)
		_, out := provider.Assemble(f.Traits(), renderedTo(t, f.Format, read, model).blocks)
		var list []any
		if err := json.Unmarshal(out, &list); err != nil {
			t.Fatal(err)
		}
		return list
	}
	proptest.Check(t, func(t *rapid.T) {
		s := all[names.Draw(t, "dialect")]
		kind := rapid.SampledFrom(matrixKinds()[:6]).Draw(t, "kind")
		messages, answer := s.says(kind)
		more := rapid.Bool().Draw(t, "more")
		if more && (kind == "refusal" || strings.Contains(s.calls, `"arguments":{`)) {
			more = false // arguments as an object are the caller's own
		}
		others := slices.Clone(messages)
		for i := range others {
			var v any
			if err := json.Unmarshal([]byte(messages[i]), &v); err != nil {
				t.Fatal(err)
			}
			others[i] = written(t, v, more && i == answer)
		}
		want, got := context(t, messages, s.model), context(t, others, s.model)
		var sent any
		if err := json.Unmarshal([]byte(others[answer]), &sent); err != nil {
			t.Fatal(err)
		}
		const unknown = `"x_new"`
		row := provider.ChatDialectOf(s.model)
		if n := strings.Count(indented(got), unknown); n != strings.Count(indented(sent), unknown) && !row.RefusesOthers {
			t.Fatalf("%d unknown members went back of\n%s\nin\n%s", n, others[answer], indented(got))
		}
		if !reflect.DeepEqual(without(want, ""), without(got, "x_new")) {
			t.Fatalf("%s\nbecame\n%s\nwritten otherwise\n%s\n%s", strings.Join(messages, "\n"), indented(want), strings.Join(others, "\n"), indented(got))
		}
	})
}

func without(v any, key string) []any {
	var strip func(v any) any
	strip = func(v any) any {
		switch x := v.(type) {
		case map[string]any:
			delete(x, key)
			for k := range x {
				x[k] = strip(x[k])
			}
			if arguments, ok := x["arguments"].(string); ok { // which may have been an object
				var v any
				if json.Unmarshal([]byte(arguments), &v) == nil {
					x["arguments"] = v
				}
			}
		case []any:
			for i := range x {
				x[i] = strip(x[i])
			}
		}
		return v
	}
	list, _ := strip(v).([]any)
	return list
}
