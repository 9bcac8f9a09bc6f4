package palimpsest

import (
	"encoding/json"
	"fmt"
	"testing"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

func TestConversation_Sync_SendsWhatIsNew(t *testing.T) {
	t.Parallel()
	f, p := newFake(t)
	c := p.Conversation("c1")
	for _, step := range []struct {
		list, sent string
		known      int32
		forgets    bool
	}{
		{`[ {"a": 1} ]`, `[{"a": 1}]`, 0, false},
		{`[{"a": 1},{"b":"<x>"}]`, `[{"b":"<x>"}]`, 1, false},
		{`[{"a": 1},{"b":"<x>"}]`, `[]`, 2, false},
		{`[{"a": 1},{"b":"<x>"},3]`, `[{"a": 1},{"b":"<x>"},3]`, 0, true}, // asked for twice
		{`[{"a": 1},{"b":"other"},3]`, `[{"a": 1},{"b":"other"},3]`, 0, false},
		{`[{"a": 1}]`, `[{"a": 1}]`, 0, false},
	} {
		f.forgets = step.forgets
		if _, err := c.Sync(t.Context(), OpenAI, json.RawMessage(step.list), Request{Model: "m", Differs: DiffersRewind}); err != nil {
			t.Fatal(err)
		}
		input := f.builds[len(f.builds)-1].GetAppend().GetProviderInput()
		if input.GetJson() != step.sent || input.GetHistory().GetKnownCount() != step.known ||
			input.GetHistory().GetOnDivergence() != pb.OnDivergence_ON_DIVERGENCE_REWIND {
			t.Errorf("of %s it sent %v, want %s", step.list, input, step.sent)
		}
	}
	if len(f.builds) != 7 {
		t.Errorf("%d builds", len(f.builds))
	}
	if _, err := c.Sync(t.Context(), OpenAI, json.RawMessage(`{}`), Request{}); err == nil {
		t.Error("an object was taken as a list")
	}
}

// A list that goes on elsewhere: what follows goes there, and the next list is looked for where the program began.
func TestConversation_Sync_New_GoesOnWhereTheAnswerSays(t *testing.T) {
	t.Parallel()
	f, p := newFake(t)
	c := p.Conversation("c1")
	f.goesOn = "c1~2"
	for range 2 {
		if _, err := c.Sync(t.Context(), OpenAI, json.RawMessage(`[{"a": 1}]`), Request{Model: "m", Differs: DiffersNew}); err != nil {
			t.Fatal(err)
		}
		sent := f.builds[len(f.builds)-1]
		if sent.GetConversationId() != "c1" || sent.GetAppend().GetProviderInput().GetHistory().GetOnDivergence() != pb.OnDivergence_ON_DIVERGENCE_NEW {
			t.Errorf("sent %v", sent)
		}
	}
	if _, err := c.OpenAI(t.Context(), Request{Model: "m"}); err != nil {
		t.Fatal(err)
	}
	if sent := f.builds[len(f.builds)-1]; sent.GetConversationId() != "c1~2" || c.ID() != "c1~2" {
		t.Errorf("sent %v", sent)
	}
}

// A system prompt in the list is on no record: nothing may be left out of a list that begins with it, unless the prompt comes beside.
func TestConversation_Sync_SystemInTheList_IsSentEachTime(t *testing.T) {
	t.Parallel()
	f, p := newFake(t)
	c := p.Conversation("c1")
	const list = `[{"role":"system","content":"Be brief."},{"role":"user","content":"Hi"}]`
	for _, step := range []struct{ system, sent string }{{"", list}, {"", list}, {"Be brief.", `[]`}} {
		if _, err := c.Sync(t.Context(), OpenAI, json.RawMessage(list), Request{Model: "m", System: step.system}); err != nil {
			t.Fatal(err)
		}
		if sent := f.builds[len(f.builds)-1].GetAppend().GetProviderInput().GetJson(); sent != step.sent {
			t.Errorf("with %q beside, it sent %s", step.system, sent)
		}
	}
}

// Streams of each provider, whole and as far as they came when they broke off.
func TestStream_Pieces_MakeTheReply(t *testing.T) {
	t.Parallel()
	for format, s := range map[Format]struct {
		events        []string
		cut           int // events of one that breaks off
		whole, broken string
	}{
		OpenAI: {
			[]string{
				`{"id":"1","object":"chat.completion.chunk","usage":null,"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}`,
				`{"id":"1","choices":[{"delta":{"content":"a"}}]}`, `{"id":"1","choices":[{"delta":{"content":"b"}}]}`,
				`{"id":"1","choices":[{"delta":{"tool_calls":[{"index":0,"id":"x","type":"function","function":{"name":"f","arguments":"{"}}]}}]}`,
				`{"id":"1","choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"}"}},{"index":1,"id":"y","function":{"name":"g","arguments":""}}]}}]}`,
				`{"id":"1","choices":[{"delta":{},"finish_reason":"tool_calls"}]}`, `{"id":"1","choices":[],"usage":{"prompt_tokens":9007199254740993}}`,
			},
			5,
			`{"choices":[{"finish_reason":"tool_calls","index":0,"message":{"content":"ab","role":"assistant","tool_calls":[{"id":"x","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"y","type":"function","function":{"name":"g","arguments":""}}]}}],"id":"1","object":"chat.completion","usage":{"prompt_tokens":9007199254740993}}`,
			`{"choices":[{"finish_reason":null,"index":0,"message":{"content":"ab","role":"assistant","tool_calls":[{"id":"x","type":"function","function":{"name":"f","arguments":"{}"}}]}}],"id":"1","object":"chat.completion"}`,
		},
		Responses: {
			[]string{
				`{"type":"response.created","response":{"id":"r","object":"response"}}`,
				`{"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"m","content":[]}}`,
				`{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"a"}`,
				`{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","arguments":""}}`,
				`{"type":"response.output_item.added","output_index":2,"item":{"type":"message","id":"n","content":[]}}`,
				`{"type":"response.completed","response":{"id":"r","output":[1]}}`,
			},
			5, `{"id":"r","output":[1]}`,
			`{"id":"r","object":"response","output":[{"content":[{"annotations":[],"text":"a","type":"output_text"}],"id":"m","type":"message"}]}`,
		},
		Anthropic: {
			[]string{
				`{"type":"message_start","message":{"id":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}`,
				`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
				`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"<a>"}}`, `{"type":"content_block_stop","index":0}`,
				`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"x","name":"f","input":{}}}`,
				`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a\":"}}`,
				`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"1}"}}`, `{"type":"content_block_stop","index":1}`,
				`{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}`, `{"type":"message_stop"}`,
			},
			6,
			`{"content":[{"text":"<a>","type":"text"},{"id":"x","input":{"a":1},"name":"f","type":"tool_use"}],"id":"m","stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":9}}`,
			`{"content":[{"text":"<a>","type":"text"}],"id":"m","usage":{"input_tokens":1,"output_tokens":1}}`,
		},
		Gemini: {
			[]string{
				`{"candidates":[{"content":{"parts":[{"text":"a"}]}}]}`, `{"candidates":[{"content":{"parts":[{"text":"b","thoughtSignature":"s"},{"text":"c"}]}}]}`,
				`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"n":9007199254740993}}}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1}}`,
			},
			2,
			`{"candidates":[{"content":{"parts":[{"text":"ab","thoughtSignature":"s"},{"text":"c"},{"functionCall":{"args":{"n":9007199254740993},"name":"f"}}],"role":"model"},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1}}`,
			`{"candidates":[{"content":{"parts":[{"text":"ab","thoughtSignature":"s"},{"text":"c"}],"role":"model"}}]}`,
		},
	} {
		for n, want := range map[int]string{len(s.events): s.whole, s.cut: s.broken} {
			f, p := newFake(t)
			c := p.Conversation("c1")
			c.format = format
			stream := c.Stream(func(yield func(json.RawMessage, error) bool) {
				for _, event := range s.events[:n] {
					if !yield(json.RawMessage(event), nil) {
						return
					}
				}
			})
			passed := 0
			for range stream.Events() {
				passed++
			}
			_, err := stream.End(t.Context())
			broken := n < len(s.events)
			if passed != n || (err != nil) != broken || len(f.items) != 1 {
				t.Fatalf("%s: %d of %d events passed, %v", format, passed, n, err)
			}
			if input := f.items[0].GetProviderInput(); input.GetJson() != want || input.GetAborted() != broken {
				t.Errorf("%s: of %d events it made %s, want %s", format, n, input.GetJson(), want)
			}
		}
	}
}

// A call whose input ends at the largest number of tokens is none.
func TestAnthropicAssembly_HalfAnInput_IsLeftOut(t *testing.T) {
	t.Parallel()
	a := &anthropicAssembly{}
	for _, event := range []string{
		`{"type":"message_start","message":{"id":"m"}}`, `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"x"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a\":"}}`,
		`{"type":"content_block_stop","index":0}`, `{"type":"message_delta","delta":{"stop_reason":"max_tokens"}}`, `{"type":"message_stop"}`,
	} {
		if err := a.feed(json.RawMessage(event)); err != nil {
			t.Fatal(err)
		}
	}
	reply, err := encode(a.reply())
	if want := `{"content":[],"id":"m","stop_reason":"max_tokens","usage":{}}`; err != nil || string(reply) != want {
		t.Errorf("%v: %s, want %s", err, reply, want)
	}
}

func TestStream_NothingCame_PutsNothingOnRecord(t *testing.T) {
	t.Parallel()
	f, p := newFake(t)
	c := p.Conversation("c1")
	c.format = OpenAI
	stream := c.Stream(func(yield func(json.RawMessage, error) bool) { yield(nil, fmt.Errorf("cut")) })
	for range stream.Events() {
		t.Error("an event came")
	}
	if _, err := stream.End(t.Context()); err == nil || err.Error() != "cut" || len(f.items) != 0 {
		t.Errorf("%v, %d on record", err, len(f.items))
	}
}
