// Package replay plays recorded conversations through a sidecar and judges what
// comes back. It is a client like any other: it appends every message, asks for
// a context before each of the assistant's and at the end, restores something,
// builds in larger windows, and reads everything back. What it reports is
// measured on the bytes that arrived, by the independent judge in
// internal/validate, and never taken from the sidecar's own report.
// docs/replay.md defines the file format and every figure.
package replay

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/dial"
	"github.com/palimpsest-context/palimpsest/internal/replay/bound"
	"github.com/palimpsest-context/palimpsest/internal/replay/recording"
	"github.com/palimpsest-context/palimpsest/internal/replay/report"
	"github.com/palimpsest-context/palimpsest/internal/validate"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
)

// timeout bounds each call to the sidecar: a replay that hangs says nothing.
const timeout = time.Minute

// Command is `sidecar replay`: its flags, for kong.
type Command struct {
	Files      []string `arg:"" name:"file" help:"Recorded conversations: JSON lines, or OpenAI Chat or Anthropic message lists." type:"existingfile"`
	Address    string   `help:"The sidecar to play into; by default one of its own." placeholder:"HOST:PORT"`
	Format     string   `help:"Format of the contexts: ${enum}." enum:"openai-chat,openai-responses,anthropic,gemini,neutral" default:"openai-chat"`
	Window     int32    `help:"The model's context window in tokens." default:"128000"`
	Reserve    int32    `help:"Tokens of the window that are left for the answer." default:"0"`
	Policy     []string `help:"Play under this policy, a name or a file (docs/policies.md). Repeatable, to compare." sep:"none" placeholder:"NAME|FILE"`
	Caps       []string `help:"Play each policy that sets fit.max_context_tokens at these sizes, tokens or percentages of its own, and report the mean." placeholder:"TOKENS|PERCENT%,..."`
	Alone      bool     `help:"With --policy or --cite: play no baselines to compare with."`
	Cite       bool     `help:"Play each policy with citations on too."`
	Raw        bool     `help:"Append what tools printed before the agent cut it, where recorded."`
	SplitCalls bool     `help:"Append a message's calls and results one by one."`
	JSON       bool     `name:"json" help:"Print the report as one JSON object."`
	Sample     int      `help:"Play every Nth conversation." default:"1" placeholder:"N"`
	Offset     int      `help:"Leave out so many first; with --sample 2, 0 is one half and 1 the other." default:"0" placeholder:"N"`
	Join       int      `help:"Join every N of a file into one conversation." default:"1" placeholder:"N"`
	Bound      bool     `help:"Also print what perfect knowledge of the future could have cost."`
	Model      string   `help:"The model to build for, and that wrote the assistant's messages."`
	Parallel   int      `help:"Conversations that are played at once." default:"2"`
	ASCII      bool     `name:"ascii" help:"Draw without Unicode."`
}

// Env is what a Command needs from the program around it.
type Env struct {
	// Start starts a sidecar on a free port and says where it listens. Stop
	// ends it and waits. It is called at most once, and not with --address.
	Start func(ctx context.Context) (address string, stop func(), err error)
	// Counter counts contexts from outside, with the vocabulary that budgets are in by default. It may be shared.
	Counter tokens.Counter
	// Sent, if set, is told the request that an agent sends its model with each context: the sidecar is asked for the whole of it. It is
	// called for several conversations at once.
	Sent func(request string)
	// Stdout gets the report, Stderr the progress.
	Stdout, Stderr io.Writer
}

// Run plays the files and prints the report. It returns an error that wraps
// report.ErrJudged if a figure that must be 0 is not.
func (c *Command) Run(ctx context.Context, env *Env) error {
	if err := c.check(); err != nil {
		return err
	}
	recordings, err := recording.Load(c.Files, recording.Options{Raw: c.Raw, Split: c.SplitCalls, Sample: c.Sample, Offset: c.Offset, Join: c.Join, Model: c.Model})
	if err != nil {
		return err
	}
	policies, err := c.policies()
	if err != nil {
		return err
	}
	under, err := c.atCaps(policies)
	if err != nil {
		return err
	}
	address, stop := c.Address, func() {}
	if address == "" {
		if address, stop, err = env.Start(ctx); err != nil {
			return err
		}
	}
	defer stop()
	found, err := c.play(ctx, env, address, recordings, under)
	if err != nil {
		return err
	}
	if err := found.Print(env.Stdout, c.JSON, c.ASCII); err != nil {
		return err
	}
	return found.Verdict()
}

