package main

import (
	"crypto/sha256"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/palimpsest-context/palimpsest/internal/validate"
)

// outputTokens is what each summary is billed as.
const outputTokens = 500

// leastCached is from how many tokens on a provider caches at all.
const leastCached = 1024

// prefix is a sum over all that a request begins with, up to the end of a block.
type prefix [sha256.Size]byte

// provider is a model's provider as far as a bill goes: it knows the prefixes of all requests that agents and sidecar have sent it, and
// bills as cached what a request has in common with them. It writes the same text for each summary.
type provider struct {
	mu      sync.Mutex
	checker *validate.Checker
	count   validate.Counter
	known   map[prefix]struct{}
	asked   map[string]*bill // by model
}

// bill is what calls of a model came to.
type bill struct{ calls, input, cached, largest int64 }

func newProvider(count validate.Counter) (*provider, error) {
	checker, err := validate.NewChecker(validate.OpenAIChat, count)
	if err != nil {
		return nil, err
	}
	return &provider{checker: checker, count: count, known: map[prefix]struct{}{}, asked: map[string]*bill{}}, nil
}

// sent is told what an agent sends.
func (p *provider) sent(request string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var q question
	if json.Unmarshal([]byte(request), &q) == nil {
		p.take(&q)
	}
}

// question is a call of Chat Completions.
type question struct {
	Model    string          `json:"model"`
	Messages json.RawMessage `json:"messages"`
	Tools    json.RawMessage `json:"tools"`
}

// take counts the tokens of a request, and those among them that an earlier one began with, and remembers it.
func (p *provider) take(q *question) (all, cached int64) {
	at := prefix(sha256.Sum256(q.Tools))
	all = int64(p.count(string(q.Tools)))
	hit := true
	add := func() {
		if _, known := p.known[at]; hit && known {
			cached = all
			return
		}
		hit = false
		p.known[at] = struct{}{}
	}
	add()
	for _, b := range p.checker.Read(nil, q.Messages).Blocks {
		at = sha256.Sum256([]byte(string(at[:]) + b.Role + "\x00" + b.JSON))
		all += int64(b.Tokens)
		add()
	}
	if cached < leastCached {
		cached = 0
	}
	return all, cached
}

// ServeHTTP answers a call of Chat Completions.
func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var q question
	if err != nil || json.Unmarshal(body, &q) != nil {
		http.Error(w, "no request", http.StatusBadRequest)
		return
	}
	p.mu.Lock()
	all, cached := p.take(&q)
	b := p.asked[q.Model]
	if b == nil {
		b = &bill{}
		p.asked[q.Model] = b
	}
	b.calls, b.input, b.cached, b.largest = b.calls+1, b.input+all, b.cached+cached, max(b.largest, all)
	p.mu.Unlock()
	answer, _ := json.Marshal(map[string]string{"summary": strings.Repeat("What was done is done. ", 80)})
	_ = json.NewEncoder(w).Encode(map[string]any{
		"choices": []any{map[string]any{"message": map[string]any{"content": string(answer)}, "finish_reason": "stop"}},
		"usage": map[string]any{
			"prompt_tokens": all, "completion_tokens": outputTokens, "prompt_tokens_details": map[string]any{"cached_tokens": cached},
		},
	})
}
