package conversationservice

import (
	"context"
	"time"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/admission"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// Engine is what the ConversationService asks: methods of *engine.Engine, so that a test can stand in for it.
type Engine interface {
	Create(context.Context, engine.CreateRequest) (*engine.Conversation, error)
	Get(context.Context, engine.Key) (*engine.Conversation, error)
	List(context.Context, engine.ListRequest) (*engine.ListResult, error)
	Update(context.Context, engine.UpdateRequest) (*engine.Conversation, error)
	Delete(context.Context, engine.Key, engine.Request) (tombstoneUntil time.Time, err error)
	Clear(context.Context, engine.Key, engine.Request) error

	Message(ctx context.Context, key engine.Key, index int32) (*engine.MessageInView, error)
	Messages(context.Context, engine.MessagesRequest) (*engine.MessagesResult, error)
	Count(context.Context, engine.Key, conversation.Range, engine.Filter) (messages int32, tokens int64, err error)
	SearchMessages(context.Context, engine.SearchMessagesRequest) (*engine.SearchMessagesResult, error)
	Manifest(ctx context.Context, key engine.Key, seq int64, f conversation.Format) (*engine.ManifestResult, error)
	Manifests(ctx context.Context, key engine.Key, before int64, limit int) (list []conversation.Manifest, more bool, err error)

	Watch(ctx context.Context, key engine.Key, token string, give func(engine.EventAt) error) error
	Export(context.Context, engine.Key, func(engine.Record) error) error
	Import(ctx context.Context, key engine.Key, next func() (*engine.Record, error)) (*engine.Conversation, error)
}

// Service answers the calls of the ConversationService. The handlers have a file each, which holds the rules of their
// requests too.
type Service struct {
	pb.UnsafeConversationServiceServer

	engine    Engine
	admission *admission.Controller
	imports   importRules
	drained   context.Context // ends when streams must
}

// New returns a service that asks an engine. Its streams end with drained.
func New(drained context.Context, e Engine, a *admission.Controller) *Service {
	return &Service{engine: e, admission: a, imports: newImportRules(), drained: drained}
}

// Rules are the rules of all requests of the service.
func Rules() []rules.Request {
	return []rules.Request{
		rules.For(createConversationRules()),
		rules.For(getConversationRules()),
		rules.For(listConversationsRules()),
		rules.For(updateConversationRules()),
		rules.For(deleteConversationRules()),
		rules.For(getMessageRules()),
		rules.For(listMessagesRules()),
		rules.For(countMessagesRules()),
		rules.For(searchMessagesRules()),
		rules.For(getManifestRules()),
		rules.For(listManifestsRules()),
		rules.For(watchEventsRules()),
		rules.For(exportConversationRules()),
		rules.For(importConversationRules()),
	}
}
