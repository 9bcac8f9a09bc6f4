package mem0

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
)

// metadata is what we say of a memory. Its fields are flat and are texts or numbers, because that is what all vector stores can keep; a server
// lays them beside its own (data, hash, role, created_at and more), whose names are taken. Reads select by fields whose values are ours, never
// by a text of somebody's: "*" would select everything.
type metadata struct {
	Scope        string `json:"palimpsest"` // the kind of scope
	Kind         string `json:"kind"`
	Key          string `json:"key"`
	Talk         string `json:"talk,omitempty"` // a conversation and its incarnation, as a hash
	Conversation string `json:"conversation,omitempty"`
	Incarnation  string `json:"incarnation,omitempty"`
	First        int32  `json:"first,omitempty"`
	Last         int32  `json:"last,omitempty"`
	Time         int64  `json:"time,omitempty"` // Unix milliseconds
	By           string `json:"by,omitempty"`
	Messages     string `json:"messages,omitempty"` // JSON of []said, of a batch that is kept as it is
	Note         string `json:"note,omitempty"`     // the caller's JSON of a note
	Expires      int64  `json:"expires,omitempty"`  // Unix milliseconds
}

// The metadata's words for kinds.
const (
	kindSaid  = "said"
	kindFact  = "fact"
	kindAdded = "added"
)

// said is a message of a batch that is kept as it is. All memories of a batch have the same metadata: a text's hash says which it is.
type said struct {
	Index int32  `json:"i"`
	Hash  string `json:"h"`
	By    string `json:"b"`
	Time  int64  `json:"t,omitempty"`
}

func textHash(text string) string { return memory.Digest(text)[:12] }

func talkOf(name string, incarnation conversation.ID) string {
	return memory.Digest(name + "\x00" + incarnation.String())[:32]
}

// row is a memory as a service shows it.
type row struct {
	ID         string          `json:"id"`
	Memory     string          `json:"memory"`
	User       string          `json:"user_id"`
	Agent      string          `json:"agent_id"`
	Run        string          `json:"run_id"`
	Session    string          `json:"session_id"`    // the platform's lists call a run so
	Attributed string          `json:"attributed_to"` // a server's word for who said it
	Replaced   string          `json:"replaced_by"`
	Created    string          `json:"created_at"`
	Score      float64         `json:"score"`
	Metadata   json.RawMessage `json:"metadata"`
}

// results is an answer that is rows.
type results struct {
	Results []row `json:"results"`
}

// read checks a row once more: it must lie in the scope, and be ours.
func (r *row) read(s memory.Scope) (m memory.Memory, d metadata, ok bool) {
	if !isID(r.ID) || (identity{r.User, r.Agent}) != identityOf(s) || r.Run != "" || r.Session != "" {
		return m, d, false
	}
	if json.Unmarshal(r.Metadata, &d) != nil || d.Scope != s.Kind.Name() {
		return m, d, false
	}
	if d.Kind == kindSaid {
		d.narrow(r.Memory)
	}
	m = memory.Memory{
		ID: r.ID, Text: r.Memory, Time: memory.TimeOf(d.Time), Scope: s, Score: min(max(r.Score, 0), 1), ExpireTime: memory.TimeOf(d.Expires),
		SupersededBy: r.Replaced,
	}
	if d.Time == 0 {
		m.Time, _ = time.Parse(time.RFC3339, r.Created) // zero where the service does not say either
	}
	switch d.Kind {
	case kindAdded:
		m.Kind = memory.Added
		if json.Valid([]byte(d.Note)) {
			m.Metadata = d.Note
		}
		return m, d, true
	case kindFact:
		m.Kind = memory.Fact
	case kindSaid:
		m.Kind = memory.Said
	default:
		return m, d, false
	}
	m.SaidBy, m.Sources = d.By, []memory.Source{d.source()}
	if d.By == "" && (r.Attributed == "user" || r.Attributed == "assistant") {
		m.SaidBy = r.Attributed
	}
	return m, d, true
}

// narrow finds the message of a batch by its text. What the service changed stays the whole batch's.
func (d *metadata) narrow(text string) {
	var all []said
	if json.Unmarshal([]byte(d.Messages), &all) != nil {
		return
	}
	hash := textHash(text)
	all = slices.DeleteFunc(all, func(s said) bool { return s.Hash != hash })
	if len(all) > 0 {
		last := all[len(all)-1]
		d.First, d.Last, d.By, d.Time = all[0].Index, last.Index, last.By, last.Time
	}
}

func (d *metadata) source() memory.Source {
	return memory.Source{
		Conversation: d.Conversation, Incarnation: memory.ParseIncarnation(d.Incarnation), First: d.First, Last: d.Last, Time: memory.TimeOf(d.Time),
	}
}
