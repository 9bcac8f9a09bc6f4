package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/catalogue"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

// tombstoneLife is how long a deleted conversation's id stays taken (behaviour §3).
const tombstoneLife = 30 * 24 * time.Hour

// Create begins a conversation, also under the id of a deleted one: as a new incarnation, which shares nothing with the old.
func (e *Engine) Create(ctx context.Context, r CreateRequest) (*Conversation, error) {
	if r.Info.Counter == "" {
		r.Info.Counter = conversation.DefaultCounter
	}
	var made *Conversation
	err := e.txn.Do(ctx, r.Key, func() (err error) {
		made, err = e.attemptCreate(ctx, &r)
		return err
	})
	return made, err
}

func (e *Engine) attemptCreate(ctx context.Context, r *CreateRequest) (*Conversation, error) {
	snap, err := e.store.Read(ctx, r.Key, store.Query{Info: true, Request: r.Request.Key()})
	expect, remembered := uint64(0), &former{}
	switch {
	case errors.Is(err, store.ErrNotFound):
	case err != nil:
		return nil, err
	case e.txn.Live(&snap.Head) == nil:
		return e.repeatCreate(ctx, snap, r)
	default:
		if remembered, err = e.succeed(ctx, r, &snap.Head); err != nil {
			return nil, err
		}
		expect = snap.Head.Version
	}
	if err := e.catalogues.RequirePrompts(ctx, r.Key.Namespace, promptsOfPolicy(nil, &r.Info.Policy)...); err != nil {
		return nil, err
	}
	now := e.txn.Now()
	c := &store.Change{Expect: expect, Head: txn.NewHead(e.ids(), now), Info: &r.Info}
	c.Head.Version, c.Head.Revision, c.Head.UpdateTime = expect+1, 1, now
	c.Head.Former = remembered.until()
	c.Head.NextDue = c.Head.Former
	if remembered.Key.IsZero() {
		remembered.Key = c.Head.Incarnation
	}
	remembered.add(requestCreate, r.Request.ID, now)
	remembered.addTo(c)
	txn.RenewTTL(&c.Head, r.Info.Policy.Or(e.defaults), now)
	txn.Remember(c, r.Request, store.Outcome{Revision: c.Head.Revision})
	return &Conversation{ID: r.Key.Conversation, Info: r.Info, Head: c.Head}, e.store.Commit(ctx, r.Key, c)
}

// succeed makes way for a new incarnation where a deleted one, or one past its ttl, has the name, and returns what the new one has to
// remember. It refuses the retry of what created the old one.
func (e *Engine) succeed(ctx context.Context, r *CreateRequest, head *Head) (*former, error) {
	switch {
	case head.Reusable:
		f, err := e.reuse(ctx, r.Key, head)
		if err == nil && f.has(requestCreate, r.Request.ID, e.txn.Now()) {
			err = retryOfFormer()
		}
		return f, err
	case head.State == store.Live: // past its ttl, and the sweeper has not come yet
		var err error
		*head, err = e.bury(ctx, r.Key, *head, burial{})
		return &former{}, err
	default:
		return &former{}, nil
	}
}

func (e *Engine) repeatCreate(ctx context.Context, snap *store.Snapshot, r *CreateRequest) (*Conversation, error) {
	first, err := e.txn.Recall(snap, r.Request)
	if err != nil {
		return nil, err
	}
	if first == nil {
		if err := e.checkFormer(ctx, r.Key, &snap.Head, requestCreate, r.Request.ID); err != nil {
			return nil, err
		}
		return nil, conversation.Errorf(conversation.ConversationExists, "a conversation with this id exists")
	}
	return &Conversation{ID: r.Key.Conversation, Info: *snap.Info, Head: snap.Head}, nil
}

// Get returns a conversation without its messages.
func (e *Engine) Get(ctx context.Context, key Key) (*Conversation, error) {
	snap, err := e.txn.Read(ctx, key, store.Query{Info: true})
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
			return nil, txn.Failure(err)
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
	return e.txn.Live(&entry.Head) == nil &&
		(r.ActorID == "" || r.ActorID == entry.Info.ActorID) &&
		(r.AgentID == "" || r.AgentID == entry.Info.AgentID)
}

// Update changes the attributes of a conversation.
func (e *Engine) Update(ctx context.Context, r UpdateRequest) (*Conversation, error) {
	var updated *Conversation
	err := e.txn.Do(ctx, r.Key, func() (err error) {
		updated, err = e.attemptUpdate(ctx, &r)
		return err
	})
	return updated, err
}

