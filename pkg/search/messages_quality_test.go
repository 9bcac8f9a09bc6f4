package search

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// dialogue is a long dialogue with questions, and the turns that hold their evidence.
type dialogue struct {
	ID       string `json:"id"`
	Messages []struct {
		Name    string `json:"name"`
		Content string `json:"content"`
		Ref     string `json:"ref"`
	} `json:"messages"`
	QA []struct {
		Question string   `json:"question"`
		Evidence []string `json:"evidence"`
		Category int      `json:"category"`
	} `json:"qa"`
}

const dialogueBlock = 256

// runs returns the messages of a dialogue in blocks, with the names of who says them or without.
func (d *dialogue) runs(named bool) []*Messages {
	texts := make([]string, len(d.Messages))
	for i, m := range d.Messages {
		texts[i] = m.Content
		if named {
			texts[i] = m.Name + ": " + m.Content
		}
	}
	return inBlocks(texts)
}

// inBlocks makes texts ready as the messages that they are.
func inBlocks(texts []string) (runs []*Messages) {
	for i, text := range texts {
		if i%dialogueBlock == 0 {
			runs = append(runs, &Messages{})
		}
		runs[len(runs)-1].Add(int32(i), text)
	}
	return runs
}

// recall sums which share of what is looked for is among the first hits.
type recall struct {
	questions      int
	at1, at5, at10 float64
}

func (r *recall) add(hits []Hit, wanted map[int32]bool) {
	r.questions++
	for i, h := range hits {
		if !wanted[h.Index] {
			continue
		}
		if i < 1 {
			r.at1 += 1 / float64(len(wanted))
		}
		if i < 5 {
			r.at5 += 1 / float64(len(wanted))
		}
		if i < 10 {
			r.at10 += 1 / float64(len(wanted))
		}
	}
}

func (r *recall) shares() (at1, at5, at10 float64) {
	n := float64(max(1, r.questions)) / 100
	return r.at1 / n, r.at5 / n, r.at10 / n
}

// ask asks all questions of a dialogue whose evidence is in it.
func (d *dialogue) ask(runs []*Messages) (r recall) {
	at := map[string]int32{}
	for i, m := range d.Messages {
		at[m.Ref] = int32(i)
	}
	for _, q := range d.QA {
		wanted := map[int32]bool{}
		for _, e := range q.Evidence {
			for ref := range strings.FieldsFuncSeq(e, func(r rune) bool { return r == ';' || r == ',' || r == ' ' }) {
				if i, ok := at[ref]; ok {
					wanted[i] = true
				}
			}
		}
		if len(wanted) > 0 {
			r.add(RankMessages(NewQuery(q.Question), runs, nil, 10), wanted)
		}
	}
	return r
}

func TestRankMessages_Dialogues_EvidenceIsFound(t *testing.T) {
	for _, c := range []struct {
		name  string
		named bool
	}{{"what was said", false}, {"what was said by whom", true}} {
		t.Run(c.name, func(t *testing.T) {
			began, all := time.Now(), recall{}
			for _, d := range recorded[dialogue](t, "locomo10", "conversations.jsonl") {
				r := d.ask(d.runs(c.named))
				_, at5, at10 := r.shares()
				t.Logf("%s: %d questions: %.1f %% in the first 5, %.1f %% in the first 10", d.ID, r.questions, at5, at10)
				all.questions, all.at5, all.at10 = all.questions+r.questions, all.at5+r.at5, all.at10+r.at10
			}
			_, at5, at10 := all.shares()
			t.Logf("%d questions in %v: %.1f %% in the first 5, %.1f %% in the first 10; at least 63, 71", all.questions, time.Since(began), at5, at10)
			if at5 < 63 || at10 < 71 {
				t.Errorf("too little of the evidence is found")
			}
		})
	}
}

