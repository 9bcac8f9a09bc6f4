package inspect

import (
	"context"
	"errors"
	"strconv"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/inspect/sheet"
	"github.com/palimpsest-context/palimpsest/internal/terminal"
)

// ModelCommand is `sidecar model`: what the sidecar knows of the models that builds name.
type ModelCommand struct {
	Put    ModelPutCommand    `cmd:"" help:"Create a model's profile, or replace it whole."`
	Get    ModelGetCommand    `cmd:"" help:"Show a model's profile."`
	List   ModelListCommand   `cmd:"" help:"List the profiles that were put."`
	Delete ModelDeleteCommand `cmd:"" help:"Delete a model's profile. One that ships is in force again."`
}

// ModelPutCommand is `sidecar model put`.
type ModelPutCommand struct {
	Sidecar
	Model            string         `arg:"" optional:"" help:"The model's name, as builds name it."`
	File             string         `help:"File with the whole ModelProfile as protobuf's JSON; - is standard input." placeholder:"FILE"`
	Window           *int32         `help:"The model's context window in tokens." placeholder:"TOKENS"`
	Reserve          *int32         `help:"Tokens of the window that are left for the answer." placeholder:"TOKENS"`
	Counter          string         `help:"The counter that suits it: o200k, cl100k or chars4."`
	Factor           *float64       `help:"Factor of token counts until usage is reported."`
	MediaTokens      *int32         `help:"Tokens that a media part weighs." placeholder:"TOKENS"`
	InputPrice       *float64       `help:"Price of a million tokens of uncached input." placeholder:"PRICE"`
	CacheReadPrice   *float64       `help:"Price of a million tokens read from the prompt cache." placeholder:"PRICE"`
	CacheWritePrice  *float64       `help:"Price of a million tokens written to the prompt cache." placeholder:"PRICE"`
	OutputPrice      *float64       `help:"Price of a million tokens of output." placeholder:"PRICE"`
	CacheLifetime    *time.Duration `help:"How long the provider keeps a prefix that nothing reads in its prompt cache, such as 30m."`
	ReasoningBinding string         `help:"What the provider does with reasoning behind changed text: none, drops or refuses." enum:",none,drops,refuses" default:""`
	LivePrefix       *bool          `help:"Allow whole contexts, with system prompt and tools, to go to it for summaries (compaction.live_prefix)."`
}

// Help shows how it is used.
func (c *ModelPutCommand) Help() string {
	return `Examples:

    sidecar model put house-7b --window 32768 --reserve 4096 --input-price 0.2 --output-price 0.6
    echo '{"model": "house-7b", "contextWindowTokens": 32768}' | sidecar model put --file -`
}

var bindings = map[string]pb.ReasoningBinding{
	"none": pb.ReasoningBinding_REASONING_BINDING_NONE, "drops": pb.ReasoningBinding_REASONING_BINDING_DROPS,
	"refuses": pb.ReasoningBinding_REASONING_BINDING_REFUSES,
}

// Validate refuses what does not go together.
func (c *ModelPutCommand) Validate() error {
	if (c.Model == "") == (c.File == "") {
		return errors.New("name the model, or give its whole profile by --file")
	}
	numbers := c.Window != nil || c.Reserve != nil || c.Factor != nil || c.MediaTokens != nil
	prices := c.InputPrice != nil || c.CacheReadPrice != nil || c.CacheWritePrice != nil || c.OutputPrice != nil
	facts := c.Counter != "" || c.LivePrefix != nil || c.CacheLifetime != nil || c.ReasoningBinding != ""
	if c.File != "" && (numbers || prices || facts) {
		return errors.New("--file holds the whole profile: not together with other flags of it")
	}
	return nil
}

// Run puts the profile, and shows it as it is stored.
func (c *ModelPutCommand) Run(ctx context.Context, env *Env) error {
	profile, err := c.profile(env)
	if err != nil {
		return err
	}
	return c.run(env, func(s *session) error {
		reply, err := s.policies.PutModelProfile(ctx, &pb.PutModelProfileRequest{Profile: profile})
		return modelProfiles.one(s, reply.GetProfile(), err)
	})
}

