package tokens_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/tokens"
	"github.com/palimpsest-context/palimpsest/pkg/tokens/bpe"
)

// recorded is a message of a recorded conversation with the provider's usage.
type recorded struct {
	Role      string `json:"role"`
	Content   string `json:"content"`
	Thinking  string `json:"thinking"`
	ToolCalls []struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"tool_calls"`
	Usage struct {
		Context int `json:"context"`
	} `json:"usage"`
}

// count applies the formula to one message.
func (m recorded) count(c tokens.Counter) int {
	total, _ := c.Count(m.Content)
	for _, call := range m.ToolCalls {
		name, _ := c.Count(call.Name)
		arguments, _ := c.Count(call.Arguments)
		total += tokens.PerCall + name + arguments
	}
	return total + tokens.PerMessage
}

// dataFolder returns a folder of recordings, or skips the test.
func dataFolder(t testing.TB, name string) string {
	t.Helper()
	root := os.Getenv("PALIMPSEST_DATA")
	if root == "" {
		t.Skip("PALIMPSEST_DATA is not set: no recordings to measure against")
	}
	return filepath.Join(root, name)
}

// readConversations reads the recordings of one data set.
func readConversations(t testing.TB, set string) [][]recorded {
	t.Helper()
	file, err := os.Open(filepath.Join(dataFolder(t, set), "conversations.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var all [][]recorded
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var conversation struct{ Messages []recorded }
		if err := json.Unmarshal(lines.Bytes(), &conversation); err != nil {
			t.Fatal(err)
		}
		all = append(all, conversation.Messages)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// report is one nonzero usage and our count of everything sent for it.
type report struct{ counted, reported int }

// reports replays a conversation and keeps what a provider reported.
func reports(messages []recorded, c tokens.Counter) []report {
	var found []report
	counted := 0
	for _, m := range messages {
		if m.Usage.Context > 0 {
			found = append(found, report{counted, m.Usage.Context})
		}
		counted += m.count(c)
	}
	return found
}

// figures sums up how far predictions were from reported differences.
type figures struct {
	actual, raw, predicted int
	errors                 []int
}

// add predicts each step before its report is seen, as the engine does.
func (f *figures) add(steps []report) {
	var c tokens.Calibration
	for i, step := range steps {
		if i > 0 {
			ours, theirs := step.counted-steps[i-1].counted, step.reported-steps[i-1].reported
			f.actual += theirs
			f.raw += ours
			f.predicted += tokens.Scale(ours, c.Factor())
			f.errors = append(f.errors, max(ours-theirs, theirs-ours))
		}
		c = c.Observe(step.counted, step.reported)
	}
}

func (f *figures) median() int {
	slices.Sort(f.errors)
	return f.errors[len(f.errors)/2]
}

// percent returns how far n lies from the actual total.
func (f *figures) percent(n int) float64 {
	return 100 * float64(n-f.actual) / float64(f.actual)
}

func measure(t testing.TB, set string) *figures {
	t.Helper()
	counter, err := bpe.New("o200k")
	if err != nil {
		t.Fatal(err)
	}
	f := &figures{}
	for _, messages := range readConversations(t, set) {
		f.add(reports(messages, counter))
	}
	t.Logf("%s: %d steps, %d tokens; uncalibrated %+.2f %%, calibrated %+.2f %%, median error per step %d",
		set, len(f.errors), f.actual, f.percent(f.raw), f.percent(f.predicted), f.median())
	return f
}

func TestCounter_Count_MatchesUsageOfKnownVocabulary(t *testing.T) {
	f := measure(t, "tau2_gpt41")
	if f.median() > 1 {
		t.Errorf("median error per step = %d tokens, want at most 1", f.median())
	}
	if off := f.percent(f.raw); off < -2.5 || off > 2.5 {
		t.Errorf("total is off by %.2f %%, want within 2.5", off)
	}
}

func TestCalibration_Factor_PredictsUsageOfUnknownVocabulary(t *testing.T) {
	for _, set := range []string{"pi_sessions", "mini_swe_agent"} {
		t.Run(set, func(t *testing.T) {
			f := measure(t, set)
			if off := f.percent(f.predicted); off < -7 || off > 7 {
				t.Errorf("predicted total is off by %.2f %%, want within 7", off)
			}
		})
	}
}
