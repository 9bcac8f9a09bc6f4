package replay

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/palimpsest-context/palimpsest/internal/policies"
	"github.com/palimpsest-context/palimpsest/internal/replay/report"
	"github.com/palimpsest-context/palimpsest/test/faults/process"
)

const (
	minFill         = 0.65 // pooled over everything
	minStablePrefix = 0.90 // on mini_swe_agent at 32k
)

// sidecarProcess serves with the real command, and returns where it listens.
func sidecarProcess(t *testing.T) string {
	t.Helper()
	binary, err := process.Build(t.TempDir(), "../..")
	if err != nil {
		t.Fatal(err)
	}
	sidecar := exec.CommandContext(t.Context(), binary, "serve", "--listen", "127.0.0.1:0", "--data-dir", t.TempDir())
	sidecar.Env = append(os.Environ(), "GOGC=400") // nobody looks at its memory here
	log, err := sidecar.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := sidecar.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = sidecar.Process.Signal(os.Interrupt)
		_ = sidecar.Wait()
	})
	lines := bufio.NewReader(log)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			t.Fatalf("the sidecar ended before it listened: %v", err)
		}
		var entry struct {
			Msg       string   `json:"msg"`
			Addresses []string `json:"addresses"`
		}
		if json.Unmarshal(line, &entry) == nil && entry.Msg == "ready" && len(entry.Addresses) > 0 {
			go func() { _, _ = io.Copy(io.Discard, lines) }()
			return entry.Addresses[0]
		}
	}
}

// replayed plays a tenth of the files and returns the report.
func replayed(t *testing.T, address string, files []string, window int32, format string, change ...func(*Command)) *report.Report {
	t.Helper()
	c := &Command{Files: files, Address: address, Format: format, Window: window, Sample: 10, Join: 1, Parallel: 2, JSON: true}
	for _, f := range change {
		f(c)
	}
	var out bytes.Buffer
	if err := c.Run(t.Context(), &Env{Counter: o200k(), Stdout: &out, Stderr: io.Discard}); err != nil && !errors.Is(err, report.ErrJudged) {
		t.Fatal(err)
	}
	r := &report.Report{}
	if err := json.Unmarshal(out.Bytes(), r); err != nil {
		t.Fatal(err)
	}
	for _, r := range r.All() {
		if broken := r.Broken(); len(broken) > 0 {
			t.Errorf("window %d, %s, %s: %v: %+v", window, format, r.Policy, broken, r.Examples)
		}
	}
	return r
}

// alone plays under these policies, and none only if it is one of them.
func alone(names ...string) func(*Command) {
	return func(c *Command) { c.Policy, c.Alone = names, true }
}

// recordedData is the folder with recorded conversations, and their files.
func recordedData(t *testing.T) (data string, files []string) {
	t.Helper()
	if data = os.Getenv("PALIMPSEST_DATA"); data == "" {
		t.Skip("PALIMPSEST_DATA names no folder with recorded conversations")
	}
	if testing.Short() {
		t.Skip("the recorded conversations take a minute or two")
	}
	files, err := filepath.Glob(filepath.Join(data, "*", "conversations.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no conversations under PALIMPSEST_DATA (%v)", err)
	}
	return data, files
}

// TestReplay_SampleOfData plays a tenth of all recorded conversations through the real sidecar, each at four windows and in four formats,
// with nothing but the window's limit at work. Of the sixteen pairs each recording meets four, and each pair some recordings: all meet
// all in `make replay-all`.
func TestReplay_SampleOfData(t *testing.T) {
	data, files := recordedData(t)
	address := sidecarProcess(t)
	var filled, room int64
	formats := []string{"openai-chat", "openai-responses", "anthropic", "gemini"}
	for w, window := range []int32{4096, 8192, 32768, 131072} {
		for f, format := range formats {
			var some []string // the same together at every window, so that the same conversations are a tenth of them
			for i, file := range files {
				if (i+w)%len(formats) == f {
					some = append(some, file)
				}
			}
			r := replayed(t, address, some, window, format, alone(policies.None))
			if r.Builds == 0 {
				t.Errorf("window %d, %s: nothing was built", window, format)
			}
			filled, room = filled+r.FilledTokens, room+r.FilledRoom
		}
	}
	if fill := report.Share(filled, room); fill < minFill {
		t.Errorf("contexts that something was left out of fill %.1f %% of their budget, want %.0f %%", 100*fill, 100*minFill)
	}
	coding := []string{filepath.Join(data, "mini_swe_agent", "conversations.jsonl")}
	if r := replayed(t, address, coding, 32768, "anthropic", alone(policies.None)); r.StablePrefixShare < minStablePrefix {
		t.Errorf("%.1f %% of the coding runs' tokens are a stable prefix, want %.0f %%", 100*r.StablePrefixShare, 100*minStablePrefix)
	}
}
