package mem0_test

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/palimpsest-context/palimpsest/pkg/memory/mem0/mem0test"
)

const secret = "m0-a-key-of-tests"

// fake is what the two fake services share: memories, faults, who may ask.
type fake struct {
	*mem0test.Faults
	t   testing.TB
	url string

	mu   sync.Mutex
	rows []*stored
	next int
	lag  time.Duration // until what was inferred is there
}

// stored is a memory. The metadata are as they were sent.
type stored struct {
	id, text, user, agent, by string
	metadata                  map[string]any
	created                   time.Time
	ready                     time.Time
}

// start serves a fake. answer is called under the lock.
func start(t testing.TB, header, prefix string, answer func(f *fake, r *http.Request, body map[string]any) (int, any)) *fake {
	f := &fake{t: t}
	f.Faults = mem0test.Before(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		var body map[string]any
		var status int
		var out any
		switch {
		case r.Header.Get(header) != prefix+secret:
			status, out = http.StatusUnauthorized, map[string]any{"detail": "Invalid API key."}
		case len(text) > 0 && json.Unmarshal(text, &body) != nil:
			status, out = http.StatusBadRequest, map[string]any{"detail": "no JSON"}
		default:
			f.mu.Lock()
			status, out = answer(f, r, body)
			f.mu.Unlock()
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(out)
	}))
	served := httptest.NewServer(f.Faults)
	t.Cleanup(served.Close)
	f.url = served.URL
	return f
}

func (f *fake) uuid() string {
	f.next++
	sum := sha256.Sum256(fmt.Append(nil, f.next))
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

// add keeps what an add sends: every message, or, where it infers, the sentences of users that are not there yet.
func (f *fake) add(body map[string]any) (added []*stored) {
	user, agent := as[string](body["user_id"]), as[string](body["agent_id"])
	metadata := as[map[string]any](body["metadata"])
	infer := body["infer"] != false
	for _, m := range as[[]any](body["messages"]) {
		role, text := as[string](as[map[string]any](m)["role"]), as[string](as[map[string]any](m)["content"])
		texts := []string{text}
		if infer {
			texts = sentences(text)
		}
		for _, text := range texts {
			if infer && (role != "user" && agent == "" || f.has(user, agent, text)) {
				continue
			}
			s := &stored{id: f.uuid(), text: text, user: user, agent: agent, by: role, metadata: metadata, created: time.Now()}
			s.ready = s.created
			if infer {
				s.ready = s.created.Add(f.lag)
			}
			added = append(added, s)
			f.rows = append(f.rows, s)
		}
	}
	return added
}

func (f *fake) has(user, agent, text string) bool {
	return slices.ContainsFunc(f.rows, func(s *stored) bool { return s.user == user && s.agent == agent && s.text == text })
}

// sentences are what a model might draw from a text.
func sentences(text string) (out []string) {
	for line := range strings.Lines(text) {
		for len(line) > 0 {
			end := len(line)
			if at := strings.Index(line, ". "); at >= 0 {
				end = at + 1
			}
			if s := strings.TrimSpace(line[:end]); len(strings.Fields(s)) > 2 {
				out = append(out, s)
			}
			line = strings.TrimSpace(line[end:])
		}
	}
	return out
}

// visible are the memories that filters select and that are there by now.
func (f *fake) visible(match func(*stored) bool) (out []*stored) {
	for _, s := range f.rows {
		if !s.ready.After(time.Now()) && match(s) {
			out = append(out, s)
		}
	}
	return out
}

func (f *fake) drop(match func(*stored) bool) { f.rows = slices.DeleteFunc(f.rows, match) }

type hit struct {
	*stored
	score float64
}

// search scores memories by the share of the query's words that they have.
func search(rows []*stored, query string, threshold float64, most int) (out []hit) {
	words := func(s string) []string {
		return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	}
	asked := words(query)
	for _, s := range rows {
		has, n := words(s.text), 0
		for _, w := range asked {
			if slices.Contains(has, w) {
				n++
			}
		}
		if score := float64(n) / float64(max(len(asked), 1)); score >= threshold {
			out = append(out, hit{s, score})
		}
	}
	slices.SortStableFunc(out, func(a, b hit) int { return cmp.Compare(b.score, a.score) })
	return out[:min(len(out), most)]
}

// as is a value of JSON; the zero value where it is another.
func as[T any](v any) T {
	out, _ := v.(T)
	return out
}

func number(v any, otherwise float64) float64 {
	if n, ok := v.(float64); ok {
		return n
	}
	return otherwise
}
