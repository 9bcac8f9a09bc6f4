package policyservice

import (
	"context"

	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/paging"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
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

// Service answers the calls of the PolicyService. The answer that a handler returns beside an error is dropped.
type Service struct {
	pb.UnsafePolicyServiceServer

	engine Engine
}

// New returns a service that asks an engine.
func New(e Engine) *Service { return &Service{engine: e} }

// Rules are the rules of all requests of the service.
func Rules() []rules.Request {
	return []rules.Request{
		putting("profile", (*pb.PutModelProfileRequest).GetProfile, profileRules()),
		rules.For(named("model", (*pb.GetModelProfileRequest).GetModel)),
		rules.For(paging.Rules[*pb.ListModelProfilesRequest]()),
		deleting(named("model", (*pb.DeleteModelProfileRequest).GetModel)),
		putting("policy", (*pb.PutActionPolicyRequest).GetPolicy, actionPolicyRules()),
		rules.For(actionKeyRules[*pb.GetActionPolicyRequest]()),
		rules.For(paging.Rules[*pb.ListActionPoliciesRequest]()),
		deleting(actionKeyRules[*pb.DeleteActionPolicyRequest]()),
		putting("prompt", (*pb.PutPromptRequest).GetPrompt, promptRules()),
		rules.For(named("id", (*pb.GetPromptRequest).GetId)),
		rules.For(paging.Rules[*pb.ListPromptsRequest]()),
		deleting(named("id", (*pb.DeletePromptRequest).GetId)),
	}
}

// change is a request that changes what is kept under a name.
type change interface {
	proto.Message
	GetRequestId() string
}

func putting[M change, E comparable](field string, get func(M) E, entry rules.Table[E]) rules.Request {
	return rules.For(rules.Table[M]{rules.RequiredMessage(field, get, entry), schema.RequestID(M.GetRequestId)})
}

func named[M any](field string, get func(M) string) rules.Table[M] {
	return rules.Table[M]{rules.Text(field, schema.NameLimit(), get)}
}

func deleting[M change](key rules.Table[M]) rules.Request {
	return rules.For(append(key, schema.RequestID(M.GetRequestId)))
}
