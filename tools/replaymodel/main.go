// Command replaymodel replays recorded conversations against a sidecar whose summaries a model writes, and says what these calls add to
// the bill: asked behind the live prefix, and given the span as data. The model is a fake that bills as providers do. It fails where a bar
// is missed.
//
//	replaymodel SIDECAR FILE...
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/palimpsest-context/palimpsest/internal/policies"
	"github.com/palimpsest-context/palimpsest/internal/replay"
	"github.com/palimpsest-context/palimpsest/internal/replay/report"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
	"github.com/palimpsest-context/palimpsest/pkg/tokens/bpe"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: replaymodel SIDECAR FILE...")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Args[1], os.Args[2:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// The models: the agent's own, and that of spans.
const (
	agentModel = "replay-agent"
	spanModel  = "replay-spans"
)

// The ways of asking.
const (
	none  = "none" // nobody is asked: the history in full
	live  = "live prefix"
	spans = "span as data"
)

// mostLive is what summaries behind the live prefix may add at most, as a share of the cost of none.
const mostLive = 0.03

// window is a context window, and the caps that balanced is played at in it.
type window struct {
	tokens int32
	caps   []int // in thousands of tokens; 0 is the window itself
	barred bool
}

// windows are the one that agents have, and a small one, in which views are summarized most often.
var windows = []window{{tokens: 131_072, caps: []int{42, 45, 48, 51, 54}, barred: true}, {tokens: 8_192, caps: []int{0}}}

func run(ctx context.Context, sidecar string, files []string, stdout io.Writer) error {
	folder, err := os.MkdirTemp("", "replaymodel")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	counter, err := bpe.New(bpe.O200k)
	if err != nil {
		return err
	}
	var missed []error
	for _, w := range windows {
		for _, file := range files {
			p := &play{sidecar: sidecar, folder: folder, file: file, window: w, counter: counter}
			if err := p.run(ctx); err != nil {
				return fmt.Errorf("%s at %d: %w", file, w.tokens, err)
			}
			missed = append(missed, p.print(stdout)...)
		}
	}
	return errors.Join(missed...)
}

// play is one file in one window, and what it came to under each way of asking.
type play struct {
	sidecar, folder, file string
	window                window
	counter               tokens.Counter
	none                  *report.Report
	ways                  []result
	broken                []error
}

// result is the mean over the caps of a way of asking.
type result struct {
	*report.Report
	way   string
	asked map[string]*bill
}

// run plays the file under each way of asking in turn, with a sidecar and a provider of its own: what one has cached is no help to the
// next.
func (p *play) run(ctx context.Context) error {
	for _, way := range []string{none, live, spans} {
		r, err := p.under(ctx, way)
		switch {
		case err != nil:
			return err
		case way == none:
			p.none = r.Report
		default:
			p.ways = append(p.ways, r)
		}
	}
	return nil
}

func (p *play) under(ctx context.Context, way string) (out result, err error) {
	fake, err := newProvider(func(text string) int { n, _ := p.counter.Count(text); return n })
	if err != nil {
		return out, err
	}
	server := httptest.NewServer(fake)
	defer server.Close()
	address, stop, err := p.serve(ctx, server.URL)
	if err != nil {
		return out, err
	}
	defer stop()
	c := &replay.Command{
		Files: []string{p.file}, Address: address, Format: "openai-chat", Window: p.window.tokens, Alone: true, JSON: true,
		Sample: 1, Join: 1, Model: agentModel, Parallel: 2, Policy: []string{none},
	}
	if sample, err := strconv.Atoi(os.Getenv("SAMPLE")); err == nil {
		c.Sample = sample
	}
	if way != none {
		if c.Policy, err = p.policies(way); err != nil {
			return out, err
		}
	}
	var printed bytes.Buffer
	env := &replay.Env{Counter: p.counter, Stdout: &printed, Stderr: io.Discard, Sent: fake.sent}
	if err := c.Run(ctx, env); errors.Is(err, report.ErrJudged) {
		p.broken = append(p.broken, err)
	} else if err != nil {
		return out, err
	}
	var first report.Report
	err = json.Unmarshal(printed.Bytes(), &first)
	return result{report.Mean(first.All()), way, fake.asked}, err
}

