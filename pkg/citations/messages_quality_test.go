package citations

import (
	"strings"
	"testing"
	"time"
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

// runs are the messages of a dialogue in blocks, with the names of who says them or without.
func (d *dialogue) runs(named bool) (runs []*Messages) {
	for i, m := range d.Messages {
		if i%dialogueBlock == 0 {
			runs = append(runs, &Messages{})
		}
		text := m.Content
		if named {
			text = m.Name + ": " + text
		}
		runs[len(runs)-1].Add(int32(i), text)
	}
	return runs
}

// recall sums which share of what is looked for is among the first hits.
type recall struct {
	questions int
	at5, at10 float64
}

func (r *recall) add(hits []Hit, wanted map[int32]bool) {
	r.questions++
	for i, h := range hits {
		if !wanted[h.Index] {
			continue
		}
		if i < 5 {
			r.at5 += 1 / float64(len(wanted))
		}
		if i < 10 {
			r.at10 += 1 / float64(len(wanted))
		}
	}
}

func (r *recall) shares() (at5, at10 float64) {
	n := float64(max(1, r.questions)) / 100
	return r.at5 / n, r.at10 / n
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
			r.add(SearchMessages(NewQuery(q.Question), runs, nil, 10), wanted)
		}
	}
	return r
}

func TestSearchMessages_Dialogues_EvidenceIsFound(t *testing.T) {
	for _, c := range []struct {
		name  string
		named bool
	}{{"what was said", false}, {"what was said by whom", true}} {
		t.Run(c.name, func(t *testing.T) {
			began, all := time.Now(), recall{}
			for _, d := range recorded[dialogue](t, "locomo10", "conversations.jsonl") {
				r := d.ask(d.runs(c.named))
				at5, at10 := r.shares()
				t.Logf("%s: %d questions: %.1f %% in the first 5, %.1f %% in the first 10", d.ID, r.questions, at5, at10)
				all.questions, all.at5, all.at10 = all.questions+r.questions, all.at5+r.at5, all.at10+r.at10
			}
			at5, at10 := all.shares()
			t.Logf("%d questions in %v: %.1f %% in the first 5, %.1f %% in the first 10; at least 55, 63", all.questions, time.Since(began), at5, at10)
			if at5 < 55 || at10 < 63 {
				t.Errorf("too little of the evidence is found")
			}
		})
	}
}

func TestSearchMessages_Requests_DocumentsAreFound(t *testing.T) {
	type document struct{ ID, Title, Content string }
	type request struct {
		ID, Query string
		Required  []string `json:"required_documents"`
	}
	runs, at := []*Messages{}, map[string]int32{}
	for i, d := range recorded[document](t, "tau2_banking_kb", "documents.jsonl") {
		if i%dialogueBlock == 0 {
			runs = append(runs, &Messages{})
		}
		at[d.ID] = int32(i)
		runs[len(runs)-1].Add(int32(i), d.Title+"\n"+d.Content)
	}
	var all recall
	for _, r := range recorded[request](t, "tau2_banking_kb", "queries.jsonl") {
		wanted := map[int32]bool{}
		for _, id := range r.Required {
			wanted[at[id]] = true
		}
		if len(wanted) > 0 {
			all.add(SearchMessages(NewQuery(r.Query), runs, nil, 10), wanted)
		}
	}
	_, at10 := all.shares()
	t.Logf("%d requests: %.1f %% of the documents in the first 10; 25 is hoped for", all.questions, at10)
}
