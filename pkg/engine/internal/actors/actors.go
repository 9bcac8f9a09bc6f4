// Package actors limits calls to the conversations of the actors that their callers speak for. Every read of a conversation passes here,
// so that what is another actor's looks like what is not there, whatever the call.
package actors

import (
	"context"
	"errors"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

type actorsKey struct{}

// With returns the context of a call that speaks for some actors alone; for all of the namespace, if there are none.
func With(ctx context.Context, actors []string) context.Context {
	if len(actors) == 0 {
		return ctx
	}
	return context.WithValue(ctx, actorsKey{}, actors)
}

func of(ctx context.Context) []string {
	actors, _ := ctx.Value(actorsKey{}).([]string)
	return actors
}

// Limited says whether a call speaks for some actors alone.
func Limited(ctx context.Context) bool { return of(ctx) != nil }

// Speaks says whether a call speaks for an actor.
func Speaks(ctx context.Context, actor string) bool {
	actors := of(ctx)
	return len(actors) == 0 || slices.Contains(actors, actor)
}

// Check refuses a call that makes a conversation another actor's.
func Check(ctx context.Context, actor string) error {
	switch {
	case Speaks(ctx, actor):
		return nil
	case actor == "":
		return conversation.Errorf(conversation.PermissionDenied, "the credential speaks for several actors: create the conversation with the actor_id of one")
	default:
		return conversation.Errorf(conversation.PermissionDenied, "the credential does not speak for this actor_id")
	}
}

// Own is whose a conversation is that a call creates: the actor it names, or the only one that the call speaks for.
func Own(ctx context.Context, actor string) string {
	if actors := of(ctx); actor == "" && len(actors) == 1 {
		return actors[0]
	}
	return actor
}

// NewInfo are the attributes of a conversation that begins without being created.
func NewInfo(ctx context.Context) *store.Info {
	return &store.Info{ActorID: Own(ctx, ""), Counter: conversation.DefaultCounter}
}

// Guard returns a store that shows calls the conversations they may see.
func Guard(s store.Store) store.Store { return &guard{s} }

type guard struct{ store.Store }

// Read implements store.Store. Another actor's conversation is not found.
func (g *guard) Read(ctx context.Context, key store.Key, q store.Query) (*store.Snapshot, error) {
	snap, err := g.Store.Read(ctx, key, q)
	if err != nil || of(ctx) == nil || key.Conversation == "" {
		return snap, err
	}
	own, err := g.isOwn(ctx, key, &snap.Head)
	if err == nil && !own {
		err = store.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return snap, nil
}

// isOwn says whether a call may see a conversation. A head that was written before heads knew actors leaves it to the attributes; what is
// staged has no head yet, and is its caller's who alone knows the incarnation.
func (g *guard) isOwn(ctx context.Context, key store.Key, head *store.Head) (bool, error) {
	if head.ActorID != "" || head.Version == 0 {
		return head.Version == 0 || Speaks(ctx, head.ActorID), nil
	}
	snap, err := g.Store.Read(ctx, key, store.Query{Info: true})
	if err != nil || snap.Info == nil {
		return false, err
	}
	return Speaks(ctx, snap.Info.ActorID), nil
}

// Commit implements store.Store. It makes no conversation another actor's.
func (g *guard) Commit(ctx context.Context, key store.Key, c *store.Change) error {
	if of(ctx) == nil || key.Conversation == "" {
		return g.Store.Commit(ctx, key, c)
	}
	if c.Info != nil {
		if err := Check(ctx, c.Info.ActorID); err != nil {
			return err
		}
	}
	err := g.Store.Commit(ctx, key, c)
	if errors.Is(err, store.ErrConflict) {
		if taken := g.taken(ctx, key); taken != nil {
			return taken
		}
	}
	return err
}

// taken says of an id that seemed free that another actor has it: to decide again would not help.
func (g *guard) taken(ctx context.Context, key store.Key) error {
	if _, err := g.Read(ctx, key, store.Query{}); !errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if _, err := g.Store.Read(ctx, key, store.Query{}); err == nil {
		return conversation.Errorf(conversation.ConversationExists, "a conversation with this id exists")
	}
	return nil
}
