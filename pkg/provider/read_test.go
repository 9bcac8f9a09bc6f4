package provider_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/provider/anthropic"
	"github.com/palimpsest-context/palimpsest/pkg/provider/gemini"
	"github.com/palimpsest-context/palimpsest/pkg/provider/openaichat"
	"github.com/palimpsest-context/palimpsest/pkg/provider/openairesponses"
)

func readers() []provider.Reader {
	return []provider.Reader{openaichat.NewReader(), openairesponses.NewReader(), anthropic.NewReader(), gemini.NewReader()}
}

// longList is about 1 MB of a coding agent's whole list, in a format.
func longList(f conversation.Format) string {
	output := strings.Repeat(`line of \"output\" with text\n`, 110)
	var items []string
	for i := range 330 {
		switch f {
		case conversation.FormatOpenAIChat:
			items = append(items, `{"role":"user","content":"Go on."}`,
				fmt.Sprintf(`{"role":"assistant","content":"Looking.","tool_calls":[{"id":"c%d","type":"function","function":{"name":"read","arguments":"{\"path\":\"/a/b/c.go\"}"}}]}`, i),
				fmt.Sprintf(`{"role":"tool","tool_call_id":"c%d","content":"%s"}`, i, output))
		case conversation.FormatOpenAIResponses:
			items = append(items, `{"role":"user","content":"Go on."}`, `{"type":"message","role":"assistant","content":"Looking."}`,
				fmt.Sprintf(`{"type":"function_call","call_id":"c%d","name":"read","arguments":"{\"path\":\"/a/b/c.go\"}"}`, i),
				fmt.Sprintf(`{"type":"function_call_output","call_id":"c%d","output":"%s"}`, i, output))
		case conversation.FormatAnthropic:
			items = append(items, `{"role":"user","content":"Go on."}`,
				fmt.Sprintf(`{"role":"assistant","content":[{"type":"text","text":"Looking."},{"type":"tool_use","id":"c%d","name":"read","input":{"path":"/a/b/c.go"}}]}`, i),
				fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%d","content":"%s"}]}`, i, output))
		default:
			items = append(items, `{"role":"user","parts":[{"text":"Go on."}]}`,
				`{"role":"model","parts":[{"text":"Looking."},{"functionCall":{"name":"read","args":{"path":"/a/b/c.go"}}}]}`,
				fmt.Sprintf(`{"role":"user","parts":[{"functionResponse":{"name":"read","response":{"result":"%s"}}}]}`, output))
		}
	}
	return "[" + strings.Join(items, ",\n ") + "]"
}

func BenchmarkReader_Read_1MB(b *testing.B) {
	for _, rd := range readers() {
		list := longList(rd.Format())
		b.Run(fmt.Sprint(rd.Format()), func(b *testing.B) {
			b.SetBytes(int64(len(list)))
			b.ReportAllocs()
			for b.Loop() {
				if in, err := rd.Read(&provider.ReadRequest{JSON: list}); err != nil || len(in.Messages) != 990 {
					b.Fatal(err, len(in.Messages))
				}
			}
		})
	}
}

func TestReader_Read_Strings_AreWhatJSONSays(t *testing.T) {
	t.Parallel()
	for _, s := range []string{`"a"`, `"a\\"`, `"\\\\\\"`, `"\u0041\u00e9\ud83d\ude00\n\"\\\/\b\f\r\t"`, `"\ud83d"`, `"\ud83d\u0041"`, `"\\\\\""`, `"é\u0000"`, `"\ude00\ud83d\ude00"`} {
		var want string
		if err := json.Unmarshal([]byte(s), &want); err != nil {
			t.Fatal(err)
		}
		in, err := openaichat.NewReader().Read(&provider.ReadRequest{JSON: `{"content":` + s + `,"role":"user"}`})
		if err != nil {
			t.Fatal(err)
		}
		if got := in.Messages[0].Parts[0].Text.Inline; got != want || !utf8.ValidString(got) {
			t.Errorf("%s is %q, want %q", s, got, want)
		}
	}
}
