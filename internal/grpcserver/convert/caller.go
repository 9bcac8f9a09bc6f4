package convert

import (
	"context"

	"github.com/palimpsest-context/palimpsest/internal/access"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// WithCaller returns the context of a call by a caller: what is asked for in it is the caller's.
func WithCaller(ctx context.Context, c *access.Caller) context.Context {
	return engine.SpeakingFor(access.With(ctx, c), c.Actors)
}

// Key names a conversation of the caller's namespace.
func Key(ctx context.Context, conversation string) engine.Key {
	return engine.Key{Namespace: Namespace(ctx), Conversation: conversation}
}

// RequireOperator refuses a call whose caller is no operator, by what of it is for operators alone.
func RequireOperator(ctx context.Context, what string) error {
	if access.CallerOf(ctx).Role == access.Operator {
		return nil
	}
	return conversation.Errorf(conversation.PermissionDenied, "%s needs the credential of an operator", what)
}

// Namespace is the caller's.
func Namespace(ctx context.Context) string { return access.CallerOf(ctx).Namespace }
