package agentcoretest

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// query is the input of any operation.
type query struct {
	MemoryID, ActorID, SessionID, EventID, RecordID string

	ClientToken     string
	EventTimestamp  float64
	Payload         []payload
	Metadata        map[string]any
	MaxResults      int
	NextToken       string
	Namespace       string
	NamespacePath   string
	IncludePayloads *bool
	SearchCriteria  struct {
		SearchQuery string
		TopK        int
	}
	Records []struct {
		MemoryRecordID    string `json:"memoryRecordId"`
		RequestIdentifier string
		Namespaces        []string
		Content           text
		Timestamp         float64
		Metadata          map[string]any
	}
}

type text struct {
	Text string `json:"text"`
}

type payload struct {
	Conversational *struct {
		Content text   `json:"content"`
		Role    string `json:"role"`
	} `json:"conversational,omitempty"`
}

type event struct {
	MemoryID       string         `json:"memoryId"`
	ActorID        string         `json:"actorId"`
	SessionID      string         `json:"sessionId"`
	EventID        string         `json:"eventId"`
	EventTimestamp float64        `json:"eventTimestamp"`
	Payload        []payload      `json:"payload"`
	Metadata       map[string]any `json:"metadata,omitempty"`
}

type record struct {
	ID         string         `json:"memoryRecordId"`
	Content    text           `json:"content"`
	Strategy   string         `json:"memoryStrategyId"`
	Namespaces []string       `json:"namespaces"`
	CreatedAt  float64        `json:"createdAt"`
	Timestamp  float64        `json:"timestamp"`
	Metadata   map[string]any `json:"metadata,omitempty"`
	Score      *float64       `json:"score,omitempty"`

	from time.Time // when it is there
}

// output is what became of one record of several.
type output struct {
	ID      string `json:"memoryRecordId"`
	Status  string `json:"status"`
	Request string `json:"requestIdentifier,omitempty"`
	Code    int    `json:"errorCode,omitempty"`
}

func (s *Server) id(width int) string {
	s.ids++
	return fmt.Sprintf("%0*x", width, s.ids)
}

// page is a part of all that there is, and what to ask with for the next.
func page[T any](name string, all []T, q *query) (any, *failure) {
	at, err := strconv.Atoi(cmp.Or(q.NextToken, "0"))
	if err != nil || at < 0 {
		return nil, invalid("no such token")
	}
	at = min(at, len(all))
	end := min(at+cmp.Or(q.MaxResults, 20), len(all))
	out := map[string]any{name: append([]T{}, all[at:end]...)}
	if end < len(all) {
		out["nextToken"] = strconv.Itoa(end)
	}
	return out, nil
}

func (s *Server) createEvent(q *query) (any, *failure) {
	token := "event " + q.ClientToken
	if known, ok := s.tokens[token]; ok && q.ClientToken != "" {
		return known, nil
	}
	session := q.ActorID + " " + q.SessionID
	if time.Since(s.last[session]) < s.o.Rate {
		return nil, &failure{status: 429, code: "ThrottledException", message: "rate exceeded"}
	}
	s.last[session] = time.Now()
	e := &event{
		MemoryID: q.MemoryID, ActorID: q.ActorID, SessionID: q.SessionID, EventID: "0000001#" + s.id(8),
		EventTimestamp: q.EventTimestamp, Payload: q.Payload, Metadata: q.Metadata,
	}
	s.events = append(s.events, e)
	s.extract(e)
	s.tokens[token] = map[string]any{"event": e}
	return s.tokens[token], nil
}

// extract takes a user's sentences for facts, each once in a namespace.
func (s *Server) extract(e *event) {
	namespace := strings.NewReplacer("{actorId}", e.ActorID, "{sessionId}", e.SessionID).Replace(s.o.Namespace)
	for _, p := range e.Payload {
		if p.Conversational == nil || p.Conversational.Role != "USER" {
			continue
		}
		for _, sentence := range regexp.MustCompile(`[^.!?]+([.!?]+\S+)*[.!?]*`).FindAllString(p.Conversational.Content.Text, -1) {
			sentence = strings.TrimSpace(sentence)
			same := func(r *record) bool { return r.Content.Text == sentence && r.Namespaces[0] == namespace }
			if len(words(sentence)) > 2 && len(sentence) < 16_000 && !slices.ContainsFunc(s.records, same) {
				r := s.record(namespace, sentence, "facts-0000000001", e.EventTimestamp, nil)
				r.from = time.Now().Add(s.o.Extraction)
			}
		}
	}
}

func (s *Server) record(namespace, content, strategy string, at float64, metadata map[string]any) *record {
	r := &record{
		ID: "mem-" + s.id(40), Content: text{content}, Strategy: strategy, Namespaces: []string{namespace},
		CreatedAt: float64(time.Now().UnixMilli()) / 1000, Timestamp: at, Metadata: metadata,
	}
	s.records = append(s.records, r)
	return r
}