var fit = regexp.MustCompile(`(?m)^  fit:.*\n`)

// policies writes balanced at each cap, asking in one way. It waits for models, as a replay has nothing else to do.
func (p *play) policies(way string) (files []string, err error) {
	for _, thousands := range p.window.caps {
		text := strings.Replace(policies.Text("balanced"), "compaction: {", fmt.Sprintf("compaction: {live_prefix: %v, ", way == live), 1)
		text = strings.TrimSpace(fit.ReplaceAllString(text, ""))
		if thousands > 0 {
			text += fmt.Sprintf("\n  fit: {max_context_tokens: %d000}", thousands)
		}
		file := filepath.Join(p.folder, fmt.Sprintf("%s-%d.yaml", way, thousands))
		files, err = append(files, file), errors.Join(err, os.WriteFile(file, []byte(text+"\n  max_wait: 30s\n"), 0o600))
	}
	return files, err
}

// serve starts a sidecar that reaches the provider, and allows the agent's model the live prefix.
func (p *play) serve(ctx context.Context, url string) (address string, stop func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	address = "unix://" + filepath.Join(p.folder, "sidecar.sock")
	server := exec.CommandContext(ctx, p.sidecar, "serve", "--store", "memory", "--listen", address, "--log-level", "error",
		"--openai-url", url, "--summary-models", "openai/"+spanModel, "--summary-tokens-per-minute", "0", "--summary-tokens-per-conversation", "0")
	server.Stderr = os.Stderr
	server.Cancel = func() error { return server.Process.Signal(os.Interrupt) }
	if err := server.Start(); err != nil {
		cancel()
		return "", nil, err
	}
	stop = func() { cancel(); _ = server.Wait() }
	for range 100 {
		put := exec.CommandContext(ctx, p.sidecar, "model", "put", agentModel, "--address", address, "--live-prefix",
			"--input-price", "1", "--cache-read-price", "0.1", "--cache-write-price", "1.25", "--output-price", "5")
		var said []byte
		if said, err = put.CombinedOutput(); err == nil {
			return address, stop, nil
		}
		err = fmt.Errorf("%w: %s", err, said)
		time.Sleep(100 * time.Millisecond)
	}
	stop()
	return "", nil, err
}

// print says what was found, and returns the bars that were missed.
func (p *play) print(w io.Writer) (missed []error) {
	name := filepath.Base(filepath.Dir(p.file))
	for _, r := range p.ways {
		own, whole := r.OwnCalls, p.none.CostWith
		_, _ = fmt.Fprintf(w, "%-16s %6d  %-12s  adds %.4f of none's cost, %.3f in all; %d calls for %d summaries, %d tokens each, %.2f of them cached; %d degraded\n",
			name, p.window.tokens, r.way, own.Cost/whole, r.CostWith/whole, own.Calls, r.Compactions.Summaries,
			own.InputTokens/max(own.Calls, 1), report.Share(own.CacheReadTokens, own.InputTokens), r.LetGo.Degraded)
		for model, b := range r.asked {
			_, _ = fmt.Fprintf(w, "%40s: %d calls, %d tokens, %d cached, %d at most\n", model, b.calls, b.input, b.cached, b.largest)
		}
		switch {
		case r.way != live || !p.window.barred:
		case own.Calls == 0 || own.CacheReadTokens == 0:
			missed = append(missed, fmt.Errorf("%s: no summary was asked for behind the live prefix", name))
		case own.Cost/whole > mostLive:
			missed = append(missed, fmt.Errorf("%s: summaries behind the live prefix add %.4f of none's cost, at most %.2f", name, own.Cost/whole, mostLive))
		}
	}
	return append(missed, p.broken...)
}
