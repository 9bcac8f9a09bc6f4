package compaction_test

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/tokens/bpe"
)

// recordedMessage is a message of a recorded conversation.
type recordedMessage struct {
	Role      string `json:"role"`
	Content   string `json:"content"`
	Thinking  string `json:"thinking"`
	ToolCalls []struct {
		ID        string `json:"id"`
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"tool_calls"`
	ToolCallID string `json:"tool_call_id"`
	Name       string `json:"name"`
}

// recordedSet reads the conversations of one data set, or skips the test.
func recordedSet(t testing.TB, set string) [][]recordedMessage {
	t.Helper()
	root := os.Getenv("PALIMPSEST_DATA")
	if root == "" {
		t.Skip("PALIMPSEST_DATA is not set: no recordings to measure against")
	}
	file, err := os.Open(filepath.Join(root, set, "conversations.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var all [][]recordedMessage
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var c struct{ Messages []recordedMessage }
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		all = append(all, c.Messages)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// recordedUnits are recorded messages as units, with the number of the open calls by their ids: ids repeat in recordings.
func recordedUnits(messages []recordedMessage) []conversation.Unit {
	ordinals := map[string]int32{}
	next := int32(1)
	items := make([]conversation.Item, 0, len(messages))
	roles := map[string]conversation.Role{
		"system": conversation.RoleSystem, "user": conversation.RoleUser, "assistant": conversation.RoleAssistant, "tool": conversation.RoleTool,
	}
	for i, r := range messages {
		m := &conversation.Message{Index: int32(i), Role: roles[r.Role]}
		switch m.Role {
		case conversation.RoleTool:
			m.Parts = []conversation.Part{{Kind: conversation.PartToolResult, Result: &conversation.ToolResult{
				CallID: r.ToolCallID, Name: r.Name, Ordinal: ordinals[r.ToolCallID], Text: conversation.Content{Inline: r.Content},
			}}}
		default:
			if r.Thinking != "" {
				m.Parts = append(m.Parts, conversation.Part{Kind: conversation.PartReasoning, Reasoning: &conversation.Reasoning{Text: conversation.Content{Inline: r.Thinking}}})
			}
			m.Parts = append(m.Parts, conversation.Part{Kind: conversation.PartText, Text: conversation.Content{Inline: r.Content}})
			for _, c := range r.ToolCalls {
				ordinals[c.ID] = next
				m.Parts = append(m.Parts, conversation.Part{Kind: conversation.PartToolCall, Call: &conversation.ToolCall{
					CallID: c.ID, Name: c.Name, Ordinal: next, Arguments: conversation.Content{Inline: c.Arguments},
				}})
				next++
			}
		}
		items = append(items, conversation.Item{Message: m, Parts: m.Parts})
	}
	return conversation.Units(items, nil)
}

// span is a stretch of recordings that a compaction would take up.
type span struct {
	name   string
	units  []conversation.Unit
	tokens int64
}

// recordedSpans are stretches of about so many tokens, one behind the other, of every conversation of a set that is that long;
// or of all conversations of the set as one, where they are short.
func recordedSpans(t testing.TB, set string, short bool, size int64) []span {
	counter := o200k()
	recordings := recordedSet(t, set)
	if short {
		recordings = [][]recordedMessage{slices.Concat(recordings...)}
	}
	var out []span
	for n, messages := range recordings {
		units := recordedUnits(messages)
		s := span{}
		for i, start := 0, 0; i < len(units); i++ {
			for _, text := range unitTexts(&units[i]) {
				w, _ := counter.Count(text)
				s.tokens += int64(w)
			}
			if s.tokens >= size {
				s.name, s.units = fmt.Sprintf("%s %d, units %d to %d", set, n+1, start, i), units[start:i+1]
				out = append(out, s)
				s, start = span{}, i+1
			}
		}
	}
	return out
}

// o200k is shared, because its vocabulary takes long to load.
var o200k = sync.OnceValue(func() *bpe.Counter {
	counter, err := bpe.New(bpe.O200k)
	if err != nil {
		panic(err) // it is embedded
	}
	return counter
})

// unitTexts returns all the texts of a unit that are not the system's.
func unitTexts(u *conversation.Unit) []string {
	var out []string
	for i := range u.Items {
		if u.Items[i].Message.Role == conversation.RoleSystem {
			continue
		}
		for _, c := range conversation.Contents(u.Items[i].Parts) {
			out = append(out, c.Inline)
		}
	}
	return out
}

var naivePath = regexp.MustCompile(`[\w.~-]*(?:/[\w.@~-]+)+\.\w+|(?:/[\w.@~-]+){2,}`)

var naiveID = regexp.MustCompile(`\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b|\b[0-9a-f]{7,}\b|\b[A-Z]{2,}-\d+\b|#?\b[A-Z]?\d{5,}\b|\b[A-Za-z]+(?:_[A-Za-z0-9]+)+\b`)

var escapes = regexp.MustCompile(`\\+[nrt]`)

var hexOnly = regexp.MustCompile(`^[a-f]+$`)

var snake = regexp.MustCompile(`^[A-Za-z]+(?:_[A-Za-z0-9]+)+$`)

// naive returns the paths and ids of a span that are mentioned twice or more, found without thought.
func naive(units []conversation.Unit) []string {
	count := map[string]int{}
	for i := range units {
		for _, text := range unitTexts(&units[i]) {
			text = escapes.ReplaceAllString(text, " ")
			for _, f := range naivePath.FindAllString(text, -1) {
				count[strings.TrimRight(f, ".-")]++
			}
			for _, f := range naiveID.FindAllString(text, -1) {
				if !hexOnly.MatchString(f) && (!snake.MatchString(f) || strings.ContainsAny(f, "0123456789")) {
					count[f]++
				}
			}
		}
	}
	var out []string
	for f, n := range count {
		if n > 1 {
			out = append(out, f)
		}
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b)) })
	return out
}

