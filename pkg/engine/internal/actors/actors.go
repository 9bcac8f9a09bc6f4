// Package actors limits a call to the conversations of the actors that its caller speaks for. Every read of a conversation passes through
// here, so that for every call another actor's conversation looks like one that does not exist.
package actors

import (
	"context"
	"errors"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

type actorsKey struct{}

// With returns the context of a call that speaks for the given actors only. With no actors, the call speaks for the whole namespace.
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

// Limited reports whether a call speaks for certain actors only.
func Limited(ctx context.Context) bool { return of(ctx) != nil }

// Speaks reports whether a call speaks for an actor.
func Speaks(ctx context.Context, actor string) bool {
	actors := of(ctx)
	return len(actors) == 0 || slices.Contains(actors, actor)
}

// Check refuses a call that would give a conversation to an actor it does not speak for.
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

// OwnerOf returns the actor that owns a conversation which the call creates: the actor it names, or the only one it speaks for.
func OwnerOf(ctx context.Context, actor string) string {
	if actors := of(ctx); actor == "" && len(actors) == 1 {
		return actors[0]
	}
	return actor
}

// NewInfo returns the attributes of a conversation that begins without CreateConversation.
func NewInfo(ctx context.Context) *store.Info {
	return &store.Info{ActorID: OwnerOf(ctx, ""), Counter: conversation.DefaultCounter}
}

// Guard wraps a store so that each call sees only the conversations it may see.
func Guard(s store.Store) store.Store { return &guard{s} }

type guard struct{ store.Store }

// Read implements store.Store. A conversation of another actor is reported as not found.
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

// isOwn reports whether a call may see a conversation. A head written before heads named the actor leaves that to the attributes. A
// conversation that is only staged has no head yet; only the caller who stages it knows its incarnation.
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

// Commit implements store.Store. It refuses to give a conversation to an actor that the call does not speak for.
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

// taken turns a conflict about an id that seemed free into a final error if another actor has the id: deciding again would not help.
func (g *guard) taken(ctx context.Context, key store.Key) error {
	if _, err := g.Read(ctx, key, store.Query{}); !errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if _, err := g.Store.Read(ctx, key, store.Query{}); err == nil {
		return conversation.Errorf(conversation.ConversationExists, "a conversation with this id exists")
	}
	return nil
}
