package recording

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/prototext"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

func loaded(t *testing.T, content string) []Recording {
	t.Helper()
	out, err := Load([]string{fileWith(t, content)}, Options{Sample: 1, Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func fileWith(t *testing.T, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "talk.jsonl")
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// shape writes roles and kinds of parts, so that tests can read them.
func shape(r Recording) string {
	var b strings.Builder
	for _, m := range r.Messages {
		b.WriteString(strings.ToLower(strings.TrimPrefix(m.GetRole().String(), "ROLE_")) + ":")
		for _, p := range m.GetParts() {
			b.WriteString(" " + partShape(p))
		}
		b.WriteString("; ")
	}
	return strings.TrimSuffix(b.String(), "; ")
}

func partShape(p *pb.Part) string {
	switch v := p.GetContent().(type) {
	case *pb.Part_Text:
		return "text=" + v.Text
	case *pb.Part_Media:
		return "media="
	case *pb.Part_ToolCall:
		return "call=" + v.ToolCall.GetCallId() + v.ToolCall.GetArgumentsJson()
	case *pb.Part_ToolResult:
		out := "result=" + v.ToolResult.GetCallId() + v.ToolResult.GetText()
		for _, piece := range v.ToolResult.GetParts().GetParts() {
			out += piece.GetText()
		}
		return out
	case *pb.Part_Reasoning:
		return "reasoning=" + v.Reasoning.GetText()
	default:
		return "opaque=" + p.GetOpaque().GetJson()
	}
}

func TestLoad_Forms_AreRead(t *testing.T) {
	for name, c := range map[string]struct{ content, want string }{
		"documented": {
			`{"id":"x","messages":[{"role":"assistant","content":"","thinking":"hm","tool_calls":[{"id":"a","name":"f","arguments":"{}"}]},
			{"role":"tool","tool_call_id":"a","content":"","is_error":true}]}`,
			"assistant: reasoning=hm call=a{}; tool: result=a",
		},
		"empty assistant": {`{"messages":[{"role":"assistant","content":""}]}`, "assistant: text="},
		"OpenAI Chat": {
			`[{"role":"developer","content":"s"},{"role":"user","content":[{"type":"text","text":"u"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]},
			{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"q\": 1}"}}]},
			{"role":"tool","tool_call_id":"a","content":[{"type":"text","text":"r"}]}]`,
			`system: text=s; user: text=u media=; assistant: call=a{"q": 1}; tool: result=ar`,
		},
		"Anthropic": {
			`{"system":[{"type":"text","text":"s"}],"messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"x"},
			{"type":"text","text":"t"},{"type":"tool_use","id":"a","name":"f","input":{"q": 1}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"r"},{"type":"image","source":{"type":"url","url":"https://x"}}]},
			{"type":"text","text":"u"}]}]}`,
			`system: text=s; assistant: reasoning=hm text=t call=a{"q":1}; tool: result=ar; user: text=u`,
		},
	} {
		got := loaded(t, c.content)
		if len(got) != 1 || shape(got[0]) != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, shape(got[0]), c.want)
		}
	}
}

func TestLoad_Media_KeepsBytesAndAddress(t *testing.T) {
	r := loaded(t, `[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA","detail":"low"}},
		{"type":"image","source":{"type":"url","url":"https://x.example/a"}}]}]`)[0]
	for i, want := range []*pb.Media{
		{MimeType: "image/png", Detail: "low", Source: &pb.Media_Data{Data: []byte{0, 0, 0}}},
		{MimeType: "image/*", Source: &pb.Media_Uri{Uri: "https://x.example/a"}},
	} {
		if got := r.Messages[0].GetParts()[i].GetMedia(); got.String() != want.String() {
			t.Errorf("got %s, want %s", prototext.Format(got), prototext.Format(want))
		}
	}
}

func TestLoad_Tools_BecomeFixedInput(t *testing.T) {
	r := loaded(t, "{\"tools\":[ {\"name\": \"f\"} ],\"messages\":[]}\n{\"tools\":[],\"messages\":[]}")
	if r[0].Tools != `[{"name":"f"}]` || r[1].Tools != "" || r[1].Name != "talk-2" {
		t.Errorf("%+v", r)
	}
}

func TestLoad_BadInput_SaysWhere(t *testing.T) {
	for content, want := range map[string]string{
		``:                                 "no conversation",
		`{`:                                "conversation 1",
		`5`:                                "conversation 1",
		`[{"role":"poet","content":"x"}]`:  "message 0",
		`[{"role":"user","content":5}]`:    "neither a text nor a list",
		`[{"role":"user","content":[{}]}]`: "block 0",
		`[{"role":"user","content":[7]}]`:  "block 0",
		`[{"role":"user","content":[{"type":"image","source":{"data":"%"}}]}]`: "block 0",
	} {
		_, err := Load([]string{fileWith(t, content)}, Options{Sample: 1})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", content, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"tools":[{"name":"f"}],"messages":[{"role":"assistant","content":"","tool_calls":[{"id":"a","name":"f","arguments":"{}"}]},{"role":"tool","tool_call_id":"a","content":"r"}]}`))
	f.Add([]byte(`[{"role":"user","content":[{"type":"text","text":"u"}]}]`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !json.Valid(raw) {
			t.Skip("a decoder gives valid values alone")
		}
		r, err := parse(raw, "x", Options{Sample: 1})
		for _, m := range r.Messages {
			if err == nil && len(m.GetParts()) == 0 {
				t.Error("a message without a part cannot be appended")
			}
		}
	})
}
