package contentservice

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/admission"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// Engine is what the ContentService asks: methods of *engine.Engine, so that a test can stand in for it.
type Engine interface {
	StoreContent(context.Context, engine.StoreContentRequest) (*engine.StoreContentResult, error)
	RetrieveContent(context.Context, engine.RetrieveContentRequest) (*engine.RetrieveContentResult, error)
	StreamContent(ctx context.Context, key engine.Key, contentID string, offset int64, give func(source *engine.Source, at int64, chunk []byte) error) error
	SearchContent(context.Context, engine.SearchContentRequest) (*engine.SearchContentResult, error)
	ListSources(context.Context, engine.SourcesRequest) (*engine.SourcesResult, error)
	EndRun(context.Context, engine.EndRunRequest) (*engine.EndRunResult, error)
}

// Service answers the calls of the ContentService. The handlers have a file each, which holds the rules of their requests too.
type Service struct {
	pb.UnsafeContentServiceServer

	engine    Engine
	admission *admission.Controller
}

// New returns a service that asks an engine.
func New(e Engine, a *admission.Controller) *Service {
	return &Service{engine: e, admission: a}
}

// Rules are the rules of all requests of the service.
func Rules() []rules.Request {
	return []rules.Request{
		rules.For(storeContentRules()),
		rules.For(retrieveContentRules()),
		rules.For(streamContentRules()),
		rules.For(searchContentRules()),
		rules.For(listSourcesRules()),
		rules.For(endRunRules()),
	}
}