var (
	naiveSentence = regexp.MustCompile(`[^.!?\n]+[.!?]*`)
	naiveRule     = regexp.MustCompile(`(?i)\b(?:must|never|always)\b`)
	looseRule     = regexp.MustCompile(`(?i)\b(?:do not|don't|should not|only|make sure|important|required|forbidden|from now on)\b`)
)

// naiveRules returns the sentences of the user's with one of some words, found without thought.
func naiveRules(units []conversation.Unit, words *regexp.Regexp) []string {
	var out []string
	for i := range units {
		if units[i].Items[0].Message.Role != conversation.RoleUser {
			continue
		}
		for _, text := range unitTexts(&units[i]) {
			for _, s := range naiveSentence.FindAllString(text, -1) {
				if s = oneLine(s); words.MatchString(s) && len(s) < 400 {
					out = append(out, s)
				}
			}
		}
	}
	return out
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// without returns those that a list, on one line, does not hold.
func without(list string, wanted []string) []string {
	return slices.DeleteFunc(slices.Clone(wanted), func(w string) bool { return strings.Contains(list, w) })
}

// again returns the names of the facts that were mentioned twice or more, and what must not be lost at all.
func again(facts []conversation.Fact) (names, must []string) {
	for _, f := range facts {
		switch f.Kind {
		case conversation.FactPath, conversation.FactURL, conversation.FactID:
			if f.Count > 1 && (f.Kind != conversation.FactID || strings.ContainsAny(f.Text, "0123456789@")) {
				names = append(names, f.Text)
			}
		case conversation.FactCall:
			must = append(must, strings.Join(strings.Fields(f.Text)[:2], " ")) // the arguments may be cut
		case conversation.FactRule:
			if naiveRule.MatchString(f.Text) {
				must = append(must, f.Text)
			}
		}
	}
	return names, must
}

// TestLossList_Recordings_HoldWhatMatters holds the list of 2,500 tokens to what a summary that mentions nothing loses of
// recordings, by our own idea of it and by a naive one. Short conversations are taken as one, which is harder than anything
// recorded: hundreds of ids that have nothing to do with one another. There the bar holds up to 60,000 tokens.
func TestLossList_Recordings_HoldWhatMatters(t *testing.T) {
	for _, tt := range []struct {
		set   string
		short bool
		bar   int64 // the longest spans that are held to it
	}{
		{"pi_sessions", false, 100_000}, {"mini_swe_agent", false, 100_000}, {"locomo10", true, 60_000}, {"swe_agent", true, 30_000}, {"tau_airline_gpt4o", true, 100_000},
		{"tau2_gpt41", true, 60_000}, {"tau2_claude45", true, 100_000}, {"tau2_gptoss", true, 100_000}, {"tau2_sft_openai", true, 60_000},
	} {
		t.Run(tt.set, func(t *testing.T) {
			for _, size := range []int64{30_000, 60_000, 100_000} {
				spans := recordedSpans(t, tt.set, tt.short, size)
				worst := shares{1, 1, 1, 1}
				for _, s := range spans {
					held := holds(t, s)
					worst = shares{min(worst.rules, held.rules), min(worst.loose, held.loose), min(worst.own, held.own), min(worst.naive, held.naive)}
					if size <= tt.bar && (held.rules < 1 || held.own < 0.98 || held.naive < 0.98) {
						t.Errorf("%s: %+v", s.name, held)
					}
				}
				if len(spans) > 0 {
					t.Logf("%d spans of %d tokens, shares at least: %+.3v", len(spans), size, worst)
				}
			}
		})
	}
}

// shares are those of what a span must not lose that its list holds.
type shares struct {
	rules float64 // calls, and the user's sentences with must, never, always, by our definition and by a naive one
	loose float64 // the user's other rules, by the naive one
	own   float64 // names mentioned twice or more, by our definition
	naive float64 // the same by the naive one
}

func holds(t *testing.T, s span) shares {
	t.Helper()
	counter := o200k()
	facts := mergedFacts(nil, compaction.Facts(s.units)) // as the engine keeps them
	list, _ := compaction.LossList(facts, 0, "", 2500, counter)
	if n, _ := counter.Count(list); n > 2500 {
		t.Errorf("%s: the list has %d tokens", s.name, n)
	}
	names, must := again(facts)
	list = oneLine(list)
	return shares{
		rules: held(list, append(must, naiveRules(s.units, naiveRule)...)), loose: held(list, naiveRules(s.units, looseRule)),
		own: held(list, names), naive: held(list, naive(s.units)),
	}
}

// held returns the share of what is wanted that a list holds.
func held(list string, wanted []string) float64 {
	if len(wanted) == 0 {
		return 1
	}
	return 1 - float64(len(without(list, wanted)))/float64(len(wanted))
}
