package policyservice

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/paging"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// Engine is what the PolicyService asks: methods of *engine.Engine, so that a test can stand in for it.
type Engine interface {
	PutModelProfile(ctx context.Context, namespace string, p conversation.ModelProfile, r engine.Request) error
	ModelProfile(ctx context.Context, namespace, model string) (*conversation.ModelProfile, error)
	ModelProfiles(ctx context.Context, namespace, after string, limit int) (list []conversation.ModelProfile, next string, err error)
	DeleteModelProfile(ctx context.Context, namespace, model string, r engine.Request) error

	PutActionPolicy(ctx context.Context, namespace string, p conversation.ActionPolicy, r engine.Request) error
	ActionPolicy(ctx context.Context, namespace string, key conversation.ActionKey) (*conversation.ActionPolicy, error)
	ActionPolicies(ctx context.Context, namespace, after string, limit int) (list []conversation.ActionPolicy, next string, err error)
	DeleteActionPolicy(ctx context.Context, namespace string, key conversation.ActionKey, r engine.Request) error

	PutPrompt(ctx context.Context, namespace string, p conversation.Prompt, r engine.Request) (*conversation.Prompt, error)
	Prompt(ctx context.Context, namespace, id string) (*conversation.Prompt, error)
	Prompts(ctx context.Context, namespace, after string, limit int) (list []conversation.Prompt, next string, err error)
	DeletePrompt(ctx context.Context, namespace, id string, r engine.Request) error
}

// Service answers the calls of the PolicyService. The handlers have a file each, which holds the rules of their requests too.
type Service struct {
	pb.UnsafePolicyServiceServer

	engine Engine
}

// New returns a service that asks an engine.
func New(e Engine) *Service { return &Service{engine: e} }

// Rules are the rules of all requests of the service.
func Rules() []rules.Request {
	return []rules.Request{
		rules.For(putModelProfileRules()),
		rules.For(getModelProfileRules()),
		rules.For(paging.Rules[*pb.ListModelProfilesRequest]()),
		rules.For(deleteModelProfileRules()),
		rules.For(putActionPolicyRules()),
		rules.For(actionKeyRules[*pb.GetActionPolicyRequest]()),
		rules.For(paging.Rules[*pb.ListActionPoliciesRequest]()),
		rules.For(deleteActionPolicyRules()),
		rules.For(putPromptRules()),
		rules.For(getPromptRules()),
		rules.For(paging.Rules[*pb.ListPromptsRequest]()),
		rules.For(deletePromptRules()),
	}
}