func (c *ModelPutCommand) profile(env *Env) (*pb.ModelProfile, error) {
	if c.File == "" {
		p := &pb.ModelProfile{
			Model: c.Model, ContextWindowTokens: c.Window, ReservedOutputTokens: c.Reserve, Counter: c.Counter, Factor: c.Factor, MediaTokens: c.MediaTokens,
			InputPrice: c.InputPrice, CacheReadPrice: c.CacheReadPrice, CacheWritePrice: c.CacheWritePrice, OutputPrice: c.OutputPrice,
			LivePrefix: c.LivePrefix, ReasoningBinding: bindings[c.ReasoningBinding],
		}
		if c.CacheLifetime != nil {
			p.CacheLifetime = durationpb.New(*c.CacheLifetime)
		}
		return p, nil
	}
	p := &pb.ModelProfile{}
	return p, env.object(c.File, "model profile", p)
}

// ModelGetCommand is `sidecar model get`.
type ModelGetCommand struct {
	Sidecar
	Model string `arg:"" help:"The model's name."`
}

// Run shows the profile.
func (c *ModelGetCommand) Run(ctx context.Context, env *Env) error {
	return c.run(env, func(s *session) error {
		reply, err := s.policies.GetModelProfile(ctx, &pb.GetModelProfileRequest{Model: c.Model})
		return modelProfiles.one(s, reply.GetProfile(), err)
	})
}

// ModelListCommand is `sidecar model list`.
type ModelListCommand struct {
	Sidecar
}

// Run lists the profiles, page by page.
func (c *ModelListCommand) Run(ctx context.Context, env *Env) error {
	return c.run(env, func(s *session) error {
		request := &pb.ListModelProfilesRequest{PageSize: pageSize}
		return modelProfiles.list(s, &request.PageToken, 0, func() (string, []*pb.ModelProfile, error) {
			reply, err := s.policies.ListModelProfiles(ctx, request)
			return reply.GetNextPageToken(), reply.GetProfiles(), err
		})
	})
}

// ModelDeleteCommand is `sidecar model delete`.
type ModelDeleteCommand struct {
	Sidecar
	Model string `arg:"" help:"The model's name."`
}

// Run deletes the profile.
func (c *ModelDeleteCommand) Run(ctx context.Context, env *Env) error {
	return c.run(env, func(s *session) error {
		reply, err := s.policies.DeleteModelProfile(ctx, &pb.DeleteModelProfileRequest{Model: c.Model})
		return s.done(reply, err, "The profile of %s is deleted.", c.Model)
	})
}

var modelProfiles = tableOf[*pb.ModelProfile]{[]sheet.Column{
	{Title: "model", Least: 20}, {Title: "window", Right: true, Least: 9}, {Title: "reserve", Right: true, Least: 7}, {Title: "counter", Least: 7},
	{Title: "factor", Right: true}, {Title: "media", Right: true}, {Title: "input", Right: true}, {Title: "cached", Right: true},
	{Title: "written", Right: true}, {Title: "output", Right: true}, {Title: "kept", Right: true}, {Title: "binding"},
}, modelRow}

// modelRow leaves empty what the profile leaves to defaults.
func modelRow(p *pb.ModelProfile) []string {
	kept, binding := "", ""
	if p.CacheLifetime != nil {
		kept = p.GetCacheLifetime().AsDuration().String()
	}
	if p.GetReasoningBinding() != pb.ReasoningBinding_REASONING_BINDING_UNSPECIFIED {
		binding = sheet.EnumText(p.GetReasoningBinding())
	}
	return []string{
		p.GetModel(), tokensIf(p.ContextWindowTokens), tokensIf(p.ReservedOutputTokens), p.GetCounter(), numberIf(p.Factor), tokensIf(p.MediaTokens),
		numberIf(p.InputPrice), numberIf(p.CacheReadPrice), numberIf(p.CacheWritePrice), numberIf(p.OutputPrice),
		kept, binding,
	}
}

func tokensIf(n *int32) string {
	if n == nil {
		return ""
	}
	return terminal.Number(int64(*n))
}

func numberIf(n *float64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatFloat(*n, 'f', -1, 64)
}
