package faults

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// mem0 serves the routes of a Mem0 server that an outbox uses, and is as unreliable as one can be: it does what it is asked and answers
// nothing, it asks to wait, it answers late. It does not know a batch again.
type mem0 struct {
	url string

	mu     sync.Mutex
	random *rand.Rand
	calm   bool
	rows   []mem0Row
	lost   int
}

type mem0Row struct {
	ID       string         `json:"id"`
	Memory   string         `json:"memory"`
	User     string         `json:"user_id"`
	Created  string         `json:"created_at"`
	Metadata map[string]any `json:"metadata"`
}

func serveMem0(t *testing.T, seed uint64) *mem0 {
	m := &mem0{random: rand.New(rand.NewPCG(seed, 16))}
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	m.url = server.URL
	return m
}

func (m *mem0) flags() []string { return []string{"--memory", "mem0-server", "--memory-url", m.url} }

// behave ends all faults.
func (m *mem0) behave() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calm = true
}

// texts are the memories of a user, in the order they came.
func (m *mem0) texts(user string) (out []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.rows {
		if m.rows[i].User == user {
			out = append(out, m.rows[i].Memory)
		}
	}
	return out
}

// fault draws what befalls a call.
func (m *mem0) fault() (wait time.Duration, refused, lost bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.calm {
		return 0, false, false
	}
	n := m.random.IntN(100)
	return time.Duration(m.random.IntN(60)) * time.Millisecond, n < 10, n >= 10 && n < 25
}

// ServeHTTP implements http.Handler.
func (m *mem0) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // its caller is dead
	}
	wait, refused, lost := m.fault()
	time.Sleep(wait)
	if refused {
		w.Header().Set("Retry-After", "1")
		http.Error(w, `{"detail":"wait"}`, http.StatusTooManyRequests)
		return
	}
	answer, known := m.answer(r, body)
	switch {
	case lost:
		m.mu.Lock()
		m.lost++
		m.mu.Unlock()
		panic(http.ErrAbortHandler) // the connection breaks
	case !known:
		http.NotFound(w, r)
	default:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer)
	}
}

func (m *mem0) answer(r *http.Request, body []byte) (any, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch r.Method + " " + r.URL.Path {
	case "POST /memories":
		return map[string]any{"results": m.add(body)}, true
	case "GET /memories":
		rows := []mem0Row{}
		for i := range m.rows {
			if m.rows[i].User == r.URL.Query().Get("user_id") {
				rows = append(rows, m.rows[i])
			}
		}
		return map[string]any{"results": rows}, true
	default:
		return nil, false
	}
}

func (m *mem0) add(body []byte) []any {
	var a struct {
		Messages []struct{ Content string } `json:"messages"`
		User     string                     `json:"user_id"`
		Metadata map[string]any             `json:"metadata"`
	}
	results := []any{}
	if json.Unmarshal(body, &a) != nil {
		return results
	}
	for i := range a.Messages {
		row := mem0Row{
			ID: fmt.Sprintf("%08d-0000-0000-0000-000000000000", len(m.rows)), Memory: a.Messages[i].Content, User: a.User,
			Created: time.Now().UTC().Format(time.RFC3339Nano), Metadata: a.Metadata,
		}
		m.rows = append(m.rows, row)
		results = append(results, map[string]any{"id": row.ID, "memory": row.Memory, "event": "ADD"})
	}
	return results
}
