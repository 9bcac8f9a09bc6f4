package contextservice

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/admission"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// Engine is what the ContextService asks: methods of *engine.Engine, so that a test can stand in for it.
type Engine interface {
	Append(context.Context, engine.AppendRequest) (*engine.AppendResult, error)
	Build(context.Context, engine.BuildRequest) (*engine.BuildResult, error)
	Step(context.Context, engine.StepRequest) (*engine.StepResult, error)
	ReadUsage(json string) (*engine.Usage, error)
	ReadInput(f conversation.Format, r *engine.ReadRequest) (*engine.Input, error)
	Expand(context.Context, engine.ExpandRequest) (*engine.ExpandResult, error)
	Compact(context.Context, engine.CompactRequest) (*engine.CompactResult, error)
	Rewind(context.Context, engine.RewindRequest) (*engine.RewindResult, error)
	UndoRewind(context.Context, engine.UndoRewindRequest) (*engine.UndoRewindResult, error)
	Correct(context.Context, engine.CorrectRequest) (*engine.CorrectResult, error)
	AnswerToolCall(context.Context, engine.ToolCallRequest) (*engine.ToolCallResult, error)
	ReportUsage(ctx context.Context, key engine.Key, manifest int64, model string, u engine.Usage) (factor float64, counted bool, err error)
}

// Service answers the calls of the ContextService. The handlers have a file each, which holds the rules of their requests too.
type Service struct {
	pb.UnsafeContextServiceServer

	engine    Engine
	admission *admission.Controller
	messages  rules.Table[*pb.Message]
}

// New returns a service that asks an engine.
func New(e Engine, a *admission.Controller) *Service {
	return &Service{engine: e, admission: a, messages: schema.Message()}
}

// Rules are the rules of all requests of the service.
func Rules() []rules.Request {
	messages := schema.Message()
	return []rules.Request{
		rules.For(appendMessageRules(messages)),
		rules.For(batchAppendMessagesRules(messages)),
		rules.For(buildContextRules(messages)),
		rules.For(expandMessageRules()),
		rules.For(compactConversationRules()),
		rules.For(rewindConversationRules()),
		rules.For(undoRewindRules()),
		rules.For(correctMessageRules()),
		rules.For(answerToolCallRules()),
		rules.For(reportUsageRules()),
	}
}
