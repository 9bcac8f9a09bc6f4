package bpe

import (
	"encoding/base64"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/internal/testlane"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
)

func newCounter(t testing.TB, name string) *Counter {
	t.Helper()
	c, err := New(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestNew_UnknownName_Refuses(t *testing.T) {
	for _, name := range []string{"", "o200k_base", "chars4"} {
		if c, err := New(name); err == nil || c != nil {
			t.Errorf("New(%q) = %v, %v; want an error", name, c, err)
		}
	}
}

func TestCounter_Count_KnownTexts(t *testing.T) {
	tests := []struct {
		name, text    string
		o200k, cl100k int
	}{
		{"empty", "", 0, 0},
		{"word", "hello", 1, 1},
		{"sentence", "hello world", 2, 2},
		{"special token is text", "<|endoftext|>", 7, 7},
		{"contraction", "don't", 1, 2},
		{"control character", "\x7f", 1, 1},
		{"blank lines are one piece", " \n \n", 1, 1},
		{"invalid UTF-8 is the replacement character", "\xff", 1, 1},
	}
	counters := map[string]*Counter{O200k: newCounter(t, O200k), Cl100k: newCounter(t, Cl100k)}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for name, want := range map[string]int{O200k: tt.o200k, Cl100k: tt.cl100k} {
				if counters[name].Name() != name {
					t.Errorf("Name() = %q, want %q", counters[name].Name(), name)
				}
				if n, estimated := counters[name].Count(tt.text); n != want || estimated {
					t.Errorf("%s: Count(%q) = %d, %v; want %d, false", name, tt.text, n, estimated, want)
				}
			}
		})
	}
}

func TestCounter_Count_SamplesLargeTexts(t *testing.T) {
	counter := newCounter(t, O200k)
	exact := counter.load().count
	for path, text := range recordings(t) {
		if len(text) <= tokens.SampleAbove {
			continue
		}
		n, estimated := counter.Count(text)
		want := exact(text)
		off := 100 * float64(n-want) / float64(want)
		t.Logf("%s: %d KiB, %d tokens, estimate off by %+.2f %%", path, len(text)>>10, want, off)
		if !estimated || off < -2 || off > 2 {
			t.Errorf("%s: Count = %d, %v; want within 2 %% of %d", path, n, estimated, want)
		}
	}
}

// recordings returns real logs, JSON results, pages and conversations by path.
func recordings(t *testing.T) map[string]string {
	t.Helper()
	root := os.Getenv("PALIMPSEST_DATA")
	if root == "" {
		t.Skip("PALIMPSEST_DATA is not set: no real text to measure against")
	}
	found := map[string]string{}
	for _, pattern := range []string{"loghub/*.log", "json_api/*.json", "html_docs/*.html", "*/conversations.jsonl", "xquad/*.jsonl", "covidqa/*.jsonl"} {
		paths, _ := filepath.Glob(filepath.Join(root, pattern))
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			name, _ := filepath.Rel(root, path)
			found[name] = string(text)
		}
	}
	return found
}

// hostile returns texts that are hard to split or merge, of about size bytes.
func hostile(size int) map[string]string {
	noise := make([]byte, size)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	repeat := func(s string) string { return strings.Repeat(s, size/len(s)) }
	return map[string]string{
		"one letter": repeat("a"), "one capital": repeat("A"), "two cases": repeat("Aa"), "digits": repeat("1"),
		"spaces": repeat(" "), "lines": repeat("\n"), "mixed space": repeat(" \n"), "mixed space and letter": repeat(" \n") + "a",
		"punctuation": repeat("!"), "slashes": repeat("!\n/"), "marks": repeat("\u0301"), "mark and capital": repeat("\u0301A"),
		"caseless and capital": repeat("漢A"), "Chinese": repeat("漢字仮名交文"), "emoji": repeat("😀"), "contractions": repeat("'s"),
		"base64": base64.StdEncoding.EncodeToString(noise)[:size], "bytes": string(noise), "no UTF-8": repeat("\xff"),
	}
}

// A quadratic rule would take 256 times as long for 16 times the text, a linear
// one 16 times; the bound lies between, far from both, because machines are
// noisy.
func TestCounter_Count_StaysNearLinear(t *testing.T) {
	testlane.Speed(t)
	const small, large = 16 << 10, 256 << 10
	for _, name := range []string{O200k, Cl100k} {
		count := newCounter(t, name).load().count
		shorts := hostile(small)
		for kind, text := range hostile(large) {
			count(shorts[kind])
			before := timed(func() { count(shorts[kind]) })
			after := timed(func() { count(text) })
			t.Logf("%s: %s: %v for 16 KiB, %v for 256 KiB", name, kind, before, after)
			if after > 100*max(before, time.Millisecond) {
				t.Errorf("%s: %s: %v for 16 KiB, but %v for 256 KiB", name, kind, before, after)
			}
		}
	}
}

// timed returns the fastest of three times.
func timed(f func()) time.Duration {
	best := time.Hour
	for range 3 {
		start := time.Now()
		f()
		best = min(best, time.Since(start))
	}
	return best
}

func TestCounter_Count_ConcurrentFirstUse(t *testing.T) {
	counter := newCounter(t, O200k)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if n, _ := counter.Count("hello world"); n != 2 {
				t.Errorf("Count = %d, want 2", n)
			}
		})
	}
	group.Wait()
}

func TestCounter_Count_ShortTextAllocatesNothing(t *testing.T) {
	counter := newCounter(t, O200k)
	text := message(2 << 10)
	counter.Count(text)
	if n := testing.AllocsPerRun(10, func() { counter.Count(text) }); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

// message returns text of the given size as agents write it: prose, a path,
// code, JSON.
func message(size int) string {
	const text = "I'll read pkg/theme/theme.go first, then port the selector.\n\n```go\nfunc (s *Selector) Next() (int, error) {\n\treturn s.index + 1, nil\n}\n```\n{\"user_id\": \"james_lee_6136\", \"amount\": 88.5}\n"
	return strings.Repeat(text, size/len(text)+1)[:size]
}

func BenchmarkCounter_Count(b *testing.B) {
	counter := newCounter(b, O200k)
	for _, size := range []struct {
		name  string
		bytes int
	}{{"200B", 200}, {"2KiB", 2 << 10}, {"256KiB", 256 << 10}, {"5MiB", 5 << 20}} {
		text := message(size.bytes)
		counter.Count(text)
		b.Run(size.name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				counter.Count(text)
			}
		})
	}
}

func BenchmarkCounter_Count_Hostile(b *testing.B) {
	counter := newCounter(b, O200k)
	for kind, text := range hostile(5 << 20) {
		b.Run(kind, func(b *testing.B) {
			for b.Loop() {
				counter.Count(text)
			}
		})
	}
}

func BenchmarkCounter_FirstCount(b *testing.B) {
	for b.Loop() {
		newCounter(b, O200k).Count("a")
	}
}
