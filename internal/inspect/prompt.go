package inspect

import (
	"context"
	"fmt"
	"strings"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/inspect/sheet"
)

// PromptCommand is `sidecar prompt`: what models are told that write summaries.
type PromptCommand struct {
	Put    PromptPutCommand    `cmd:"" help:"Create a prompt, or replace it whole."`
	Get    PromptGetCommand    `cmd:"" help:"Print a prompt's template."`
	List   PromptListCommand   `cmd:"" help:"List the prompts."`
	Delete PromptDeleteCommand `cmd:"" help:"Delete a prompt."`
}

// PromptPutCommand is `sidecar prompt put`.
type PromptPutCommand struct {
	Sidecar
	ID              string   `arg:"" name:"id" help:"The prompt's id; default is used where nothing names one."`
	Template        string   `arg:"" help:"What the model is told, with {{content}} in it once; - reads it from standard input."`
	Model           []string `help:"A model to ask, as provider/model; by default the server's. Repeatable, in order."`
	MaxOutputTokens int32    `help:"The most tokens of a model's answer; 0: what the target length needs."`
}

// Help shows how it is used.
func (c *PromptPutCommand) Help() string {
	return `Examples:

    sidecar prompt put logs 'Keep errors, in at most {{target_length}} characters, as JSON with "summary". The log: {{content}}'
    sidecar prompt put logs - --model openai/gpt-5-mini < logs.prompt`
}

// Run puts the prompt.
func (c *PromptPutCommand) Run(ctx context.Context, env *Env) error {
	template, err := env.text(c.Template)
	if err != nil {
		return err
	}
	return c.run(env, func(s *session) error {
		reply, err := s.policies.PutPrompt(ctx, &pb.PutPromptRequest{Prompt: &pb.Prompt{
			Id: c.ID, Template: template, Models: c.Model, MaxOutputTokens: c.MaxOutputTokens,
		}})
		return prompts.one(s, reply.GetPrompt(), err)
	})
}

// PromptGetCommand is `sidecar prompt get`.
type PromptGetCommand struct {
	Sidecar
	ID string `arg:"" name:"id" help:"The prompt's id."`
}

// Run prints the template: as it is into a file or pipe, without what must not reach a terminal on one.
func (c *PromptGetCommand) Run(ctx context.Context, env *Env) error {
	return c.run(env, func(s *session) error {
		reply, err := s.policies.GetPrompt(ctx, &pb.GetPromptRequest{Id: c.ID})
		return s.answer(reply.GetPrompt(), err, func() error {
			p := &printing{session: s}
			defer p.end()
			return p.text(reply.GetPrompt().GetTemplate())
		})
	})
}

// PromptListCommand is `sidecar prompt list`.
type PromptListCommand struct {
	Sidecar
}

// Run lists the prompts, page by page.
func (c *PromptListCommand) Run(ctx context.Context, env *Env) error {
	return c.run(env, func(s *session) error {
		request := &pb.ListPromptsRequest{PageSize: pageSize}
		return prompts.list(s, &request.PageToken, 0, func() (string, []*pb.Prompt, error) {
			reply, err := s.policies.ListPrompts(ctx, request)
			return reply.GetNextPageToken(), reply.GetPrompts(), err
		})
	})
}

// PromptDeleteCommand is `sidecar prompt delete`.
type PromptDeleteCommand struct {
	Sidecar
	ID string `arg:"" name:"id" help:"The prompt's id."`
}

// Run deletes the prompt.
func (c *PromptDeleteCommand) Run(ctx context.Context, env *Env) error {
	return c.run(env, func(s *session) error {
		reply, err := s.policies.DeletePrompt(ctx, &pb.DeletePromptRequest{Id: c.ID})
		return s.done(reply, err, "The prompt %s is deleted.", c.ID)
	})
}

var prompts = tableOf[*pb.Prompt]{[]sheet.Column{{Title: "id", Least: 12}, {Title: "version", Right: true}, {Title: "models", Least: 12}, {Title: "template"}}, promptRow}

func promptRow(p *pb.Prompt) []string {
	return []string{p.GetId(), fmt.Sprint(p.GetVersion()), strings.Join(p.GetModels(), ", "), p.GetTemplate()}
}
