package span_test

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/internal/recordings"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/summarize/extractive/span"
)

// spoken is one message of a recording, as far as these tests read it.
type spoken struct {
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
	Name      string          `json:"name"`
	CallID    string          `json:"tool_call_id"`
	ToolCalls []struct {
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"tool_calls"`
}

func plainText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

// recorder makes messages of recordings, and pairs calls with results as the engine does: by position.
type recorder struct {
	messages []conversation.Message
	ordinal  int32
	open     map[string][]int32
}

func (r *recorder) add(s spoken) {
	m := conversation.Message{Index: int32(len(r.messages))}
	text := plainText(s.Content)
	switch s.Role {
	case "system":
		m.Role = conversation.RoleSystem
	case "user":
		m.Role = conversation.RoleUser
	case "assistant":
		m.Role = conversation.RoleAssistant
	case "tool":
		m.Role = conversation.RoleTool
		result := &conversation.ToolResult{Name: s.Name, Text: conversation.Content{Inline: text}}
		if s.IsError {
			result.State = conversation.ResultError
		}
		if open := r.open[s.CallID]; len(open) > 0 {
			result.Ordinal, r.open[s.CallID] = open[0], open[1:]
		}
		m.Parts = []conversation.Part{{Kind: conversation.PartToolResult, Result: result}}
	}
	if m.Role != conversation.RoleTool && text != "" {
		m.Parts = append(m.Parts, conversation.Part{Kind: conversation.PartText, Text: conversation.Content{Inline: text}})
	}
	for _, c := range s.ToolCalls {
		r.ordinal++
		r.open[c.ID] = append(r.open[c.ID], r.ordinal)
		m.Parts = append(m.Parts, conversation.Part{Kind: conversation.PartToolCall, Call: &conversation.ToolCall{
			CallID: c.ID, Name: c.Name, Ordinal: r.ordinal, Arguments: conversation.Content{Inline: plainText(c.Arguments)},
		}})
	}
	r.messages = append(r.messages, m)
}

// conversationsOf returns the conversations of a set, as messages.
func conversationsOf(t testing.TB, set string) (all [][]conversation.Message) {
	t.Helper()
	file, err := os.Open(recordings.Path(t, set, "conversations.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var c struct{ Messages []spoken }
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		r := recorder{open: map[string][]int32{}}
		for _, m := range c.Messages {
			r.add(m)
		}
		all = append(all, r.messages)
	}
	return all
}

func unitsOf(messages []conversation.Message) []conversation.Unit {
	items := make([]conversation.Item, len(messages))
	for i := range messages {
		items[i] = conversation.Item{Message: &messages[i], Parts: messages[i].Parts}
	}
	return conversation.Units(items, nil)
}

// written returns all that was said, called and returned in messages, but for the system's.
func written(messages []conversation.Message, roles ...conversation.Role) string {
	var b strings.Builder
	for i := range messages {
		for _, role := range roles {
			if messages[i].Role != role {
				continue
			}
			for _, c := range conversation.Contents(messages[i].Parts) {
				b.WriteString(strings.ReplaceAll(c.Inline, `\n`, "\n") + "\n")
			}
		}
	}
	return b.String()
}

// stretch is the beginning of a recording, and what of it the assistant names again afterwards.
type stretch struct {
	set, text string
	units     []conversation.Unit
	again     []string
}

// least is how many characters a stretch has, in multiples of the target, for which there is something to choose.
const least = 2

func stretches(t testing.TB, set string) (all []stretch) {
	t.Helper()
	for _, messages := range conversationsOf(t, set) {
		for _, percent := range []int{40, 70} {
			cut := len(messages) * percent / 100
			s := stretch{set: set, units: unitsOf(messages[:cut])}
			s.text = written(messages[:cut], conversation.RoleUser, conversation.RoleAssistant, conversation.RoleTool)
			later := map[string]bool{}
			for _, name := range recordings.Referable.FindAllString(written(messages[cut:], conversation.RoleAssistant), -1) {
				later[name] = true
			}
			for _, name := range recordings.Referable.FindAllString(s.text, -1) {
				if len(name) > 3 && later[name] {
					s.again = append(s.again, name)
					delete(later, name)
				}
			}
			all = append(all, s)
		}
	}
	return all
}

// TestExtract_Recall_BeatsFirstCharacters measures how much of what an assistant names again later is in the extract of a stretch of
// conversation, and holds it above what the same length of its beginning has.
func TestExtract_Recall_BeatsFirstCharacters(t *testing.T) {
	type sum struct{ spans, all, in, first, last int }
	sets := map[string][]stretch{}
	for _, set := range []string{"pi_sessions", "swe_agent", "mini_swe_agent", "tau2_gpt41", "tau2_claude45", "tau2_gptoss", "tau_airline_gpt4o"} {
		sets[set] = stretches(t, set)
	}
	for n, bar := range spanBars {
		sums := map[string]*sum{"all": {}}
		for set, all := range sets {
			sums[set] = &sum{}
			for _, s := range all {
				if utf8.RuneCountInString(s.text) < least*n {
					continue
				}
				extract, begin, end := span.Extract(nil, s.units, n), recordings.Beginning(s.text, n), s.text[max(0, len(s.text)-n):]
				if size := utf8.RuneCountInString(extract); size > n {
					t.Errorf("%d characters, at most %d", size, n)
				}
				for _, x := range []*sum{sums[set], sums["all"]} {
					x.spans++
					for _, name := range s.again {
						x.all++
						x.in += btoi(strings.Contains(extract, name))
						x.first += btoi(strings.Contains(begin, name))
						x.last += btoi(strings.Contains(end, name))
					}
				}
			}
		}
		for set, x := range sums {
			if x.all > 0 {
				t.Logf("%5d characters, %-18s %4d spans, %6d named again: extract %5.1f %%, first characters %5.1f %%, last %5.1f %%", n, set,
					x.spans, x.all, percent(x.in, x.all), percent(x.first, x.all), percent(x.last, x.all))
			}
		}
		if x := sums["all"]; percent(x.in, x.all) < bar.least || x.in*100 < x.first*bar.gain {
			t.Errorf("%d characters: %d of %d in the extract, %d in the first characters", n, x.in, x.all, x.first)
		}
	}
}

// spanBars are what extracts recall at least, in percent of all, and of what beginnings of the same length recall.
var spanBars = map[int]struct {
	least float64
	gain  int
}{6000: {least: 70, gain: 300}, 16_000: {least: 90, gain: 200}}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func percent(n, of int) float64 { return 100 * float64(n) / float64(of) }
