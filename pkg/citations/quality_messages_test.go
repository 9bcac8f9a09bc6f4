package citations

import (
	"slices"
	"testing"
	"time"
)

type dialogue struct {
	Messages []struct {
		Name    string `json:"name"`
		Content string `json:"content"`
		Ref     string `json:"ref"`
	} `json:"messages"`
	QA []struct {
		Question string   `json:"question"`
		Evidence []string `json:"evidence"`
	} `json:"qa"`
}

// evidence is the mean share of a question's evidence among the first five and ten hits.
func evidence(dialogues []dialogue, names bool) (at5, at10 float64, questions int) {
	for _, d := range dialogues {
		var m Messages
		of := map[string]int32{}
		for i, one := range d.Messages {
			text := one.Content
			if names {
				text = one.Name + ": " + text
			}
			m.Add(int32(i), text)
			of[one.Ref] = int32(i)
		}
		for _, q := range d.QA {
			if len(q.Evidence) == 0 {
				continue
			}
			hits := SearchMessages(NewQuery(q.Question), []*Messages{&m}, nil, 10)
			found5, found10 := 0, 0
			for _, ref := range q.Evidence {
				i, known := of[ref]
				if !known {
					continue
				}
				if at := slices.IndexFunc(hits, func(h Hit) bool { return h.Index == i }); at >= 0 {
					found10++
					if at < 5 {
						found5++
					}
				}
			}
			at5 += float64(found5) / float64(len(q.Evidence))
			at10 += float64(found10) / float64(len(q.Evidence))
			questions++
		}
	}
	return 100 * at5 / float64(questions), 100 * at10 / float64(questions), questions
}

func TestSearchMessages_Dialogues_FindEvidence(t *testing.T) {
	dialogues := recorded[dialogue](t, "locomo10", "conversations.jsonl")
	for name, names := range map[string]bool{"contents alone": false, "with names": true} {
		begun := time.Now()
		at5, at10, n := evidence(dialogues, names)
		t.Logf("%s: %d questions: of their evidence %.1f %% in the first 5 hits, %.1f %% in the first 10, in %v", name, n, at5, at10, time.Since(begun))
		if at5 < 55 || at10 < 63 {
			t.Errorf("%s: %.1f and %.1f %% of the evidence are found, at least 55 and 63 must be", name, at5, at10)
		}
	}
}

func TestSearchMessages_Requests_FindDocuments(t *testing.T) {
	documents := recorded[struct{ ID, Title, Content string }](t, "tau2_banking_kb", "documents.jsonl")
	var m Messages
	of := map[string]int32{}
	for i, d := range documents {
		m.Add(int32(i), d.Title+"\n\n"+d.Content)
		of[d.ID] = int32(i)
	}
	requests := recorded[struct {
		Query    string   `json:"query"`
		Required []string `json:"required_documents"`
	}](t, "tau2_banking_kb", "queries.jsonl")
	sum := 0.0
	for _, r := range requests {
		hits, found := SearchMessages(NewQuery(r.Query), []*Messages{&m}, nil, 10), 0
		for _, id := range r.Required {
			if slices.ContainsFunc(hits, func(h Hit) bool { return h.Index == of[id] }) {
				found++
			}
		}
		sum += float64(found) / float64(len(r.Required))
	}
	t.Logf("%d requests: of their documents %.1f %% in the first 10 (plain BM25: 16.4)", len(requests), 100*sum/float64(len(requests)))
}