func (c *Command) check() error {
	switch {
	case c.Reserve < 0 || c.Window <= c.Reserve:
		return fmt.Errorf("replay: a window of %d tokens leaves no room beside a reserve of %d", c.Window, c.Reserve)
	case c.Sample < 1:
		return fmt.Errorf("replay: --sample must be at least 1")
	case c.Offset < 0 || c.Offset >= c.Sample:
		return fmt.Errorf("replay: --offset must be less than --sample")
	case c.Join < 1:
		return fmt.Errorf("replay: --join must be at least 1")
	case c.Parallel < 1:
		return fmt.Errorf("replay: --parallel must be at least 1")
	}
	_, err := validate.NewChecker(validate.Format(c.Format), nil)
	return err
}

// play plays all recordings under each policy, several at once. The report is
// that of the first policy, with the others' against it; of a policy that is
// played at several caps, the mean.
func (c *Command) play(ctx context.Context, env *Env, address string, recordings []recording.Recording, under [][]*policy) (*report.Report, error) {
	s, closed, err := c.session(ctx, address, env)
	if err != nil {
		return nil, err
	}
	defer closed()
	each := slices.Concat(under...)
	builds := 0
	for i := range recordings {
		builds += len(each) * recordings[i].Builds()
	}
	bar := newProgress(env.Stderr, int64(builds), c.ASCII)
	defer bar.stop()
	s.step = bar.step
	sessions := make([]*session, len(each))
	for i, p := range each {
		sessions[i] = s.under(p, c.Files)
		if err := sessions[i].tryOut(ctx); err != nil {
			return nil, err
		}
	}
	started := time.Now()
	err = playAll(ctx, sessions, recordings, c.Parallel)
	took := time.Since(started)
	reports := make([]*report.Report, len(under))
	for i := range reports {
		atCaps := make([]*report.Report, len(under[i]))
		for k, p := range under[i] {
			r := sessions[0].sum.Result()
			r.Format, r.Window, r.Budget, r.Seconds = c.Format, c.Window, int32(sessions[0].budget()), took.Seconds()
			r.Policy, r.Cite, r.Cap = p.name, p.cite, p.cap
			atCaps[k], sessions = r, sessions[1:]
		}
		reports[i] = report.Mean(atCaps)
	}
	reports[0].Against = reports[1:]
	if c.Bound {
		reports[0].Bounds = bound.Of(ctx, recordings, c.Files, s.count, s.prices)
	}
	return reports[0], err
}

// session is what the conversations of this replay share, under whatever policy.
func (c *Command) session(ctx context.Context, address string, env *Env) (s *session, closed func(), err error) {
	conn, err := dial.Plain(address, timeout)
	if err != nil {
		return nil, nil, fmt.Errorf("replay: %w", err)
	}
	prices, err := pricesOf(ctx, pb.NewPolicyServiceClient(conn), c.Model)
	if err != nil {
		return nil, nil, errors.Join(err, conn.Close())
	}
	return &session{
		contexts: pb.NewContextServiceClient(conn), records: pb.NewConversationServiceClient(conn), contents: pb.NewContentServiceClient(conn),
		format: validate.Format(c.Format), window: c.Window, reserve: c.Reserve, model: c.Model, run: rand.Text()[:12],
		count:  func(text string) int { n, _ := env.Counter.Count(text); return n },
		prices: prices, sent: env.Sent,
	}, func() { _ = conn.Close() }, nil
}

// playAll plays so many recordings at once: each under every policy in turn, so
// that what slows the machine down slows all of them down.
func playAll(ctx context.Context, sessions []*session, recordings []recording.Recording, workers int) error {
	var playing errgroup.Group
	var lock sync.Mutex
	playing.SetLimit(workers)
	for i := range recordings {
		for k, s := range sessions {
			if ctx.Err() != nil {
				continue
			}
			playing.Go(func() error {
				t := s.play(ctx, fmt.Sprintf("replay-%s-%d-%d", s.run, i, k), &recordings[i])
				lock.Lock()
				defer lock.Unlock()
				s.sum.Merge(t)
				return nil
			})
		}
	}
	_ = playing.Wait() // what goes wrong is in the figures
	return ctx.Err()
}
