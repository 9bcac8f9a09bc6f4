package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/tokens/bpe"
)

// TestPlay_Run_BothWaysAreAskedAndBilled: a play reaches the agent's own model behind what it has cached, and that of spans without.
func TestPlay_Run_BothWaysAreAskedAndBilled(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command")
	}
	folder, err := os.MkdirTemp("", "play") // a socket's path may have about a hundred bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	sidecar, file := filepath.Join(folder, "sidecar"), filepath.Join(folder, "runs.jsonl")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", sidecar, "../../cmd/sidecar").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	messages := []string{`{"role": "system", "content": "You count."}`}
	for i := range 40 {
		words := strings.Repeat(fmt.Sprintf("word%d of the story ", i), 60)
		messages = append(messages, fmt.Sprintf(`{"role": "user", "content": %q}`, words), `{"role": "assistant", "content": "Counted."}`)
	}
	run := fmt.Sprintf(`{"id": "a", "messages": [%s], "tools": [{"name": "count"}]}`, strings.Join(messages, ", "))
	if err := os.WriteFile(file, []byte(run), 0o600); err != nil {
		t.Fatal(err)
	}
	counter, err := bpe.New(bpe.O200k)
	if err != nil {
		t.Fatal(err)
	}
	p := &play{sidecar: sidecar, folder: folder, file: file, window: window{tokens: 8_192, caps: []int{0}}, counter: counter}
	if err := p.run(t.Context()); err != nil || len(p.broken) > 0 || len(p.ways) != 2 {
		t.Fatalf("%v, %+v", err, p)
	}
	behind, without := p.ways[0].OwnCalls, p.ways[1].OwnCalls
	if behind.Calls == 0 || behind.CacheReadTokens < behind.InputTokens/2 || without.Calls == 0 || without.CacheReadTokens > without.InputTokens/2 {
		t.Errorf("behind the prefix %+v, without %+v", behind, without)
	}
}
