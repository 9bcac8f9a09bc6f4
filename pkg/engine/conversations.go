package engine

import (
	"context"
	"errors"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

// tombstoneLife is how long a deleted conversation's id stays taken (behaviour §3).
const tombstoneLife = 30 * 24 * time.Hour

// Create begins a conversation, also under the id of a deleted one: as a new incarnation, which shares nothing with the old.
func (e *Engine) Create(ctx context.Context, r CreateRequest) (*Conversation, error) {
	if r.Info.Counter == "" {
		r.Info.Counter = DefaultCounter
	}
	var made *Conversation
	err := e.change(ctx, r.Key, func() (err error) {
		made, err = e.attemptCreate(ctx, &r)
		return err
	})
	return made, err
}

func (e *Engine) attemptCreate(ctx context.Context, r *CreateRequest) (*Conversation, error) {
	snap, err := e.store.Read(ctx, r.Key, store.Query{Info: true, Request: r.Request.key()})
	expect := uint64(0)
	switch {
	case errors.Is(err, store.ErrNotFound):
	case err != nil:
		return nil, err
	case e.live(&snap.Head) == nil:
		return e.repeatCreate(snap, r)
	case snap.Head.State == store.Live: // past its ttl, and the sweeper has not come yet
		if err := e.bury(ctx, r.Key, snap.Head, store.Outcome{}, Request{}); err != nil {
			return nil, err
		}
		expect = snap.Head.Version + 1
	default:
		expect = snap.Head.Version
	}
	if err := e.knowPrompts(ctx, r.Key.Namespace, promptsOfPolicy(nil, &r.Info.Policy)...); err != nil {
		return nil, err
	}
	now := e.now()
	c := &store.Change{Expect: expect, Head: newHead(e.ids(), now), Info: &r.Info}
	c.Head.Version, c.Head.Revision, c.Head.UpdateTime = expect+1, 1, now
	e.renewTTL(&c.Head, &r.Info, now)
	e.remember(c, r.Request, store.Outcome{Revision: c.Head.Revision})
	return &Conversation{ID: r.Key.Conversation, Info: r.Info, Head: c.Head}, e.store.Commit(ctx, r.Key, c)
}

func (e *Engine) repeatCreate(snap *store.Snapshot, r *CreateRequest) (*Conversation, error) {
	first, err := e.recall(snap, r.Request)
	if err != nil {
		return nil, err
	}
	if first == nil {
		return nil, conversation.Errorf(conversation.ConversationExists, "a conversation with this id exists")
	}
	return &Conversation{ID: r.Key.Conversation, Info: *snap.Info, Head: snap.Head}, nil
}

// Get returns a conversation without its messages.
func (e *Engine) Get(ctx context.Context, key Key) (*Conversation, error) {
	snap, err := e.read(ctx, key, store.Query{Info: true})
	if err != nil {
		return nil, err
	}
	return &Conversation{ID: key.Conversation, Info: *snap.Info, Head: snap.Head}, nil
}

// listScan is how many conversations one listing looks at per conversation it may return: a filter that matches little ends a
// page early instead of scanning everything.
const listScan = 10

// List lists the live conversations of a namespace by id.
func (e *Engine) List(ctx context.Context, r ListRequest) (*ListResult, error) {
	out := &ListResult{}
	after := r.After
	for scanned := 0; scanned < r.Limit*listScan; {
		page, err := e.store.List(ctx, r.Namespace, after, r.Limit)
		if err != nil {
			return nil, failure(err)
		}
		for i := range page {
			after = page[i].ID
			scanned++
			if e.listed(&page[i], &r) {
				out.Conversations = append(out.Conversations, Conversation{ID: page[i].ID, Info: page[i].Info, Head: page[i].Head})
			}
			if len(out.Conversations) == r.Limit {
				out.Next = after
				return out, nil
			}
		}
		if len(page) < r.Limit {
			return out, nil
		}
	}
	out.Next = after
	return out, nil
}

func (e *Engine) listed(entry *store.Entry, r *ListRequest) bool {
	return e.live(&entry.Head) == nil &&
		(r.ActorID == "" || r.ActorID == entry.Info.ActorID) &&
		(r.AgentID == "" || r.AgentID == entry.Info.AgentID)
}

// Update changes the attributes of a conversation.
func (e *Engine) Update(ctx context.Context, r UpdateRequest) (*Conversation, error) {
	var updated *Conversation
	err := e.change(ctx, r.Key, func() (err error) {
		updated, err = e.attemptUpdate(ctx, &r)
		return err
	})
	return updated, err
}

func (e *Engine) attemptUpdate(ctx context.Context, r *UpdateRequest) (*Conversation, error) {
	snap, err := e.read(ctx, r.Key, store.Query{Info: true, Request: r.Request.key()})
	if err != nil {
		return nil, err
	}
	first, err := e.recall(snap, r.Request)
	if err != nil {
		return nil, err
	}
	if first != nil {
		return &Conversation{ID: r.Key.Conversation, Info: *snap.Info, Head: snap.Head}, nil
	}
	info, err := r.Change(*snap.Info)
	if err != nil {
		return nil, err
	}
	if err := e.knowPrompts(ctx, r.Key.Namespace, promptsOfPolicy(&snap.Info.Policy, &info.Policy)...); err != nil {
		return nil, err
	}
	now := e.now()
	c := &store.Change{Expect: snap.Head.Version, Head: next(snap.Head, now), Info: &info}
	c.Head.Revision++
	e.renewTTL(&c.Head, &info, now)
	e.remember(c, r.Request, store.Outcome{Revision: c.Head.Revision})
	return &Conversation{ID: r.Key.Conversation, Info: info, Head: c.Head}, e.store.Commit(ctx, r.Key, c)
}

// Delete deletes a conversation and says until when its tombstone stands.
func (e *Engine) Delete(ctx context.Context, key Key, r Request) (until time.Time, err error) {
	err = e.change(ctx, key, func() error {
		until, err = e.attemptDelete(ctx, key, r)
		return err
	})
	return until, err
}

func (e *Engine) attemptDelete(ctx context.Context, key Key, r Request) (time.Time, error) {
	snap, err := e.store.Read(ctx, key, store.Query{Request: r.key()})
	if err != nil {
		return time.Time{}, err
	}
	first, err := e.recall(snap, r)
	if err != nil {
		return time.Time{}, err
	}
	if first != nil && snap.Head.State == store.Deleted {
		return snap.Head.DeleteTime, nil
	}
	if err := e.live(&snap.Head); err != nil {
		return time.Time{}, err
	}
	until := e.now().Add(tombstoneLife)
	return until, e.bury(ctx, key, snap.Head, store.Outcome{Revision: snap.Head.Revision + 1}, r)
}

// bury makes a tombstone of a conversation: one small commit. The sweeper removes the records.
func (e *Engine) bury(ctx context.Context, key Key, head Head, o store.Outcome, r Request) error {
	now := e.now()
	c := &store.Change{Expect: head.Version, Head: next(head, now)}
	c.Head.State, c.Head.DeleteTime = store.Deleted, now.Add(tombstoneLife)
	c.Head.Revision++
	e.remember(c, r, o)
	c.Head.NextDue = now
	e.windows.take(key) // forget it
	e.summaries.ForgetConversation(summarize.Scope{Namespace: key.Namespace, Conversation: key.Conversation})
	return e.store.Commit(ctx, key, c)
}

// Durability says what an acknowledged write survives.
func (e *Engine) Durability() Durability { return e.store.Durability() }