func (e *Engine) attemptUpdate(ctx context.Context, r *UpdateRequest) (*Conversation, error) {
	snap, err := e.txn.Read(ctx, r.Key, store.Query{Info: true, Request: r.Request.Key()})
	if err != nil {
		return nil, err
	}
	first, err := e.txn.Recall(snap, r.Request)
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
	if err := e.catalogues.RequirePrompts(ctx, r.Key.Namespace, promptsOfPolicy(&snap.Info.Policy, &info.Policy)...); err != nil {
		return nil, err
	}
	now := e.txn.Now()
	c := &store.Change{Expect: snap.Head.Version, Head: txn.NextHead(snap.Head, now), Info: &info}
	c.Head.Revision++
	txn.RenewTTL(&c.Head, info.Policy.Or(e.defaults), now)
	txn.Remember(c, r.Request, store.Outcome{Revision: c.Head.Revision})
	return &Conversation{ID: r.Key.Conversation, Info: info, Head: c.Head}, e.store.Commit(ctx, r.Key, c)
}

// Delete deletes a conversation and says until when its tombstone stands.
func (e *Engine) Delete(ctx context.Context, key Key, r txn.Request) (until time.Time, err error) {
	err = e.txn.Do(ctx, key, func() error {
		until, err = e.attemptDelete(ctx, key, r, false)
		return err
	})
	return until, err
}

// Clear deletes a conversation and leaves no tombstone: the next append begins it anew, unless it is a retry from before.
func (e *Engine) Clear(ctx context.Context, key Key, r txn.Request) error {
	return e.txn.Do(ctx, key, func() error {
		_, err := e.attemptDelete(ctx, key, r, true)
		return err
	})
}

func (e *Engine) attemptDelete(ctx context.Context, key Key, r txn.Request, reusable bool) (until time.Time, err error) {
	snap, err := e.store.Read(ctx, key, store.Query{Request: r.Key(), SlotsOf: formerPrefix})
	if err != nil {
		return until, err
	}
	first, err := e.txn.Recall(snap, r)
	if err != nil {
		return until, err
	}
	if first != nil && snap.Head.State == store.Deleted {
		return snap.Head.DeleteTime, nil
	}
	remembered, err := parseFormer(snap.Head.Incarnation, snap.Slots)
	if err != nil {
		return until, err
	}
	if remembered.has(requestDelete, r.ID, e.txn.Now()) { // what it deleted may have begun anew since
		return until, nil
	}
	if err := e.txn.Live(&snap.Head); err != nil {
		return until, err
	}
	b := burial{reusable: reusable, request: r}
	if reusable {
		remembered.add(requestDelete, r.ID, e.txn.Now())
		b.slots = remembered.values()
	}
	head, err := e.bury(ctx, key, snap.Head, b)
	return head.DeleteTime, err
}

// burial is how a conversation ends.
type burial struct {
	reusable bool // without a tombstone
	slots    map[string][]byte
	request  txn.Request
}

// bury deletes a conversation: one small commit. The sweeper removes the records.
func (e *Engine) bury(ctx context.Context, key Key, head Head, b burial) (Head, error) {
	now := e.txn.Now()
	c := &store.Change{Expect: head.Version, Head: txn.NextHead(head, now), Slots: b.slots}
	c.Head.State, c.Head.DeleteTime = store.Deleted, now.Add(tombstoneLife)
	if c.Head.Reusable = b.reusable; b.reusable {
		c.Head.DeleteTime = now.Add(txn.RequestMemory)
	}
	c.Head.Revision++
	txn.Remember(c, b.request, store.Outcome{Revision: c.Head.Revision})
	c.Head.NextDue = now
	e.views.Cache.Take(key) // forget it
	e.summaries.ForgetConversation(summarize.Scope{Namespace: key.Namespace, Conversation: key.Conversation})
	return c.Head, e.store.Commit(ctx, key, c)
}

// Durability says what an acknowledged write survives.
func (e *Engine) Durability() Durability { return e.store.Durability() }

// promptsOfPolicy are the prompts that a conversation's policy names, and the one before it, if there is one, did not: what has been
// deleted since it was named does not stand in the way of other changes.
func promptsOfPolicy(before, p *conversation.Policy) []catalogue.PromptName {
	named := func(p *conversation.Policy) []catalogue.PromptName {
		return []catalogue.PromptName{
			{Field: "conversation.policy.expiration.results.compact_prompt_id", ID: p.Expiration.Results.CompactPromptID},
			{Field: "conversation.policy.compaction.prompt_id", ID: conversation.ValueOr(p.Compaction.PromptID, "")},
		}
	}
	if before == nil {
		return named(p)
	}
	old := named(before)
	return slices.DeleteFunc(named(p), func(n catalogue.PromptName) bool { return slices.Contains(old, n) })
}
