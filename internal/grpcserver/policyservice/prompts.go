package policyservice

import (
	"context"
	"strings"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/paging"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// PutPrompt creates or replaces a prompt.
func (s *Service) PutPrompt(ctx context.Context, req *pb.PutPromptRequest) (*pb.PutPromptResponse, error) {
	stored, err := s.engine.PutPrompt(ctx, convert.Namespace(ctx), fromPrompt(req.GetPrompt()), convert.FromRequest(req))
	if err != nil {
		return nil, err
	}
	return &pb.PutPromptResponse{Prompt: toPrompt(*stored)}, nil
}

// GetPrompt returns a prompt.
func (s *Service) GetPrompt(ctx context.Context, req *pb.GetPromptRequest) (*pb.GetPromptResponse, error) {
	found, err := s.engine.Prompt(ctx, convert.Namespace(ctx), req.GetId())
	if err != nil {
		return nil, err
	}
	return &pb.GetPromptResponse{Prompt: toPrompt(*found)}, nil
}

// ListPrompts lists the prompts by id.
func (s *Service) ListPrompts(ctx context.Context, req *pb.ListPromptsRequest) (*pb.ListPromptsResponse, error) {
	after, _ := paging.Open(req)
	found, next, err := s.engine.Prompts(ctx, convert.Namespace(ctx), after, paging.Limit(req))
	if err != nil {
		return nil, err
	}
	prompts, more := paging.Cut(convert.Each(found, toPrompt))
	if more {
		next = prompts[len(prompts)-1].GetId()
	}
	return &pb.ListPromptsResponse{Prompts: prompts, NextPageToken: paging.Next(req, next)}, nil
}

// DeletePrompt removes a prompt.
func (s *Service) DeletePrompt(ctx context.Context, req *pb.DeletePromptRequest) (*pb.DeletePromptResponse, error) {
	return &pb.DeletePromptResponse{}, s.engine.DeletePrompt(ctx, convert.Namespace(ctx), req.GetId(), convert.FromRequest(req))
}

func promptRules() rules.Table[*pb.Prompt] {
	return rules.Table[*pb.Prompt]{
		rules.Text("id", schema.NameLimit(), (*pb.Prompt).GetId),
		rules.Text("template", rules.ByteRange(1, 32_768), (*pb.Prompt).GetTemplate, promptTemplate),
		modelNames("models", (*pb.Prompt).GetModels),
		rules.Number("max_output_tokens", rules.NumberRange(0, 100_000), (*pb.Prompt).GetMaxOutputTokens),
	}.OutputOnly("version")
}

// promptTemplate says in fixed words what the engine says with the template's own.
func promptTemplate(s string) string {
	if engine.CheckTemplate(s) == "" {
		return ""
	}
	return templateRule
}

const templateRule = "must have {{content}} once, and may have {{length}}, {{target_length}}, {{message_type}}, {{turn_added}}, {{tool}}; " +
	"nothing else may follow two opening braces"

// modelNames is a list of models, each with its provider.
func modelNames[M any](field string, get func(M) []string) rules.Rule[M] {
	each := schema.NameLimit()
	return rules.Scalars(field, rules.AtMost(8), []string{"each " + each.Length()}, get, func(c *rules.Checker, model string) {
		if !each.Holds(int64(len(model))) {
			c.Fail("must have %s", each.Length())
			return
		}
		if provider, name, ok := strings.Cut(model, "/"); !ok || provider == "" || name == "" {
			c.Fail("must be a provider, a slash and a model, such as openai/gpt-5-mini")
		}
	})
}

func fromPrompt(p *pb.Prompt) conversation.Prompt {
	return conversation.Prompt{ID: p.GetId(), Template: p.GetTemplate(), Models: p.GetModels(), MaxOutput: p.GetMaxOutputTokens()}
}

func toPrompt(p conversation.Prompt) *pb.Prompt {
	return &pb.Prompt{Id: p.ID, Version: p.Version, Template: p.Template, Models: p.Models, MaxOutputTokens: p.MaxOutput}
}
