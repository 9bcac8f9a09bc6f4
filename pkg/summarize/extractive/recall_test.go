package extractive_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/internal/recordings"
	"github.com/palimpsest-context/palimpsest/pkg/summarize/extractive"
)

// turn is one message of a recording, as far as these tests read it.
type turn struct {
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	Raw       string          `json:"raw"`
	ToolCalls []struct {
		Arguments json.RawMessage `json:"arguments"`
	} `json:"tool_calls"`
}

func (m *turn) text() string {
	var text string
	if m.Raw != "" {
		return m.Raw
	}
	if json.Unmarshal(m.Content, &text) != nil {
		return string(m.Content)
	}
	return text
}

// said is everything an assistant wrote in a message, its calls' arguments included.
func (m *turn) said() string {
	all := m.text()
	for _, call := range m.ToolCalls {
		var arguments string
		if json.Unmarshal(call.Arguments, &arguments) != nil {
			arguments = string(call.Arguments)
		}
		all += "\n" + strings.ReplaceAll(arguments, `\n`, "\n")
	}
	return all
}

// longResult is how many characters a tool result has that an extract is for.
const longResult = 5000

// bigResult is a long tool result, and what the assistant said after it.
type bigResult struct {
	set, text, after string
}

func bigResults(t testing.TB) (all []bigResult) {
	t.Helper()
	paths, err := filepath.Glob(recordings.Path(t, "*", "conversations.jsonl"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no recordings (%v)", err)
	}
	for _, path := range paths {
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(file)
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			var c struct{ Messages []turn }
			if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
				t.Fatal(err)
			}
			all = append(all, bigIn(filepath.Base(filepath.Dir(path)), c.Messages)...)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func bigIn(set string, messages []turn) (all []bigResult) {
	for i := range messages {
		text := messages[i].text()
		if messages[i].Role != "tool" || utf8.RuneCountInString(text) <= longResult {
			continue
		}
		var after strings.Builder
		for k := i + 1; k < len(messages); k++ {
			if messages[k].Role == "assistant" {
				after.WriteString(messages[k].said() + "\n")
			}
		}
		all = append(all, bigResult{set, text, after.String()})
	}
	return all
}

// referred returns the things in a result that the assistant referred to later.
func (b *bigResult) referred() (found []string) {
	later := map[string]bool{}
	for _, s := range recordings.Referable.FindAllString(b.after, -1) {
		later[s] = true
	}
	for _, s := range recordings.Referable.FindAllString(b.text, -1) {
		if later[s] && len(s) > 3 && !slices.Contains(found, s) {
			found = append(found, s)
		}
	}
	return found
}

// TestExtract_Recall_BeatsFirstCharacters measures how much of what an assistant later refers to is in the extract of the
// result that it comes from, and holds it above what the same length of the result's beginning has.
func TestExtract_Recall_BeatsFirstCharacters(t *testing.T) {
	results := bigResults(t)
	referred := make([][]string, len(results))
	for i := range results {
		referred[i] = results[i].referred()
	}
	for _, n := range lengths {
		in, first, all := map[string]int{}, map[string]int{}, map[string]int{}
		for i, b := range results {
			extract, begin := extractive.Extract(b.text, n), recordings.Beginning(b.text, n)
			for _, s := range referred[i] {
				for _, set := range []string{b.set, "all"} {
					all[set]++
					if strings.Contains(extract, s) {
						in[set]++
					}
					if strings.Contains(begin, s) {
						first[set]++
					}
				}
			}
		}
		for set := range all {
			t.Logf("%5d characters, %-18s %4d referred to: extract %5.1f %%, first characters %5.1f %%", n, set, all[set],
				100*float64(in[set])/float64(all[set]), 100*float64(first[set])/float64(all[set]))
		}
		if in["all"]*100 < first["all"]*minGain[n] {
			t.Errorf("%d characters: %d of %d in the extract, %d in the first characters", n, in["all"], all["all"], first["all"])
		}
	}
}

// minGain is how much of what the beginnings recall extracts must recall, in percent. Most results are hardly longer than
// 8,000 characters, so that there a beginning is nearly all of the text.
var minGain = map[int]int{500: 140, 2000: 150, 8000: 105}
