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
	"strconv"
	"time"

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
	for _, w := range windows() {
		for _, file := range files {
			p := &play{sidecar: sidecar, folder: folder, file: file, window: w, counter: counter}
			found, err := p.run(ctx)
			if err != nil {
				return fmt.Errorf("%s at %d: %w", file, w.tokens, err)
			}
			missed = append(missed, found.print(stdout)...)
		}
	}
	return errors.Join(missed...)
}

// play is one file in one window, under all policies of it, with a sidecar and a provider of its own.
type play struct {
	sidecar, folder, file string
	window                window
	counter               tokens.Counter
}

// run plays the file under each way of asking in turn, so that what one has cached is no help to the next.
func (p *play) run(ctx context.Context) (*result, error) {
	out := &result{file: p.file, window: p.window}
	for _, way := range p.window.ways() {
		if err := p.one(ctx, way, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// one plays the file under the policies of one way of asking.
func (p *play) one(ctx context.Context, way way, into *result) error {
	fake, err := newProvider(func(text string) int { n, _ := p.counter.Count(text); return n })
	if err != nil {
		return err
	}
	server := httptest.NewServer(fake)
	defer server.Close()
	address, stop, err := p.serve(ctx, server.URL)
	if err != nil {
		return err
	}
	defer stop()
	var policies []string
	for i, text := range way.policies {
		file := filepath.Join(p.folder, fmt.Sprintf("%s-%d.yaml", way.name, i))
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return err
		}
		policies = append(policies, file)
	}
	if way.name == none {
		policies = []string{none}
	}
	sample, err := strconv.Atoi(os.Getenv("SAMPLE"))
	if err != nil {
		sample = 1
	}
	c := &replay.Command{
		Files: []string{p.file}, Address: address, Format: "openai-chat", Window: p.window.tokens, Policy: policies, Alone: true, JSON: true,
		Sample: sample, Join: 1, Model: agentModel, Parallel: 2,
	}
	var printed bytes.Buffer
	env := &replay.Env{Counter: p.counter, Stdout: &printed, Stderr: io.Discard, Sent: fake.sent}
	if err := c.Run(ctx, env); err != nil && !errors.Is(err, report.ErrJudged) {
		return err
	} else if err != nil {
		into.broken = append(into.broken, err)
	}
	var first report.Report
	if err := json.Unmarshal(printed.Bytes(), &first); err != nil {
		return err
	}
	into.add(way.name, first.All(), fake.asked)
	return nil
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
