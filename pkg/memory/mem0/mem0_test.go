package mem0_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/memory/mem0"
	"github.com/palimpsest-context/palimpsest/pkg/memory/memorytest"
)

func key() string { return secret }

func target(t testing.TB, o mem0.Options) *mem0.Target {
	t.Helper()
	if o.APIKey == nil {
		o.APIKey = key
	}
	out, err := mem0.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(out.Close)
	return out
}

// lose cuts the connection of the next add, after it was done.
func lose(f *fake) func(testing.TB, memory.Target) {
	return func(testing.TB, memory.Target) {
		times := 1
		f.mu.Lock()
		defer f.mu.Unlock()
		f.faults = func(r *http.Request) fault {
			if times > 0 && r.Method == http.MethodPost && (r.URL.Path == "/memories" || r.URL.Path == "/v3/memories/add/") {
				times--
				return fault{cut: true}
			}
			return fault{}
		}
	}
}

func TestTarget_Platform_KeepsTheContract(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	open := func(t testing.TB) memory.Target {
		return target(t, mem0.Options{Kind: mem0.Platform, BaseURL: p.http.URL})
	}
	memorytest.Run(t, open, memorytest.Options{Patience: 5 * time.Second, Lose: lose(p.fake)})
}

func TestTarget_Server_KeepsTheContract(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	open := func(t testing.TB) memory.Target {
		return target(t, mem0.Options{Kind: mem0.Server, BaseURL: s.http.URL})
	}
	memorytest.Run(t, open, memorytest.Options{Lose: lose(s)})
}
