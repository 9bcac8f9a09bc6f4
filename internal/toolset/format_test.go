package toolset

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/tokens/bpe"
)

// TestRender_Files_AreWhatIsRendered holds clients/tools to the definitions.
func TestRender_Files_AreWhatIsRendered(t *testing.T) {
	for _, f := range Formats() {
		name := strings.ReplaceAll(string(f), "-", "_")
		checkFile(t, name+".json", f, Tools())
		checkFile(t, name+"_memory.json", f, WithMemory())
	}
}

func checkFile(t *testing.T, name string, f Format, tools []Tool) {
	t.Helper()
	path := filepath.Join("../../clients/tools", name)
	got := rendered(t, f, tools)
	if os.Getenv("PALIMPSEST_REWRITE") != "" {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if kept, err := os.ReadFile(path); err != nil || !bytes.Equal(kept, got) {
		t.Errorf("%s has drifted from the definitions (%v): run the test with PALIMPSEST_REWRITE=1", path, err)
	}
}

func TestRender_UnknownFormat_Fails(t *testing.T) {
	if out, err := Render("cohere", Tools()); err == nil || out != nil {
		t.Errorf("%q, %v", out, err)
	}
}

// TestRender_Shape_IsTheProviders: the members that each provider demands, and no other.
func TestRender_Shape_IsTheProviders(t *testing.T) {
	for f, want := range map[Format][2][]string{
		OpenAIChat:      {{"function", "type"}, {"description", "name", "parameters"}},
		OpenAIResponses: {{"description", "name", "parameters", "strict", "type"}, nil},
		Anthropic:       {{"description", "input_schema", "name"}, nil},
		Gemini:          {{"description", "name", "parameters"}, nil},
	} {
		for _, tool := range decoded(t, f) {
			if got := members(tool); !slices.Equal(got, want[0]) {
				t.Errorf("%s: a tool has the members %v, want %v", f, got, want[0])
			}
			if kind, ok := tool["type"]; ok && kind != "function" {
				t.Errorf("%s: a tool is a %v", f, kind)
			}
			if inner, ok := tool["function"].(map[string]any); want[1] != nil && (!ok || !slices.Equal(members(inner), want[1])) {
				t.Errorf("%s: a function has the members %v, want %v", f, members(inner), want[1])
			}
		}
	}
}

// TestRender_Formats_SayTheSame: one definition, four forms.
func TestRender_Formats_SayTheSame(t *testing.T) {
	names := conversation.RecallToolNames()
	want := definitions(t, Gemini)
	for _, f := range Formats() {
		got := definitions(t, f)
		if len(got) != len(names) {
			t.Fatalf("%s: %d tools", f, len(got))
		}
		for i, d := range got {
			if d.name != names[i] || d != want[i] {
				t.Errorf("%s: %+v, want %s, %+v", f, d, names[i], want[i])
			}
		}
	}
}

// TestTools_Arguments_AreThoseThatAreAnswered: a call with others is told which it takes.
func TestTools_Arguments_AreThoseThatAreAnswered(t *testing.T) {
	for _, tool := range WithMemory() {
		var names []string
		for _, p := range tool.Parameters.Properties {
			names = append(names, p.Name)
		}
		if want := conversation.RecallArguments(tool.Name); !slices.Equal(names, want) {
			t.Errorf("%s is defined with %v and takes %v", tool.Name, names, want)
		}
	}
}

// TestRender_Weight_IsSmallAndWhatTheDocsSay: every request pays for it.
func TestRender_Weight_IsSmallAndWhatTheDocsSay(t *testing.T) {
	lightest, heaviest := weights(t, Tools())
	if heaviest > 450 {
		t.Errorf("the tools weigh %d tokens, more than 450", heaviest)
	}
	_, withMemory := weights(t, WithMemory())
	if withMemory-heaviest > 110 {
		t.Errorf("search_memory adds %d tokens, more than 110", withMemory-heaviest)
	}
	page, err := os.ReadFile("../../docs/agents.md")
	if said := fmt.Sprintf("weigh %d to %d tokens", lightest, heaviest); err != nil || !strings.Contains(string(page), said) {
		t.Errorf("docs/agents.md does not say that they %s (%v)", said, err)
	}
}

// weights are the lightest and the heaviest form of tools.
func weights(t *testing.T, tools []Tool) (lightest, heaviest int) {
	t.Helper()
	counter, err := bpe.New(bpe.O200k)
	if err != nil {
		t.Fatal(err)
	}
	var all []int
	for _, f := range Formats() {
		var compact bytes.Buffer
		if err := json.Compact(&compact, rendered(t, f, tools)); err != nil {
			t.Fatal(err)
		}
		n, _ := counter.Count(compact.String())
		all = append(all, n)
	}
	return slices.Min(all), slices.Max(all)
}

func rendered(t *testing.T, f Format, tools []Tool) []byte {
	t.Helper()
	out, err := Render(f, tools)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func decoded(t *testing.T, f Format) (tools []map[string]any) {
	t.Helper()
	if err := json.Unmarshal(rendered(t, f, WithMemory()), &tools); err != nil {
		t.Fatal(err)
	}
	return tools
}

// definition is a tool apart from its form; the schema is JSON.
type definition struct{ name, description, schema string }

func definitions(t *testing.T, f Format) (all []definition) {
	t.Helper()
	for _, tool := range decoded(t, f) {
		if inner, ok := tool["function"].(map[string]any); ok {
			tool = inner
		}
		schema := tool["parameters"]
		if schema == nil {
			schema = tool["input_schema"]
		}
		text, err := json.Marshal(schema)
		if err != nil {
			t.Fatal(err)
		}
		name, _ := tool["name"].(string)
		description, _ := tool["description"].(string)
		all = append(all, definition{name, description, string(text)})
	}
	return all
}

func members(object map[string]any) []string {
	var names []string
	for name := range object {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
