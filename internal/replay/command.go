package replay

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/validate"
	"github.com/palimpsest-context/palimpsest/pkg/tokens/bpe"
)

// maxMessage is the most that one gRPC message of a reply may hold, as the
// contract has it.
const maxMessage = 64 << 20

// Command is `sidecar replay`: its flags, for kong.
type Command struct {
	Files    []string `arg:"" name:"file" help:"Recorded conversations: JSON lines, or OpenAI Chat or Anthropic message lists." type:"existingfile"`
	Address  string   `help:"Play into the sidecar that listens here, instead of one of its own." placeholder:"HOST:PORT"`
	Format   string   `help:"Format of the contexts: ${enum}." enum:"openai-chat,openai-responses,anthropic,gemini,neutral" default:"openai-chat"`
	Window   int32    `help:"The model's context window in tokens." default:"128000"`
	Reserve  int32    `help:"Tokens of the window that are left for the answer." default:"0"`
	Raw      bool     `help:"Append what a tool printed before its agent cut it, where that was recorded."`
	JSON     bool     `name:"json" help:"Print the report as one JSON object."`
	Sample   int      `help:"Play every Nth conversation." default:"1" placeholder:"N"`
	Model    string   `help:"The model to build for, and that wrote the assistant's messages."`
	Parallel int      `help:"Conversations that are played at once." default:"2"`
	ASCII    bool     `name:"ascii" help:"Draw without Unicode."`
}

// Env is what a Command needs from the program around it.
type Env struct {
	// Start starts a sidecar on a free port and says where it listens. Stop
	// ends it and waits. It is called at most once, and not with --address.
	Start func(ctx context.Context) (address string, stop func(), err error)
	// Stdout gets the report, Stderr the progress.
	Stdout, Stderr io.Writer
}

// ErrJudged is the error of a replay that went through and found something
// that must not be.
var ErrJudged = errors.New("replay: promises were broken")

// Run plays the files and prints the report. It returns an error that wraps
// ErrJudged if a figure that must be 0 is not.
func (c *Command) Run(ctx context.Context, env *Env) error {
	if err := c.check(); err != nil {
		return err
	}
	recordings, err := load(c.Files, loading{raw: c.Raw, sample: c.Sample, model: c.Model})
	if err != nil {
		return err
	}
	address, stop, err := c.sidecar(ctx, env)
	if err != nil {
		return err
	}
	defer stop()
	report, err := c.play(ctx, env, address, recordings)
	if err != nil {
		return err
	}
	if err := c.print(env.Stdout, report); err != nil {
		return err
	}
	return report.verdict()
}

func (c *Command) check() error {
	switch {
	case c.Reserve < 0 || c.Window <= c.Reserve:
		return fmt.Errorf("replay: a window of %d tokens leaves no room beside a reserve of %d", c.Window, c.Reserve)
	case c.Sample < 1:
		return fmt.Errorf("replay: --sample must be at least 1")
	case c.Parallel < 1:
		return fmt.Errorf("replay: --parallel must be at least 1")
	}
	_, err := validate.NewChecker(validate.Format(c.Format), nil)
	return err
}

func (c *Command) sidecar(ctx context.Context, env *Env) (string, func(), error) {
	if c.Address != "" {
		return c.Address, func() {}, nil
	}
	return env.Start(ctx)
}

// play plays all recordings, several at once, into one report.
func (c *Command) play(ctx context.Context, env *Env, address string, recordings []recording) (*Report, error) {
	counter, err := bpe.New(bpe.O200k)
	if err != nil {
		return nil, err
	}
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage+1<<20), grpc.MaxCallSendMsgSize(maxMessage)))
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	defer conn.Close()
	s := &session{
		contexts: pb.NewContextServiceClient(conn), records: pb.NewConversationServiceClient(conn),
		format: validate.Format(c.Format), window: c.Window, reserve: c.Reserve, model: c.Model, run: rand.Text()[:12],
		count: func(text string) int { n, _ := counter.Count(text); return n },
	}
	sum := newTally()
	bar := newProgress(env.Stderr, recordings, c.plain())
	defer bar.stop()
	s.step = bar.step
	started := time.Now()
	err = s.all(ctx, recordings, c.Parallel, sum.merge)
	return sum.report(c, time.Since(started)), err
}

// all plays the recordings with so many workers. Done is called for each
// conversation, by one goroutine at a time.
func (s *session) all(ctx context.Context, recordings []recording, workers int, done func(*tally)) error {
	var wait sync.WaitGroup
	var lock sync.Mutex
	next := make(chan int)
	for range workers {
		wait.Go(func() {
			for i := range next {
				t := s.play(ctx, i, &recordings[i])
				lock.Lock()
				done(t)
				lock.Unlock()
			}
		})
	}
	for i := range recordings {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	wait.Wait()
	return ctx.Err()
}

// plain says whether to draw in ASCII: where asked to, and where the locale does
// not promise UTF-8.
func (c *Command) plain() bool {
	locale := cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_CTYPE"), os.Getenv("LANG"))
	return c.ASCII || !strings.Contains(strings.ReplaceAll(strings.ToUpper(locale), "-", ""), "UTF8")
}

func (c *Command) print(w io.Writer, r *Report) error {
	if c.JSON {
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		return encoder.Encode(r)
	}
	_, err := io.WriteString(w, r.text(c.plain()))
	return err
}
