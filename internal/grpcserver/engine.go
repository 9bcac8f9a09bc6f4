package grpcserver

import (
	"context"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// Engine is what the edge asks: the methods of *engine.Engine, so that a test can stand in for it.
type Engine interface {
	Append(context.Context, engine.AppendRequest) (*engine.AppendResult, error)
	Build(context.Context, engine.BuildRequest) (*engine.BuildResult, error)
	Expand(context.Context, engine.ExpandRequest) (*engine.ExpandResult, error)
	Compact(context.Context, engine.CompactRequest) (*engine.CompactResult, error)
	Rewind(context.Context, engine.RewindRequest) (*engine.RewindResult, error)
	AnswerToolCall(context.Context, engine.ToolCallRequest) (*engine.ToolCallResult, error)
	ReportUsage(ctx context.Context, key engine.Key, manifest int64, model string, u engine.Usage) (factor float64, counted bool, err error)

	Create(context.Context, engine.CreateRequest) (*engine.Conversation, error)
	Get(context.Context, engine.Key) (*engine.Conversation, error)
	List(context.Context, engine.ListRequest) (*engine.ListResult, error)
	Update(context.Context, engine.UpdateRequest) (*engine.Conversation, error)
	Delete(context.Context, engine.Key, engine.Request) (tombstoneUntil time.Time, err error)

	Message(ctx context.Context, key engine.Key, index int32) (*engine.MessageInView, error)
	Messages(context.Context, engine.MessagesRequest) (*engine.MessagesResult, error)
	Count(context.Context, engine.Key, conversation.Range, engine.Filter) (messages int32, tokens int64, err error)
	SearchMessages(context.Context, engine.SearchMessagesRequest) (*engine.SearchMessagesResult, error)
	Manifest(ctx context.Context, key engine.Key, seq int64, f conversation.Format) (*engine.ManifestResult, error)
	Manifests(ctx context.Context, key engine.Key, before int64, limit int) (list []conversation.Manifest, more bool, err error)

	Watch(ctx context.Context, key engine.Key, token string, give func(engine.EventAt) error) error
	Export(context.Context, engine.Key, func(engine.Record) error) error
	Import(ctx context.Context, key engine.Key, next func() (*engine.Record, error)) (*engine.Conversation, error)

	StoreContent(context.Context, engine.StoreContentRequest) (*engine.StoreContentResult, error)
	RetrieveContent(context.Context, engine.RetrieveContentRequest) (*engine.RetrieveContentResult, error)
	StreamContent(ctx context.Context, key engine.Key, contentID string, offset int64, give func(source *engine.Source, at int64, chunk []byte) error) error
	SearchContent(context.Context, engine.SearchContentRequest) (*engine.SearchContentResult, error)
	ListSources(context.Context, engine.SourcesRequest) (*engine.SourcesResult, error)
	EndRun(context.Context, engine.EndRunRequest) (*engine.EndRunResult, error)

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