func (s *Server) listEvents(q *query) (any, *failure) {
	all := []event{}
	for _, e := range slices.Backward(s.events) {
		if e.ActorID == q.ActorID && e.SessionID == q.SessionID {
			one := *e
			if q.IncludePayloads != nil && !*q.IncludePayloads {
				one.Payload = []payload{}
			}
			all = append(all, one)
		}
	}
	return page("events", all, q)
}

func (s *Server) deleteEvent(q *query) (any, *failure) {
	i := slices.IndexFunc(s.events, func(e *event) bool {
		return e.ActorID == q.ActorID && e.SessionID == q.SessionID && e.EventID == q.EventID
	})
	if i < 0 {
		return nil, missing("no such event")
	}
	s.events = slices.Delete(s.events, i, i+1)
	return map[string]string{"eventId": q.EventID}, nil
}

func (s *Server) listSessions(q *query) (any, *failure) {
	all := []map[string]any{}
	seen := map[string]bool{}
	for _, e := range s.events {
		if e.ActorID == q.ActorID && !seen[e.SessionID] {
			seen[e.SessionID] = true
			all = append(all, map[string]any{"sessionId": e.SessionID, "actorId": e.ActorID, "createdAt": e.EventTimestamp})
		}
	}
	return page("sessionSummaries", all, q)
}

// visible are the records below a path that are there by now.
func (s *Server) visible(q *query) (out []*record) {
	path := strings.TrimSuffix(q.NamespacePath, "/")
	for _, r := range s.records {
		namespace := r.Namespaces[0]
		below := q.NamespacePath != "" && (strings.TrimSuffix(namespace, "/") == path || strings.HasPrefix(namespace, path+"/"))
		below = below || s.o.Prefixes && strings.HasPrefix(namespace, path)
		if (below || namespace == q.Namespace) && !time.Now().Before(r.from) {
			out = append(out, r)
		}
	}
	return out
}

func (s *Server) retrieve(q *query) (any, *failure) {
	all := []record{}
	asked := words(q.SearchCriteria.SearchQuery)
	for _, r := range s.visible(q) {
		has, both := words(r.Content.Text), 0
		for w := range asked {
			if has[w] {
				both++
			}
		}
		if both > 0 {
			score := float64(both) / float64(len(asked))
			found := *r
			found.Score = &score
			all = append(all, found)
		}
	}
	slices.SortStableFunc(all, func(a, b record) int { return cmp.Compare(*b.Score, *a.Score) })
	return page("memoryRecordSummaries", all[:min(len(all), cmp.Or(q.SearchCriteria.TopK, 10))], q)
}

func words(text string) map[string]bool {
	out := map[string]bool{}
	for _, w := range regexp.MustCompile(`[\p{L}\p{N}]+`).FindAllString(strings.ToLower(text), -1) {
		out[w] = true
	}
	return out
}

func (s *Server) listRecords(q *query) (any, *failure) {
	return page("memoryRecordSummaries", s.visible(q), q)
}

func (s *Server) getRecord(q *query) (any, *failure) {
	for _, r := range s.records {
		if r.ID == q.RecordID {
			return map[string]any{"memoryRecord": r}, nil
		}
	}
	return nil, missing("no such record")
}

func (s *Server) batchCreate(q *query) (any, *failure) {
	token := "batch " + q.ClientToken
	if known, ok := s.tokens[token]; ok && q.ClientToken != "" {
		return known, nil
	}
	done := []output{}
	for _, in := range q.Records {
		r := s.record(in.Namespaces[0], in.Content.Text, "none-0000000001", in.Timestamp, in.Metadata)
		done = append(done, output{ID: r.ID, Status: "SUCCEEDED", Request: in.RequestIdentifier})
	}
	s.tokens[token] = map[string]any{"successfulRecords": done, "failedRecords": []output{}}
	return s.tokens[token], nil
}

func (s *Server) batchDelete(q *query) (any, *failure) {
	if len(q.Records) > 100 {
		return nil, invalid("too many records")
	}
	done, failed := []output{}, []output{}
	for _, in := range q.Records {
		i := slices.IndexFunc(s.records, func(r *record) bool { return r.ID == in.MemoryRecordID })
		if i < 0 {
			failed = append(failed, output{ID: in.MemoryRecordID, Status: "FAILED", Code: 404})
			continue
		}
		s.records = slices.Delete(s.records, i, i+1)
		done = append(done, output{ID: in.MemoryRecordID, Status: "SUCCEEDED"})
	}
	return map[string]any{"successfulRecords": done, "failedRecords": failed}, nil
}
