package memoryservice

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// Engine is what the MemoryService asks: methods of *engine.Engine, so that a test can stand in for it.
type Engine interface {
	SearchMemories(context.Context, engine.SearchMemoriesRequest) (*engine.SearchMemoriesResult, error)
	ListMemories(context.Context, engine.ListMemoriesRequest) (engine.MemoryListing, error)
	AddMemory(context.Context, engine.AddMemoryRequest) (id string, err error)
	DeleteMemory(ctx context.Context, of engine.MemoriesOf, id string) (deleted bool, err error)
	EndSession(context.Context, engine.Key) (session int32, sync []engine.MemorySync, err error)
	MemorySync(context.Context, engine.Key) ([]engine.MemorySync, error)
	ForgetActor(ctx context.Context, namespace, actor string, deleteConversations bool) (*engine.Forgetting, error)
	Forget(ctx context.Context, namespace, id string) (*engine.Forgetting, error)
}

// Service answers the calls of the MemoryService. The handlers have a file each, which holds the rules of their requests too.
type Service struct {
	pb.UnsafeMemoryServiceServer

	engine Engine
}

// New returns a service that asks an engine.
func New(e Engine) *Service { return &Service{engine: e} }

// Rules are the rules of all requests of the service.
func Rules() []rules.Request {
	return []rules.Request{
		rules.For(searchMemoriesRules()),
		rules.For(listMemoriesRules()),
		rules.For(addMemoryRules()),
		rules.For(deleteMemoryRules()),
		rules.For(endSessionRules()),
		rules.For(forgetActorRules()),
		rules.For(getForgetRules()),
		rules.For(getMemorySyncRules()),
	}
}
