package memories

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/internal/recordings"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	memorystore "github.com/palimpsest-context/palimpsest/pkg/store/memory"
)

// dialogue is a long dialogue in sessions, with questions and the turns that hold their evidence.
type dialogue struct {
	ID       string
	Messages []struct{ Role, Name, Content, Ref string }
	QA       []struct {
		Question string
		Evidence []string
	}
}

func dialogues(t *testing.T) (all []dialogue) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(recordings.Text(t, "locomo10", "conversations.jsonl")))
	for d.More() {
		var one dialogue
		if err := d.Decode(&one); err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
	}
	return all
}

// place is a message of a conversation.
type place struct {
	conversation string
	index        int32
}

// TestMemories_Dialogues_EvidenceIsFound: sessions of a dialogue are conversations of one actor; questions come from a new one, as its agent
// would ask them.
func TestMemories_Dialogues_EvidenceIsFound(t *testing.T) {
	t.Parallel()
	policy := atOnce()
	policy.SyncRoles = &[]conversation.Role{conversation.RoleUser, conversation.RoleAssistant}
	p := start(t, memorystore.New(memorystore.Options{}), policy)
	var at5, at10, questions float64
	for _, d := range dialogues(t) {
		places := p.hold(&d)
		asking := d.ID + "/new"
		p.create(asking, d.ID)
		for _, q := range d.QA {
			wanted := map[place]bool{}
			for _, e := range q.Evidence {
				for ref := range strings.FieldsFuncSeq(e, func(r rune) bool { return r == ';' || r == ',' || r == ' ' }) {
					if at, ok := places[ref]; ok {
						wanted[at] = true
					}
				}
			}
			if len(wanted) == 0 {
				continue
			}
			questions++
			share := 1 / float64(len(wanted))
			r, err := p.SearchMemories(t.Context(), engine.SearchMemoriesRequest{Key: key(asking), Query: q.Question, Limit: 10})
			if err != nil {
				t.Fatal(err)
			}
			for i := range r.Memories {
				for _, s := range r.Memories[i].Sources {
					for index := s.First; index <= s.Last; index++ {
						at := place{s.Conversation, index}
						if !wanted[at] {
							continue
						}
						delete(wanted, at) // a fact and its message count once
						at10 += share
						if i < 5 {
							at5 += share
						}
					}
				}
			}
		}
	}
	t.Logf("%v questions: %.1f %% in the first 5, %.1f %% in the first 10; at least 67 and 75", questions, 100*at5/questions, 100*at10/questions)
	if 100*at5 < 67*questions || 100*at10 < 75*questions {
		t.Error("too little of the evidence is found")
	}
}

// hold has a dialogue's sessions held as conversations, and says where its turns are.
func (p *process) hold(d *dialogue) map[string]place {
	p.t.Helper()
	places, indices := map[string]place{}, map[string]int32{}
	for _, m := range d.Messages {
		session, _, _ := strings.Cut(m.Ref, ":")
		id := d.ID + "/" + session
		if indices[id] == 0 {
			p.create(id, d.ID)
		}
		said := message(conversation.RoleUser, m.Content)
		if m.Role == "assistant" {
			said.Role = conversation.RoleAssistant
		}
		said.Name = m.Name
		if _, err := p.Append(p.t.Context(), engine.AppendRequest{Key: key(id), Messages: []conversation.Message{said}}); err != nil {
			p.t.Fatal(err)
		}
		places[m.Ref] = place{id, indices[id]}
		indices[id]++
	}
	for id := range indices {
		p.inSync(id)
	}
	return places
}
