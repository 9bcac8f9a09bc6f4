// Package demo is the command that shows the sidecar at work: a scripted agent with real tools explores a tree of sources over
// gRPC, and what the model would see is printed turn by turn. It needs no key and no network.
package demo

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/palimpsest-context/palimpsest/internal/dial"
)

// Command is `sidecar demo`.
type Command struct {
	Address string        `help:"The sidecar to use, host:port or unix:///path; by default one of its own, with a store in a temporary folder."`
	Window  int32         `help:"The model's context window in tokens." default:"32768"`
	Format  string        `help:"The provider's format to build for." default:"openai-chat" enum:"neutral,openai-chat,openai-responses,anthropic,gemini"`
	Tree    string        `help:"The folder that the agent explores; by default Go's own sources." type:"existingdir"`
	Pace    time.Duration `help:"How long to rest after each turn on a terminal." default:"120ms"`
	ASCII   bool          `name:"ascii" help:"Draw without Unicode; the default where the locale is not UTF-8."`
}

// Env is what a Command needs from the program around it.
type Env struct {
	// Start runs a sidecar on a free port, with the embedded store in a temporary folder, and returns its address. Stop ends it
	// and removes the folder. It is called at most once, and not with --address.
	Start func(ctx context.Context) (address string, stop func(), err error)
	// Stdout gets the demo. Colors and pauses are for a terminal alone.
	Stdout io.Writer
}

// smallestWindow leaves room for the system prompt, a question and a clipped result.
const smallestWindow = 4096

// Run plays the whole demo. It fails if anything that the sidecar promises does not hold.
func (c *Command) Run(ctx context.Context, env *Env) error {
	if c.Window < smallestWindow {
		return fmt.Errorf("a window of %d tokens is too small for the demo: at least %d", c.Window, smallestWindow)
	}
	explored, err := openTree(ctx, c.Tree)
	if err != nil {
		return err
	}
	defer explored.close()
	address, stop := c.Address, func() {}
	if address == "" {
		if address, stop, err = env.Start(ctx); err != nil {
			return fmt.Errorf("starting a sidecar: %w", err)
		}
	}
	defer stop()
	connection, err := dial.Plain(address, timeout)
	if err != nil {
		return err
	}
	defer func() { _ = connection.Close() }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a := newAgent(newScreen(env.Stdout, c.Pace, c.ASCII), newClient(connection, c.Window), explored, c.Format, cancel)
	a.opening(c)
	a.explore(ctx)
	a.showCitations(ctx)
	a.summary()
	a.prove(ctx)
	if c.Address != "" {
		a.Paragraph("The conversation stays on record as %s.", a.sidecar.conversation)
	}
	return a.err
}
