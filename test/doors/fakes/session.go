package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// line is what a session's script has the model answer to one request.
type line struct {
	Text     string `json:"text"`
	Thinking string `json:"thinking"`
	Calls    []struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"calls"`
	IDs    bool `json:"ids"`    // Gemini: calls have ids
	Slow   bool `json:"slow"`   // a stream pauses between pieces
	Cut    bool `json:"cut"`    // a stream breaks off in the middle
	Status int  `json:"status"` // the request fails with this, although nothing is wrong with it
}

// sent is a request of a session, as GET /s/NAME/requests tells it.
type sent struct {
	Path   string          `json:"path"`
	Body   json.RawMessage `json:"body"`
	Faults []string        `json:"faults"`
	At     int64           `json:"at"` // when it had come, in nanoseconds
}

// session is a run of its own below /s/NAME: what the model answers is written beforehand, and what it was sent is kept. Ids are made of a
// request's number, so that two runs of the same script have the same ones.
type session struct {
	script []line
	ids    string // what the ids begin with
	begun  int    // requests before this script
	sent   []sent
}

type sessions struct {
	mu     sync.Mutex
	byName map[string]*session
}

// begin takes a script, a list of lines: the last one is said again to all further requests. A session that is there goes on by it. Ids of
// sessions that are one run together begin with ?ids=NAME.
func (s *sessions) begin(w http.ResponseWriter, r *http.Request) {
	var script []line
	if err := json.NewDecoder(r.Body).Decode(&script); err != nil || len(script) == 0 {
		http.Error(w, "a script is a list of answers", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := s.byName[r.PathValue("session")]
	if kept == nil {
		kept = &session{ids: cmp.Or(r.FormValue("ids"), "n")}
		s.byName[r.PathValue("session")] = kept
	}
	kept.script, kept.begun = script, len(kept.sent)
}

func (s *sessions) end(_ http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byName, r.PathValue("session"))
}

func (s *sessions) requests(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	asked := []sent{}
	if kept := s.byName[r.PathValue("session")]; kept != nil {
		asked = append(asked, kept.sent...)
	}
	s.mu.Unlock()
	writeJSON(w, http.StatusOK, asked)
}

// next keeps a request, and returns what the script answers to it; nil where there is no such session, or the request is refused.
func (s *sessions) next(name, path string, body []byte, faults []string) (said *line, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := s.byName[name]
	if kept == nil {
		return nil, ""
	}
	asked := sent{Path: path, Body: json.RawMessage("null"), Faults: append([]string{}, faults...), At: time.Now().UnixNano()}
	if json.Valid(body) {
		asked.Body = body
	}
	n := len(kept.sent)
	kept.sent = append(kept.sent, asked)
	if len(faults) > 0 {
		return nil, ""
	}
	return &kept.script[min(n-kept.begun, len(kept.script)-1)], fmt.Sprint(kept.ids, n)
}

// answer is what a line says, under ids that begin with its own.
func (l *line) answer(id string) *answer {
	a := &answer{id: id, text: l.Text, thought: l.Thinking, scripted: true, ids: l.IDs, slow: l.Slow, cut: l.Cut}
	for i, c := range l.Calls {
		a.calls = append(a.calls, call{id: fmt.Sprintf("%s_%d", id, i), name: c.Name, arguments: string(c.Arguments)})
	}
	return a
}
