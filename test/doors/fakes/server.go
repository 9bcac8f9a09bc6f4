package main

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"
)

// maxBody is more than any provider takes.
const maxBody = 64 << 20

// provider is one of the APIs that are played.
type provider interface {
	// read reads a request, and faults what is wrong with it.
	read(body []byte, asked *request)
	// whole is the answer in one piece.
	whole(r *request, a *answer) any
	// events are the answer in pieces.
	events(r *request, a *answer) []event
	// refusal is how the provider says that it refuses.
	refusal(faults []string) any
}

// server answers for all providers.
type server struct {
	*http.ServeMux
	stats    *stats
	sessions sessions
	pause    time.Duration // between the pieces of what is slow
}

func newServer(pause time.Duration) *server {
	s := &server{ServeMux: http.NewServeMux(), stats: newStats(), sessions: sessions{byName: map[string]*session{}}, pause: pause}
	for _, at := range []string{"", "/s/{session}"} {
		s.HandleFunc("POST "+at+"/v1/chat/completions", s.handle(chat{}))
		s.HandleFunc("POST "+at+"/v1/responses", s.handle(responses{}))
		s.HandleFunc("POST "+at+"/v1/messages", s.handle(anthropic{}))
		for _, version := range []string{"v1beta", "v1"} { // SDKs differ in which they ask for
			s.HandleFunc("POST "+at+"/"+version+"/models/{call}", s.handle(gemini{}))
		}
	}
	s.HandleFunc("PUT /s/{session}", s.sessions.begin)
	s.HandleFunc("DELETE /s/{session}", s.sessions.end)
	s.HandleFunc("GET /s/{session}/requests", s.sessions.requests)
	s.HandleFunc("GET /stats", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, s.stats.snapshot()) })
	s.HandleFunc("POST /reset", func(http.ResponseWriter, *http.Request) { s.stats.reset() })
	return s
}

func (s *server) handle(p provider) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
			writeJSON(w, http.StatusRequestEntityTooLarge, p.refusal([]string{"the request is too large"}))
			return
		} else if err != nil {
			return // the caller went away
		}
		asked := &request{header: r.Header, seed: digest(string(body))}
		asked.model, asked.stream = geminiCall(r.PathValue("call"))
		p.read(body, asked)
		if r.PathValue("session") != "" {
			asked.faults = intolerable(asked.faults)
		}
		scripted, id := s.sessions.next(r.PathValue("session"), r.URL.Path, body, asked.faults)
		if len(asked.faults) > 0 {
			s.stats.count(len(body), asked.faults, nil)
			writeJSON(w, http.StatusBadRequest, p.refusal(asked.faults))
			return
		}
		a := play(asked)
		if scripted != nil {
			a = scripted.answer(id)
			if scripted.Status != 0 {
				writeJSON(w, scripted.Status, p.refusal([]string{"the script says so"}))
				return
			}
		}
		s.stats.count(len(body), nil, a.calls)
		if !asked.stream {
			writeJSON(w, http.StatusOK, p.whole(asked, a))
			return
		}
		s.pour(w, r, p.events(asked, a), a)
	}
}

// geminiCall reads the last piece of Gemini's path, model:method; other APIs have the model and stream in their body.
func geminiCall(call string) (model string, stream bool) {
	model, method, _ := strings.Cut(call, ":")
	return model, method == "streamGenerateContent"
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// A caller that went away is the caller's matter.
	_ = json.NewEncoder(w).Encode(v)
}
