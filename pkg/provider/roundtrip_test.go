package provider_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/validate"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/provider/anthropic"
	"github.com/palimpsest-context/palimpsest/pkg/provider/gemini"
	"github.com/palimpsest-context/palimpsest/pkg/provider/openaichat"
	"github.com/palimpsest-context/palimpsest/pkg/provider/openairesponses"
)

// door is a format with its reader.
type door struct {
	provider.Format
	reader provider.Reader
}

func doors() []door {
	return []door{
		{openaichat.New(), openaichat.NewReader()}, {openairesponses.New(), openairesponses.NewReader()},
		{anthropic.New(), anthropic.NewReader()}, {gemini.New(), gemini.NewReader()},
	}
}

func doorOf(f conversation.Format) door {
	all := doors()
	return all[slices.IndexFunc(all, func(d door) bool { return d.Format.Format() == f })]
}

// recorded puts what was read on a record, with calls and results paired as an append pairs them.
func recorded(t rapid.TB, r *record, messages []provider.InputMessage) {
	type openCall struct {
		id, name string
		ordinal  int32
	}
	var open []openCall
	seen := map[string]bool{}
	for i := range messages {
		m := &messages[i]
		for p := range m.Parts {
			if res := m.Parts[p].Result; res != nil {
				at := slices.IndexFunc(open, func(c openCall) bool { return c.id == res.CallID || res.CallID == "" && c.name == res.Name })
				if at < 0 {
					t.Fatalf("a result answers no call: %+v", res)
				}
				res.Ordinal = open[at].ordinal
				open = slices.Delete(open, at, at+1)
			}
		}
		r.add(m.Role, m.Parts...).by(m.Model).named(m.Name)
		for p := range m.Parts {
			if c := m.Parts[p].Call; c != nil {
				c.Unique = !seen[c.CallID]
				seen[c.CallID] = true
				open = append(open, openCall{c.CallID, c.Name, c.Ordinal})
			}
		}
	}
}

// there reads a list and writes it again.
func there(t rapid.TB, d door, list string) (out []byte) {
	in, err := d.reader.Read(&provider.ReadRequest{JSON: list, Shape: provider.ShapeMessage})
	if err != nil {
		t.Fatalf("%v in\n%s", err, list)
	}
	r := newRecord()
	recorded(t, r, in.Messages)
	v := compose(d.Format, r.units(), "", chars4)
	system, out := provider.Assemble(d.Traits(), v.blocks)
	if faults, err := validate.Check(validate.Format(d.Traits().Name), system, out); err != nil || len(faults) > 0 {
		t.Fatalf("%v %v in\n%s", faults, err, out)
	}
	return out
}

// backAgain checks the law of the round trip on a list: what is written equals what was read, after both are made
// canonical.
func backAgain(t rapid.TB, d door, list string) {
	t.Helper()
	out := there(t, d, list)
	want, got := canonical(t, d.Format.Format(), []byte(list)), canonical(t, d.Format.Format(), out)
	if !reflect.DeepEqual(want, got) {
		t.Errorf("%s:\n%s\nbecame\n%s\nin canonical form:\n%s\n%s", d.Traits().Name, list, out, indented(want), indented(got))
	}
}

func indented(v any) string {
	b, _ := json.Marshal(v) //nolint:errchkjson // it was read from JSON
	return string(b)
}

// canon rewrites JSON to its meaning for a provider: null is absent, a list with one text is a text, and neighbors are
// joined.
type canon struct {
	format conversation.Format
	ids    map[string]string
	calls  int32
}

func canonical(t rapid.TB, f conversation.Format, list []byte) []any {
	var items []any
	if err := json.Unmarshal(list, &items); err != nil {
		t.Fatalf("%v in\n%s", err, list)
	}
	c := canon{format: f, ids: map[string]string{}}
	var out []any
	for _, item := range items {
		m := members(c.value("", item))
		switch f {
		case conversation.FormatOpenAIResponses:
			out = append(out, c.items(m)...)
		case conversation.FormatAnthropic:
			out = merged(out, m, "content")
		case conversation.FormatGemini:
			out = merged(out, m, "parts")
		default:
			out = append(out, m)
		}
	}
	return out
}

// outputOnly are members that providers answer with and take back for nothing, and marks of the caller's.
func outputOnly() []string {
	return []string{"logprobs", "cache_control", "prompt_cache_breakpoint", "parsed_arguments", "index"}
}

// free are members whose inside is nobody's but the caller's.
func free(key string) bool {
	return slices.Contains([]string{"input", "args", "response", "arguments", "partMetadata", "part_metadata"}, key)
}

