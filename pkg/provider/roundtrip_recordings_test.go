package provider_test

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/internal/recordings"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

var allRecordings = flag.Bool("all-recordings", false, "take the round trip with all recorded runs")

// recordedMessage is a message of a recorded run.
type recordedMessage struct {
	Role, Content string
	ToolCallID    string `json:"tool_call_id"`
	Failed        bool   `json:"is_error"`
	ToolCalls     []struct {
		ID, Name  string
		Arguments json.RawMessage
	} `json:"tool_calls"`
	results []recordedMessage // of its calls, in their order
}

// recordedRuns are runs in which every call is answered, as formats need it.
func recordedRuns(t *testing.T) (runs [][]recordedMessage) {
	files, err := filepath.Glob(recordings.Path(t, "*", "conversations.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatal("no recordings", err)
	}
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		lines := bufio.NewScanner(file)
		lines.Buffer(nil, 64<<20)
		for n := 0; lines.Scan() && (n < 2 || *allRecordings); n++ {
			var run struct{ Messages []recordedMessage }
			if err := json.Unmarshal(lines.Bytes(), &run); err != nil {
				t.Fatal(err)
			}
			runs = append(runs, answeredOnly(run.Messages))
		}
	}
	return runs
}

// answeredOnly leaves out calls without results, results without calls, and what says nothing.
func answeredOnly(messages []recordedMessage) (out []recordedMessage) {
	for i := range messages {
		m := messages[i]
		results := messages[i+1:]
		for n := range results {
			if results[n].Role != "tool" {
				results = results[:n]
				break
			}
		}
		calls := m.ToolCalls
		m.ToolCalls = nil
		for _, call := range calls {
			at := slices.IndexFunc(results, func(r recordedMessage) bool { return r.ToolCallID == call.ID })
			if at >= 0 && provider.IsObject(string(call.Arguments)) && !slices.ContainsFunc(m.results, func(r recordedMessage) bool { return r.ToolCallID == call.ID }) {
				m.ToolCalls, m.results = append(m.ToolCalls, call), append(m.results, results[at])
			}
		}
		if m.Role != "tool" && (strings.TrimSpace(m.Content) != "" || len(m.ToolCalls) > 0) {
			out = append(out, m)
		}
	}
	return append(out, recordedMessage{Role: "user", Content: "Go on."})
}

func quoted(s string) string { return string(provider.AppendString(nil, s)) }

// elementsOf writes a message as a format has it.
func elementsOf(f conversation.Format, m *recordedMessage) (out []string) {
	switch f {
	case conversation.FormatOpenAIChat:
		return chatElements(m)
	case conversation.FormatOpenAIResponses:
		return responsesElements(m)
	default:
		return mergedElements(f, m)
	}
}

func chatElements(m *recordedMessage) []string {
	var calls []string
	for _, c := range m.ToolCalls {
		calls = append(calls, fmt.Sprintf(`{"id":%s,"type":"function","function":{"name":%s,"arguments":%s}}`, quoted(c.ID), quoted(c.Name), quoted(string(c.Arguments))))
	}
	out := []string{fmt.Sprintf(`{"role":%q,"content":%s}`, m.Role, quoted(m.Content))}
	if calls != nil {
		out[0] = fmt.Sprintf(`{"role":%q,"content":%s,"tool_calls":[%s]}`, m.Role, quoted(m.Content), strings.Join(calls, ","))
	}
	for i := range m.results {
		out = append(out, fmt.Sprintf(`{"role":"tool","tool_call_id":%s,"content":%s}`, quoted(m.ToolCalls[i].ID), quoted(m.results[i].Content)))
	}
	return out
}

func responsesElements(m *recordedMessage) (out []string) {
	if m.Content != "" {
		out = append(out, fmt.Sprintf(`{"role":%q,"content":%s}`, m.Role, quoted(m.Content)))
	}
	for _, c := range m.ToolCalls {
		out = append(out, fmt.Sprintf(`{"type":"function_call","call_id":%s,"name":%s,"arguments":%s}`, quoted(c.ID), quoted(c.Name), quoted(string(c.Arguments))))
	}
	for i := range m.results {
		out = append(out, fmt.Sprintf(`{"type":"function_call_output","call_id":%s,"output":%s}`, quoted(m.ToolCalls[i].ID), quoted(m.results[i].Content)))
	}
	return out
}

