package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"time"
)

// object is JSON to write.
type object = map[string]any

// event is a piece of a stream: data alone, or a name and data.
type event struct {
	name string
	data any
	raw  string // in place of data
	// cut: a stream that breaks off ends with this event; torn, within its bytes.
	cut, torn bool
}

// stream collects events.
type stream struct{ out []event }

func (s *stream) add(name string, data object) *event {
	s.out = append(s.out, event{name: name, data: data})
	return &s.out[len(s.out)-1]
}

func (e event) bytes() []byte {
	var b bytes.Buffer
	if e.name != "" {
		b.WriteString("event: " + e.name + "\n")
	}
	b.WriteString("data: ")
	if e.raw != "" {
		b.WriteString(e.raw)
	} else {
		data, err := json.Marshal(e.data)
		if err != nil {
			panic(err) // the fakes write what they made
		}
		b.Write(data)
	}
	b.WriteString("\n\n")
	return b.Bytes()
}

// tornBytes end within the arguments of Gemini's call.
const tornBytes = 76

// pour writes events as server-sent events.
func (s *server) pour(w http.ResponseWriter, r *http.Request, events []event, a *answer) {
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	for _, e := range events {
		data := e.bytes()
		last := a.cut && e.cut
		if last && e.torn {
			data = data[:min(tornBytes, len(data)/2)]
		}
		if _, err := w.Write(data); err != nil || out.Flush() != nil {
			return
		}
		if last {
			s.wait(r)                   // Java's client drops what it has not read when a connection breaks
			panic(http.ErrAbortHandler) // closes the connection in the middle of the body
		}
		if a.slow && !s.wait(r) {
			return
		}
	}
}

// wait waits for the pause, or until the caller goes away.
func (s *server) wait(r *http.Request) bool {
	select {
	case <-time.After(s.pause):
		return true
	case <-r.Context().Done():
		return false
	}
}

// pieces cuts a text into about so many pieces, between characters.
func pieces(text string, n int) []string {
	runes := []rune(text)
	if len(runes) == 0 {
		return nil
	}
	var out []string
	for piece := range slices.Chunk(runes, (len(runes)+n-1)/n) {
		out = append(out, string(piece))
	}
	return out
}
