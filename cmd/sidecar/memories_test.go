package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/cmd/sidecar/internal/config"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
)

// TestNewMemory_Mem0Server_ShowsTheKeyAsItIsNow: a key that is replaced counts from the next call on; one that cannot be read leaves the last.
func TestNewMemory_Mem0Server_ShowsTheKeyAsItIsNow(t *testing.T) {
	var shown string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		shown = r.Header.Get("X-Api-Key")
		_, _ = io.WriteString(w, `{"results":[]}`)
	}))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "key")
	s := &config.MemoryFlags{Memory: config.MemoryMem0Server, MemoryURL: server.URL, MemoryAPIKeyFile: file, MemoryTimeout: time.Second}
	if _, err := newMemory(t.Context(), s); err == nil {
		t.Error("a key that is not there is taken")
	}
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("one\n")
	if err := s.CheckMemory(); err != nil {
		t.Fatal(err)
	}
	made, err := newMemory(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	defer made.close()
	scope := memory.Scope{Namespace: "n", Kind: memory.ScopeUser, ID: "a"}
	for _, step := range []struct{ written, want string }{{"one", "one"}, {"two\n", "two"}, {"", "two"}} {
		write(step.written)
		if _, err := made.made(engine.MemorySources{}).Search(t.Context(), scope, &memory.Query{Text: "x", Limit: 1}); err != nil || shown != step.want {
			t.Errorf("shown %q, want %q: %v", shown, step.want, err)
		}
	}
}

func TestNewMemory_AgentCore_AsksNobody(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(t.TempDir(), "none"))
	made, err := newMemory(t.Context(), &config.MemoryFlags{Memory: config.MemoryAgentCore, MemoryID: "palimpsest-Ab3dE5fG7h", MemoryRegion: "eu-central-1"})
	if err != nil {
		t.Fatal(err)
	}
	defer made.close()
	if made.made(engine.MemorySources{}).Name() != config.MemoryAgentCore {
		t.Errorf("it is %s", made.made(engine.MemorySources{}).Name())
	}
}