func mergedElements(f conversation.Format, m *recordedMessage) []string {
	var blocks, results []string
	claude := f == conversation.FormatAnthropic
	if strings.TrimSpace(m.Content) != "" {
		blocks = append(blocks, map[bool]string{true: `{"type":"text","text":`, false: `{"text":`}[claude]+quoted(m.Content)+"}")
	}
	for i, c := range m.ToolCalls {
		r := &m.results[i]
		if claude {
			blocks = append(blocks, fmt.Sprintf(`{"type":"tool_use","id":%s,"name":%s,"input":%s}`, quoted(c.ID), quoted(c.Name), c.Arguments))
			content := ""
			if strings.TrimSpace(r.Content) != "" {
				content = `,"content":` + quoted(r.Content)
			}
			results = append(results, fmt.Sprintf(`{"type":"tool_result","tool_use_id":%s%s,"is_error":%v}`, quoted(c.ID), content, r.Failed && content != ""))
			continue
		}
		blocks = append(blocks, fmt.Sprintf(`{"functionCall":{"name":%s,"args":%s}}`, quoted(c.Name), c.Arguments))
		results = append(results, fmt.Sprintf(`{"functionResponse":{"name":%s,"response":{%q:%s}}}`, quoted(c.Name), map[bool]string{true: "error", false: "result"}[r.Failed], quoted(r.Content)))
	}
	element := `{"role":%q,"content":[%s]}`
	role := m.Role
	if !claude {
		element = `{"role":%q,"parts":[%s]}`
		role = map[string]string{"assistant": "model"}[role]
	}
	out := []string{fmt.Sprintf(element, role, strings.Join(blocks, ","))}
	if !claude && role == "" {
		out[0] = fmt.Sprintf(element, "user", strings.Join(blocks, ","))
	}
	if results != nil {
		out = append(out, fmt.Sprintf(element, "user", strings.Join(results, ",")))
	}
	return out
}

// said is what a part says, without what an append adds and which id its call has.
func said(messages []provider.InputMessage) (out []string) {
	for i := range messages {
		for _, p := range messages[i].Parts {
			words := p.Text.Inline
			switch {
			case p.Call != nil:
				words = p.Call.CallID + p.Call.Name + p.Call.Arguments.Inline
			case p.Result != nil:
				words = p.Result.Words()
			}
			out = append(out, fmt.Sprint(messages[i].Role, p.Kind, words))
		}
	}
	return out
}

// TestReader_Read_Recordings_GoBack: recorded runs in each format go back as they came, and a whole list says what its elements say one by one.
func TestReader_Read_Recordings_GoBack(t *testing.T) {
	t.Parallel()
	for n, run := range recordedRuns(t) {
		for _, d := range doors() {
			f := d.Format.Format()
			var list []string
			for i := range run {
				if run[i].Role == "system" && (f == conversation.FormatAnthropic || f == conversation.FormatGemini) {
					continue // beside the list
				}
				list = append(list, elementsOf(f, &run[i])...)
			}
			whole := "[" + strings.Join(list, ",") + "]"
			in, err := d.reader.Read(&provider.ReadRequest{JSON: whole})
			if err != nil {
				t.Fatal(err)
			}
			if "["+strings.Join(in.Elements, ",")+"]" != whole || in.Shape != provider.ShapeHistory {
				t.Error("elements are not as they were sent")
			}
			all := said(in.Messages)
			var single []string
			for _, element := range list {
				one, err := d.reader.Read(&provider.ReadRequest{JSON: element})
				if err != nil {
					t.Fatal(err)
				}
				single = append(single, said(one.Messages)...)
			}
			if single = single[len(single)-len(all):]; !reflect.DeepEqual(all, single) { // but for leading system messages
				t.Errorf("%s: run %d says something else one by one", d.Traits().Name, n)
			}
			if list[0] = strings.Replace(list[0], `"role":"model"`, `"role":"user"`, 1); f == conversation.FormatAnthropic {
				list[0] = strings.Replace(list[0], `"role":"assistant"`, `"role":"user"`, 1)
			}
			backAgain(t, d, "["+strings.Join(list, ",")+"]")
		}
	}
}