func (c *canon) value(key string, v any) any {
	switch x := v.(type) {
	case []any:
		out := []any{}
		for _, e := range x {
			out = append(out, c.value(key, e))
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for k, e := range x {
			if e == nil || slices.Contains(outputOnly(), k) {
				continue
			}
			if c.format == conversation.FormatGemini {
				k = camel(k)
			}
			if !free(k) {
				e = c.value(k, e)
			}
			out[k] = e
		}
		return c.object(key, out)
	}
	return v
}

func camel(s string) string {
	words := strings.Split(s, "_")
	for i := 1; i < len(words); i++ {
		words[i] = strings.ToUpper(words[i][:1]) + words[i][1:]
	}
	return strings.Join(words, "")
}

// object makes members with the same meaning equal.
func (c *canon) object(key string, m map[string]any) map[string]any {
	switch c.format {
	case conversation.FormatOpenAIChat:
		c.rename(m, "tool_call_id", false)
		if m["function"] != nil || m["custom"] != nil {
			c.rename(m, "id", true)
		}
		delete(m, "annotations")
		m["content"] = oneText(m["content"], "text")
		if m["content"] == nil || m["content"] == "" && m["role"] != "tool" {
			delete(m, "content")
		}
	case conversation.FormatAnthropic:
		if m["type"] == "tool_use" {
			c.rename(m, "id", true)
		}
		if m["type"] == "tool_result" {
			c.rename(m, "tool_use_id", false)
			if m["content"] = oneText(m["content"], "text"); m["content"] == nil || m["content"] == "" {
				delete(m, "content")
			}
			if m["is_error"] == false {
				delete(m, "is_error")
			}
		}
		if key == "citations" {
			delete(m, "file_id")
		}
	case conversation.FormatGemini:
		if call, ok := m["functionCall"].(map[string]any); ok {
			if c.rename(call, "id", true); call["id"] == nil {
				c.calls++
			}
			if call["args"] == nil {
				call["args"] = map[string]any{}
			}
		}
		if response, ok := m["functionResponse"].(map[string]any); ok {
			c.rename(response, "id", false)
		}
		for _, k := range []string{"data", "thoughtSignature"} {
			if s, ok := m[k].(string); ok {
				m[k] = strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(s, "="))
			}
		}
		if m["text"] == "" && m["thoughtSignature"] == nil {
			delete(m, "text")
		}
	}
	return m
}

// items splits a message without an id, which Responses has as one item and the sidecar as several.
func (c *canon) items(m map[string]any) []any {
	if m["type"] == nil {
		m["type"] = "message"
	}
	kind, _ := m["type"].(string)
	c.rename(m, "call_id", strings.HasSuffix(kind, "_call"))
	if m["type"] == "local_shell_call_output" {
		c.rename(m, "id", false)
	}
	if m["output"] = oneText(m["output"], "input_text"); m["output"] == nil {
		delete(m, "output")
	}
	if m["type"] != "message" {
		return []any{m}
	}
	list, ok := m["content"].([]any)
	if m["role"] != "assistant" {
		if !ok {
			m["content"] = []any{map[string]any{"type": "input_text", "text": m["content"]}}
		}
		for _, p := range list {
			if p := members(p); p["type"] == "input_image" && p["detail"] == nil {
				p["detail"] = "auto"
			}
		}
		return []any{m}
	}
	if !ok || m["id"] != nil {
		return []any{m}
	}
	var out []any
	for _, p := range list {
		text := members(p)
		said := map[string]any{"type": "message", "role": "assistant", "content": text["text"]}
		if text["type"] == "refusal" {
			said["content"] = text["refusal"] // its type demands an id
		}
		if m["phase"] != nil {
			said["phase"] = m["phase"]
		}
		out = append(out, said)
	}
	return out
}

// rename gives a call whose id an earlier one has the id that is made for it, and its result too.
func (c *canon) rename(m map[string]any, key string, call bool) {
	id, ok := m[key].(string)
	if !ok {
		return
	}
	if call {
		c.calls++
		_, repeats := c.ids[id]
		if c.ids[id] = id; repeats {
			c.ids[id] = provider.MadeID(c.calls)
		}
	}
	m[key] = c.ids[id]
}

// oneText makes a text of a list of one.
func oneText(v any, kind string) any {
	list, ok := v.([]any)
	if !ok || len(list) != 1 {
		return v
	}
	if p, ok := list[0].(map[string]any); ok && p["type"] == kind && len(p) == 2 {
		return p["text"]
	}
	return v
}

// merged puts blocks of the same role together, in lists.
func merged(out []any, m map[string]any, key string) []any {
	switch m["role"] {
	case nil, "function":
		m["role"] = "user"
	}
	if s, ok := m[key].(string); ok {
		m[key] = []any{map[string]any{"type": "text", "text": s}}
	}
	list, _ := m[key].([]any)
	list = slices.DeleteFunc(list, saysNothing)
	m[key] = list
	if len(out) > 0 {
		if last := members(out[len(out)-1]); last["role"] == m["role"] {
			before, _ := last[key].([]any)
			last[key] = append(before, list...)
			return out
		}
	}
	return append(out, m)
}

func saysNothing(p any) bool {
	x, ok := p.(map[string]any)
	return ok && (len(x) == 0 || x["type"] == "text" && x["text"] == "")
}

// members are those of an object; none of anything else.
func members(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}
