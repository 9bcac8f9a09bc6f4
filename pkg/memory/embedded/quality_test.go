package embedded_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/internal/recordings"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
)

// dialogue is a long dialogue in sessions, with questions and the turns that hold their evidence.
type dialogue struct {
	ID       string `json:"id"`
	Messages []struct {
		Role    string `json:"role"`
		Name    string `json:"name"`
		Content string `json:"content"`
		Ref     string `json:"ref"`
	} `json:"messages"`
	QA []struct {
		Question string   `json:"question"`
		Evidence []string `json:"evidence"`
	} `json:"qa"`
}

func recorded[T any](t testing.TB, path ...string) (all []T) {
	t.Helper()
	f, err := os.Open(recordings.Path(t, path...))
	if err != nil {
		t.Skip("the recorded data lacks a file: " + err.Error())
	}
	defer func() { _ = f.Close() }()
	d := json.NewDecoder(bufio.NewReaderSize(f, 1<<20))
	for d.More() {
		var one T
		must(t, d.Decode(&one))
		all = append(all, one)
	}
	return all
}

// remember adds each session of a dialogue as a conversation of an actor, as the outbox does.
func (d *dialogue) remember(t testing.TB, target memory.Target, s memory.Scope, infer bool) {
	t.Helper()
	sessions := map[string]int{}
	var batch *memory.Batch
	flush := func() {
		if batch != nil && len(batch.Messages) > 0 {
			add(t, target, batch)
		}
	}
	for _, m := range d.Messages {
		session, _, _ := strings.Cut(m.Ref, ":")
		index := sessions[session]
		if index == 0 || len(batch.Messages) == 20 {
			flush()
			batch = talk(s, session, 0, day(0))
			batch.Infer = infer
		}
		role := conversation.RoleUser
		if m.Role == "assistant" {
			role = conversation.RoleAssistant
		}
		batch.Messages = append(batch.Messages, memory.Message{
			Index: int32(index), Role: role, Name: m.Name, Text: m.Content, Time: day(len(sessions)).Add(time.Duration(index) * time.Second),
		})
		sessions[session]++
	}
	flush()
}

// evidence is where the turns that answer a question are.
func (d *dialogue) evidence(refs []string) map[place]bool {
	at, sessions := map[string]place{}, map[string]int32{}
	for _, m := range d.Messages {
		session, _, _ := strings.Cut(m.Ref, ":")
		at[m.Ref] = place{conversation: session, index: sessions[session]}
		sessions[session]++
	}
	out := map[place]bool{}
	for _, e := range refs {
		for ref := range strings.FieldsFuncSeq(e, func(r rune) bool { return r == ';' || r == ',' || r == ' ' }) {
			if p, ok := at[ref]; ok {
				out[p] = true
			}
		}
	}
	return out
}

// recall sums which share of the evidence is among the first memories.
type recall struct {
	questions int
	at5, at10 float64
}

func (r *recall) add(found []memory.Memory, wanted map[place]bool) {
	r.questions++
	seen := map[place]bool{}
	for i := range found {
		for _, s := range found[i].Sources {
			for index := s.First; index <= s.Last; index++ {
				p := place{conversation: s.Conversation, index: index}
				if !wanted[p] || seen[p] {
					continue
				}
				seen[p] = true
				if i < 5 {
					r.at5 += 1 / float64(len(wanted))
				}
				r.at10 += 1 / float64(len(wanted))
			}
		}
	}
}

func (r *recall) shares() (at5, at10 float64) {
	n := float64(max(1, r.questions)) / 100
	return r.at5 / n, r.at10 / n
}

func (r recall) String() string {
	at5, at10 := r.shares()
	return fmt.Sprintf("%d questions: %.1f %% in the first 5, %.1f %% in the first 10", r.questions, at5, at10)
}

// floor is the default of policy.memory.recall.
const floor = 0.25

