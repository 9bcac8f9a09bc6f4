package memoryservice

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// scoped is a request about the memories of one scope.
type scoped interface {
	GetConversationId() string
	GetActorId() string
	GetScope() pb.MemoryScope
}

// scopeRules are the rules of the fields that say whose memories a request is about, and of those that follow.
func scopeRules[M scoped](others ...rules.Rule[M]) rules.Table[M] {
	return append(rules.Table[M]{
		rules.Either("of", func(m M) bool { return m.GetConversationId() != "" || m.GetActorId() != "" }),
		rules.OptionalText("conversation_id", schema.NameLimit(), M.GetConversationId, rules.NoControls),
		rules.OptionalText("actor_id", schema.NameLimit(), M.GetActorId),
		rules.Enum("scope", M.GetScope).Then(func(c *rules.Checker, m M) {
			if m.GetActorId() != "" && m.GetScope() > pb.MemoryScope_MEMORY_SCOPE_USER {
				c.Fail("must be USER with an actor_id")
			}
		}),
	}, others...)
}

// of says whose memories a request reads. Whoever names an actor reaches all of the namespace, and is an operator.
func of(ctx context.Context, req scoped) (engine.MemoriesOf, error) {
	out := engine.MemoriesOf{
		Key: convert.Key(ctx, req.GetConversationId()), ActorID: req.GetActorId(), Scope: engine.MemoryScopeKind(req.GetScope()),
	}
	if out.ActorID == "" {
		return out, nil
	}
	return out, convert.RequireOperator(ctx, "actor_id")
}

// changed says whose memories a request changes. What all agents and actors of a namespace see, operators alone change.
func changed(ctx context.Context, req scoped) (engine.MemoriesOf, error) {
	if req.GetScope() == pb.MemoryScope_MEMORY_SCOPE_AGENT || req.GetScope() == pb.MemoryScope_MEMORY_SCOPE_ORG {
		if err := convert.RequireOperator(ctx, "the scope"); err != nil {
			return engine.MemoriesOf{}, err
		}
	}
	return of(ctx, req)
}
