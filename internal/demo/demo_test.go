package demo

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"

	"github.com/palimpsest-context/palimpsest/internal/access"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver"
	"github.com/palimpsest-context/palimpsest/internal/testlane"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/provider/anthropic"
	"github.com/palimpsest-context/palimpsest/pkg/provider/gemini"
	"github.com/palimpsest-context/palimpsest/pkg/provider/neutral"
	"github.com/palimpsest-context/palimpsest/pkg/provider/openaichat"
	"github.com/palimpsest-context/palimpsest/pkg/provider/openairesponses"
	"github.com/palimpsest-context/palimpsest/pkg/store/bolt"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
	"github.com/palimpsest-context/palimpsest/pkg/summarize/extractive"
	"github.com/palimpsest-context/palimpsest/pkg/summarize/extractive/span"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
	"github.com/palimpsest-context/palimpsest/pkg/tokens/bpe"
)

// o200k is the default's counter. It is shared, because its vocabulary takes long to load.
var o200k = sync.OnceValue(func() tokens.Counter {
	counter, err := bpe.New(bpe.O200k)
	if err != nil {
		panic(err) // it is embedded
	}
	return counter
})

// sidecar starts a server in this process.
func sidecar(t *testing.T) func(context.Context) (string, func(), error) {
	return func(ctx context.Context) (string, func(), error) {
		kept, err := bolt.Open(filepath.Join(t.TempDir(), "demo.db"), bolt.Options{})
		if err != nil {
			return "", nil, err
		}
		server := grpcserver.New(grpcserver.Options{Authenticator: access.AllowAll("default"), Log: zaptest.NewLogger(t, zaptest.Level(zap.WarnLevel)), Engine: engine.New(engine.Options{
			Store: kept, Counters: []tokens.Counter{o200k()}, Clock: time.Now, IDs: randomID, CacheBytes: 64 << 20,
			Summaries: summarize.New(summarize.Options{Extract: extractive.Extract, ExtractSpan: span.Extract}),
			Formats:   []provider.Format{neutral.New(), openaichat.New(), openairesponses.New(), anthropic.New(), gemini.New()},
		})})
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return "", nil, err
		}
		served := make(chan error, 1)
		go func() { served <- server.Serve(listener) }()
		stop := func() {
			if err := errors.Join(server.Shutdown(ctx), <-served, kept.Close()); err != nil {
				t.Error(err)
			}
		}
		return listener.Addr().String(), stop, nil
	}
}

func randomID() (id conversation.ID) {
	_, _ = rand.Read(id[:])
	return id
}

func play(t *testing.T, c *Command) string {
	t.Helper()
	var out bytes.Buffer
	if err := c.Run(t.Context(), &Env{Start: sidecar(t), Stdout: &out}); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	return out.String()
}

// TestCommand_Run_AnyTree plays a script that is planned for a tree nobody has seen: here, the packages of this repository. All of it may
// hold what builds and virtual environments have left.
func TestCommand_Run_AnyTree(t *testing.T) {
	// Words may be broken over lines.
	lines := play(t, &Command{Window: 16384, Format: "anthropic", Tree: "../../pkg", ASCII: true})
	for line := range strings.Lines(lines) {
		if len(line) > 101 || strings.ContainsFunc(line, func(r rune) bool { return r > '~' }) {
			t.Errorf("not ASCII, or too long: %s", line)
		}
	}
	shown := strings.Join(strings.Fields(lines), " ")
	for _, want := range []string{
		"turn 35", "clipped", "pruned", "Extract of the conversation", "rewound", "messages of its range", "compacted", "cleared", "retention", "expand_message #", "restored", "no such file", "byte for byte", "was built again",
		"with large results cited", "retrieve_content {", "asked again", "and the passage in it", "results are cited",
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("nothing says %q", want)
		}
	}
}

func TestCommand_Run_SmallWindow_Refuses(t *testing.T) {
	err := (&Command{Window: smallestWindow - 1, Format: "gemini"}).Run(t.Context(), &Env{Stdout: &bytes.Buffer{}})
	if err == nil || !strings.Contains(err.Error(), "too small") {
		t.Errorf("got %v", err)
	}
}

func TestCommand_Run_EmptyTree_Refuses(t *testing.T) {
	err := (&Command{Window: smallestWindow, Format: "gemini", Tree: t.TempDir()}).Run(t.Context(), &Env{Stdout: &bytes.Buffer{}})
	if err == nil || !strings.Contains(err.Error(), "--tree") {
		t.Errorf("got %v", err)
	}
}

// TestCommand_Run_GoTree plays the demo as it ships, and keeps a copy where PALIMPSEST_DEMO_OUT says.
func TestCommand_Run_GoTree(t *testing.T) {
	testlane.OneCaller(t)
	if goroot(t.Context()) == "" {
		t.Skip("Go's sources are not installed here")
	}
	for _, format := range []string{"openai-chat", "neutral"} {
		t.Run(format, func(t *testing.T) {
			shown := play(t, &Command{Window: 32768, Format: format})
			for _, want := range []string{
				"turn 37", "clipped", "compacted", "cleared", "removed", "retention", "waiting", "[Extract of", "the view stays",
				"back in full", "pruned", "Old tool result content cleared", "Extract of the conversation", "changed: summarized", "rewound",
				"changed: rewound", " summaries\n", "\n  by expiry  ", "\n  by pruning  ", "\n  by compaction  ", "messages of its range", "still message", "byte for byte", "was built again",
				"with large results cited", "the sidecar, large results cited", "[More: retrieve_content(", "retrieve_content {", "and the passage in it", "results are cited",
			} {
				if !strings.Contains(shown, want) {
					t.Errorf("nothing says %q", want)
				}
			}
			if strings.Contains(shown, "\x1b") {
				t.Error("colors in what is no terminal")
			}
			if file := os.Getenv("PALIMPSEST_DEMO_OUT"); file != "" {
				if err := os.WriteFile(file+"."+format, []byte(shown), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// TestCommand_Run_NothingAnswers_FailsAndShowsNoTurn: what fails first is said, and what would follow is not shown.
func TestCommand_Run_NothingAnswers_FailsAndShowsNoTurn(t *testing.T) {
	var out bytes.Buffer
	err := (&Command{Window: smallestWindow, Format: "gemini", Tree: "../../pkg", Address: "127.0.0.1:1"}).Run(t.Context(), &Env{Stdout: &out})
	if err == nil || !strings.Contains(err.Error(), "127.0.0.1:1") || strings.Contains(out.String(), "what it came to") || strings.Contains(out.String(), "turn 1") {
		t.Errorf("%v\n%s", err, out.String())
	}
}