// openings are what users first say in recorded conversations of other kinds, as recall asks for it: cut in the middle.
func openings(t testing.TB) (out []string) {
	t.Helper()
	for _, name := range []string{"tau_airline_gpt4o", "tau2_gpt41", "tau2_claude45", "tau2_gptoss", "tau2_sft_openai", "mini_swe_agent", "swe_agent", "pi_sessions"} {
		for _, c := range recorded[dialogue](t, name, "conversations.jsonl") {
			at := slices.IndexFunc(c.Messages, func(m struct {
				Role    string `json:"role"`
				Name    string `json:"name"`
				Content string `json:"content"`
				Ref     string `json:"ref"`
			}) bool {
				return m.Role == "user"
			})
			if at >= 0 && !slices.Contains(out, asked(c.Messages[at].Content)) {
				out = append(out, asked(c.Messages[at].Content))
			}
		}
	}
	return out
}

// asked is what recall asks of a request: its first and last 1,000 characters.
func asked(text string) string {
	const each = 1000
	if r := []rune(text); len(r) > 2*each {
		return string(r[:each]) + "\n" + string(r[len(r)-each:])
	}
	return text
}

// remembered are the recorded dialogues as memories of an actor each.
func remembered(t *testing.T, infer bool) (memory.Target, []dialogue) {
	t.Helper()
	target, all := memoryWorld(t).process(), recorded[dialogue](t, "locomo10", "conversations.jsonl")
	for i := range all {
		all[i].remember(t, target, user(all[i].ID), infer)
	}
	return target, all
}

// ask asks the questions whose evidence is there from a new conversation.
func (d *dialogue) ask(t *testing.T, target memory.Target, floor float64, all *recall) {
	t.Helper()
	for _, q := range d.QA {
		wanted := d.evidence(q.Evidence)
		if len(wanted) == 0 {
			continue
		}
		found, err := target.Search(t.Context(), user(d.ID), &memory.Query{Text: q.Question, Limit: 10, Floor: floor, Except: "new", Now: day(60)})
		must(t, err)
		all.add(found, wanted)
		for i := range found {
			if found[i].Score < floor || found[i].Score > 1 || i > 0 && found[i].Score > found[i-1].Score {
				t.Fatalf("a score of %v at place %d", found[i].Score, i)
			}
		}
	}
}

// The bar of the spec for this half of the dialogues: 67 % and 75 %. Facts may not stand in the way of messages.
func TestSearch_Dialogues_EvidenceIsFound(t *testing.T) {
	t.Parallel()
	for name, infer := range map[string]bool{"messages": false, "messages and facts": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target, dialogues := remembered(t, infer)
			var all recall
			for i := range dialogues {
				dialogues[i].ask(t, target, 0, &all)
			}
			t.Logf("%v; at least 67 and 75", all)
			if at5, at10 := all.shares(); at5 < 67 || at10 < 75 {
				t.Error("too little of the evidence is found")
			}
		})
	}
}

// The floor lets through what answers and stops what does not.
func TestSearch_Floor_StopsWhatIsUnrelated(t *testing.T) {
	t.Parallel()
	target, dialogues := remembered(t, true)
	var all, floored recall
	unrelated, asked, answered := openings(t), 0, 0
	for i := range dialogues {
		dialogues[i].ask(t, target, 0, &all)
		dialogues[i].ask(t, target, floor, &floored)
		for _, text := range unrelated {
			found, err := target.Search(t.Context(), user(dialogues[i].ID), &memory.Query{Text: text, Limit: 5, Floor: floor, Now: day(60)})
			must(t, err)
			asked, answered = asked+1, answered+min(1, len(found))
		}
	}
	before, _ := all.shares()
	after, _ := floored.shares()
	kept, wrong := 100*after/before, 100*float64(answered)/float64(asked)
	t.Logf("%.1f %% of what is found is above the floor, at least 93; %.1f %% of %d unrelated requests are answered, at most 5", kept, wrong, asked)
	if kept < 93 || wrong > 5 {
		t.Error("the floor is no floor")
	}
}
