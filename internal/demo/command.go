// Package demo is the command that shows the sidecar at work: a scripted agent with real tools explores a tree of sources over
// gRPC, and what the model would see is printed turn by turn. It needs no key and no network.
package demo

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"strings"
	"time"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/dial"
	"github.com/palimpsest-context/palimpsest/internal/inspect/sheet"
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

// timeout bounds every call.
const timeout = 20 * time.Second

// widest is how many columns are used: longer lines are hard to read.
const widest = 120

// Run plays the whole demo. It fails if anything that the sidecar promises does not hold.
func (c *Command) Run(ctx context.Context, env *Env) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case failure:
			err = p.error
		default:
			panic(p)
		}
	}()
	require(c.Window >= smallestWindow, "a window of %d tokens is too small for the demo: at least %d", c.Window, smallestWindow)
	explored := openTree(ctx, c.Tree)
	address := c.Address
	if address == "" {
		started, stop, err := env.Start(ctx)
		address = must(started, err)
		defer stop()
	}
	connection := must(dial.Plain(address, timeout))
	defer func() { _ = connection.Close() }()
	id := "demo-" + rand.Text()
	p := &player{
		Labels:                    &sheet.Labels{Sheet: sheet.New(env.Stdout, false, c.ASCII), Indent: 2, LabelWidth: 10},
		ContextServiceClient:      pb.NewContextServiceClient(connection),
		ConversationServiceClient: pb.NewConversationServiceClient(connection),
		ContentServiceClient:      pb.NewContentServiceClient(connection),
		flags:                     c, tree: explored, began: time.Now(),
		format: pb.ContextFormat(pb.ContextFormat_value["CONTEXT_FORMAT_"+strings.ToUpper(strings.ReplaceAll(c.Format, "-", "_"))]),
		kept:   way{id: id}, plain: way{id: id + "-plain"}, cited: way{id: id + "-cited"},
		saved: map[string]int64{}, changed: map[string]int{},
	}
	p.Width = min(p.Width, widest)
	p.play(ctx)
	return nil
}

// failure ends the demo: Run returns its error.
type failure struct{ error }

// must is a value that the demo cannot go on without.
func must[T any](value T, err error) T {
	if err != nil {
		panic(failure{err})
	}
	return value
}

// require ends the demo unless something holds.
func require(holds bool, broken string, args ...any) {
	if !holds {
		panic(failure{fmt.Errorf(broken, args...)})
	}
}