func TestRankMessages_Requests_DocumentsAreFound(t *testing.T) {
	type document struct{ ID, Title, Content string }
	type request struct {
		ID, Query string
		Required  []string `json:"required_documents"`
	}
	texts, at := []string{}, map[string]int32{}
	for i, d := range recorded[document](t, "tau2_banking_kb", "documents.jsonl") {
		at[d.ID] = int32(i)
		texts = append(texts, d.Title+"\n"+d.Content)
	}
	runs := inBlocks(texts)
	var all recall
	for _, r := range recorded[request](t, "tau2_banking_kb", "queries.jsonl") {
		wanted := map[int32]bool{}
		for _, id := range r.Required {
			wanted[at[id]] = true
		}
		if len(wanted) > 0 {
			all.add(RankMessages(NewQuery(r.Query), runs, nil, 10), wanted)
		}
	}
	_, _, at10 := all.shares()
	t.Logf("%d requests: %.1f %% of the documents in the first 10; at least 28", all.questions, at10)
	if at10 < 28 {
		t.Errorf("too few of the documents are found")
	}
}

// TestRankMessages_Paragraphs_AreFound: in other languages too, a question finds the paragraph that answers it.
func TestRankMessages_Paragraphs_AreFound(t *testing.T) {
	for _, language := range []string{"en", "es", "zh"} {
		var texts []string
		var all recall
		asked := map[string]int32{}
		for _, a := range recorded[article](t, "xquad", language+".jsonl") {
			starts, first, chars := []int{}, len(texts), 0
			for p := range strings.SplitSeq(a.Text, "\n\n") {
				texts, starts = append(texts, p), append(starts, chars)
				chars += utf8.RuneCountInString(p) + 2
			}
			for _, q := range a.QA {
				paragraph, ok := slices.BinarySearch(starts, q.Start)
				if !ok {
					paragraph--
				}
				asked[q.Question] = int32(first + paragraph)
			}
		}
		runs := inBlocks(texts)
		for question, paragraph := range asked {
			all.add(RankMessages(NewQuery(question), runs, nil, 10), map[int32]bool{paragraph: true})
		}
		at1, at5, _ := all.shares()
		t.Logf("%s: %d questions of %d paragraphs: %.1f %% first, %.1f %% in the first 5; at least 92, 99", language, all.questions, len(texts), at1, at5)
		if at1 < 92 || at5 < 99 {
			t.Errorf("too few of the paragraphs are found")
		}
	}
}

// TestRankMessages_KnownItems_ComeFirst: words that stand in one message alone find it, among the many of an agent that are alike.
func TestRankMessages_KnownItems_ComeFirst(t *testing.T) {
	const words, each = 8, 30
	var all recall
	for _, name := range []string{"tau2_gpt41", "mini_swe_agent", "pi_sessions", "tau2_sft_openai"} {
		for _, c := range recorded[dialogue](t, name, "conversations.jsonl") {
			texts := make([]string, len(c.Messages))
			for i, m := range c.Messages {
				texts[i] = strings.Join(strings.Fields(m.Content), " ")
			}
			var runs []*Messages
			for i := 0; i < len(texts); i += max(1, len(texts)/each) {
				fields := strings.Fields(texts[i])
				if len(fields) < 2*words || all.questions >= 800 {
					continue
				}
				at := (i * 7919) % (len(fields) - words)
				item := strings.Join(fields[at:at+words], " ")
				if held := strings.Count(strings.Join(texts, "\n"), item); held != 1 {
					continue
				}
				if runs == nil {
					runs = inBlocks(texts)
				}
				all.add(RankMessages(NewQuery(item), runs, nil, 10), map[int32]bool{int32(i): true})
			}
		}
	}
	at1, at5, _ := all.shares()
	t.Logf("%d items: %.1f %% first, %.1f %% in the first 5; at least 98, 99", all.questions, at1, at5)
	if at1 < 98 || at5 < 99 {
		t.Errorf("too few of the messages are found")
	}
}
