package conversations

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/actors"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/catalogue"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

// tombstoneLife is how long a deleted conversation's id stays taken (behaviour §3).
const tombstoneLife = 30 * 24 * time.Hour

// Create begins a conversation. The id may be that of a deleted one: the new incarnation shares nothing with the old.
func (s *Service) Create(ctx context.Context, r CreateRequest) (*txn.Conversation, error) {
	r.Info.Counter = cmp.Or(r.Info.Counter, conversation.DefaultCounter)
	r.Info.ActorID = actors.OwnerOf(ctx, r.Info.ActorID)
	return txn.Decide(ctx, s.Txn, r.Key, func() (*txn.Conversation, error) { return s.attemptCreate(ctx, &r) })
}

func (s *Service) attemptCreate(ctx context.Context, r *CreateRequest) (*txn.Conversation, error) {
	snap, err := s.Store.Read(ctx, r.Key, store.Query{Info: true, Request: r.Request.Key()})
	expect, remembered := uint64(0), &FormerRequests{}
	switch {
	case errors.Is(err, store.ErrNotFound):
	case err != nil:
		return nil, err
	case s.Txn.Live(&snap.Head) == nil:
		return s.repeatCreate(ctx, snap, r)
	default:
		if remembered, err = s.takeOver(ctx, r, &snap.Head); err != nil {
			return nil, err
		}
		expect = snap.Head.Version
	}
	if err := s.Catalogues.RequirePrompts(ctx, r.Key.Namespace, promptsOfPolicy(nil, &r.Info.Policy)...); err != nil {
		return nil, err
	}
	now := s.Txn.Now()
	c := &store.Change{Expect: expect, Head: txn.NewHead(s.IDs(), now), Info: &r.Info}
	c.Head.Version, c.Head.Revision, c.Head.UpdateTime, c.Head.ActorID = expect+1, 1, now, r.Info.ActorID
	c.Head.Former = remembered.Until()
	c.Head.NextDue = c.Head.Former
	if remembered.Key.IsZero() {
		remembered.Key = c.Head.Incarnation
	}
	remembered.add(requestCreate, r.Request.ID, now)
	remembered.AddTo(c)
	txn.RenewTTL(&c.Head, r.Info.Policy.Or(s.Defaults), now)
	txn.Remember(c, r.Request, store.Outcome{Revision: c.Head.Revision})
	return &txn.Conversation{ID: r.Key.Conversation, Info: r.Info, Head: c.Head}, s.Txn.Commit(ctx, r.Key, &store.Head{}, c)
}

// takeOver replaces a deleted conversation, or one past its ttl, that has the name. It returns the requests that the new incarnation has
// to remember. It refuses a retry of the request that created the old one.
func (s *Service) takeOver(ctx context.Context, r *CreateRequest, head *store.Head) (*FormerRequests, error) {
	switch {
	case head.Reusable:
		f, err := s.BeginAnew(ctx, r.Key, head)
		if err == nil && f.Has(requestCreate, r.Request.ID, s.Txn.Now()) {
			err = RetryOfFormer()
		}
		return f, err
	case head.State == store.Live: // past its ttl, but the sweeper has not come yet
		var err error
		*head, err = s.MarkDeleted(ctx, r.Key, *head, Deletion{})
		return &FormerRequests{}, err
	default:
		return &FormerRequests{}, nil
	}
}

func (s *Service) repeatCreate(ctx context.Context, snap *store.Snapshot, r *CreateRequest) (*txn.Conversation, error) {
	first, err := s.Txn.Recall(snap, r.Request)
	if err != nil {
		return nil, err
	}
	if first == nil {
		if err := s.CheckFormer(ctx, r.Key, &snap.Head, requestCreate, r.Request.ID); err != nil {
			return nil, err
		}
		return nil, conversation.Errorf(conversation.ConversationExists, "a conversation with this id exists")
	}
	return &txn.Conversation{ID: r.Key.Conversation, Info: *snap.Info, Head: snap.Head}, nil
}

// Get returns a conversation without its messages.
func (s *Service) Get(ctx context.Context, key store.Key) (*txn.Conversation, error) {
	snap, err := s.Txn.Read(ctx, key, store.Query{Info: true})
	if err != nil {
		return nil, err
	}
	return &txn.Conversation{ID: key.Conversation, Info: *snap.Info, Head: snap.Head}, nil
}

// listScan is how many conversations one listing reads for each conversation that it may return, so that a filter that matches little
// ends a page early instead of scanning everything. listPage is how many are read at a time for callers limited to actors, who may see
// few of them.
const (
	listScan = 10
	listPage = 1000
)

// List lists the live conversations of a namespace by id. For a caller limited to actors no page ends early: its cursor would reveal the
// id of another actor's conversation.
func (s *Service) List(ctx context.Context, r ListRequest) (*ListResult, error) {
	out := &ListResult{}
	after := r.After
	limit, most := r.Limit, r.Limit*listScan
	if actors.Limited(ctx) {
		limit, most = listPage, math.MaxInt
	}
	for scanned := 0; scanned < most; {
		page, err := s.Store.List(ctx, r.Namespace, after, limit)
		if err != nil {
			return nil, txn.Failure(err)
		}
		for i := range page {
			after = page[i].ID
			scanned++
			if s.isListed(ctx, &page[i], &r) {
				out.Conversations = append(out.Conversations, txn.Conversation{ID: page[i].ID, Info: page[i].Info, Head: page[i].Head})
			}
			if len(out.Conversations) == r.Limit {
				out.Next = after
				return out, nil
			}
		}
		if len(page) < limit {
			return out, nil
		}
	}
	out.Next = after
	return out, nil
}

func (s *Service) isListed(ctx context.Context, entry *store.Entry, r *ListRequest) bool {
	return s.Txn.Live(&entry.Head) == nil &&
		actors.Speaks(ctx, entry.Info.ActorID) &&
		(r.ActorID == "" || r.ActorID == entry.Info.ActorID) &&
		(r.AgentID == "" || r.AgentID == entry.Info.AgentID)
}

// Update changes the attributes of a conversation.
func (s *Service) Update(ctx context.Context, r UpdateRequest) (*txn.Conversation, error) {
	return txn.Decide(ctx, s.Txn, r.Key, func() (*txn.Conversation, error) { return s.attemptUpdate(ctx, &r) })
}

func (s *Service) attemptUpdate(ctx context.Context, r *UpdateRequest) (*txn.Conversation, error) {
	snap, first, err := s.Txn.ReadFor(ctx, r.Key, r.Request, store.Query{Info: true, Slots: s.Memories.Slots()})
	if err != nil {
		return nil, err
	}
	if first != nil {
		return &txn.Conversation{ID: r.Key.Conversation, Info: *snap.Info, Head: snap.Head}, nil
	}
	info, err := r.Change(*snap.Info)
	if err != nil {
		return nil, err
	}
	if had := snap.Info.ActorID; had != "" && info.ActorID != had {
		// Otherwise what was said in it would become another actor's.
		return nil, conversation.Errorf(conversation.InvalidField, "conversation.actor_id is written once")
	}
	if err := s.Catalogues.RequirePrompts(ctx, r.Key.Namespace, promptsOfPolicy(&snap.Info.Policy, &info.Policy)...); err != nil {
		return nil, err
	}
	now := s.Txn.Now()
	c := &store.Change{Expect: snap.Head.Version, Head: txn.NextHead(snap.Head, now), Info: &info}
	c.Head.Revision++
	c.Head.ActorID = info.ActorID
	txn.RenewTTL(&c.Head, info.Policy.Or(s.Defaults), now)
	if err := s.Memories.NoteUpdate(c, snap); err != nil {
		return nil, err
	}
	txn.Remember(c, r.Request, store.Outcome{Revision: c.Head.Revision})
	return &txn.Conversation{ID: r.Key.Conversation, Info: info, Head: c.Head}, s.Store.Commit(ctx, r.Key, c)
}

// Delete deletes a conversation and returns until when its tombstone stays.
func (s *Service) Delete(ctx context.Context, key store.Key, r txn.Request) (until time.Time, err error) {
	return txn.Decide(ctx, s.Txn, key, func() (time.Time, error) { return s.attemptDelete(ctx, key, r, false) })
}

// Clear deletes a conversation without a tombstone: the next append begins it anew, unless that is a retry of a request from before.
func (s *Service) Clear(ctx context.Context, key store.Key, r txn.Request) error {
	_, err := txn.Decide(ctx, s.Txn, key, func() (time.Time, error) { return s.attemptDelete(ctx, key, r, true) })
	return err
}

func (s *Service) attemptDelete(ctx context.Context, key store.Key, r txn.Request, reusable bool) (until time.Time, err error) {
	snap, err := s.Store.Read(ctx, key, store.Query{Request: r.Key(), SlotsOf: FormerPrefix})
	if err != nil {
		return until, err
	}
	first, err := s.Txn.Recall(snap, r)
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
	if remembered.Has(requestDelete, r.ID, s.Txn.Now()) { // the name may belong to a new conversation by now
		return until, nil
	}
	if err := s.Txn.Live(&snap.Head); err != nil {
		return until, err
	}
	b := Deletion{Reusable: reusable, request: r}
	if reusable {
		remembered.add(requestDelete, r.ID, s.Txn.Now())
		b.slots = remembered.values()
	}
	head, err := s.MarkDeleted(ctx, key, snap.Head, b)
	return head.DeleteTime, err
}

// Deletion describes how a conversation ends.
type Deletion struct {
	Reusable bool // leaves no tombstone
	slots    map[string][]byte
	request  txn.Request
}

// MarkDeleted deletes a conversation in one small commit. The sweeper removes its records later.
func (s *Service) MarkDeleted(ctx context.Context, key store.Key, head store.Head, b Deletion) (store.Head, error) {
	if err := s.Memories.Deleting(ctx, key, &head); err != nil {
		return head, err
	}
	now := s.Txn.Now()
	c := &store.Change{Expect: head.Version, Head: txn.NextHead(head, now), Slots: b.slots}
	c.Head.State, c.Head.DeleteTime, c.Head.Bytes = store.Deleted, now.Add(tombstoneLife), 0
	if c.Head.Reusable = b.Reusable; b.Reusable {
		c.Head.DeleteTime = now.Add(txn.RequestMemory)
	}
	c.Head.Revision++
	txn.Remember(c, b.request, store.Outcome{Revision: c.Head.Revision})
	c.Head.NextDue = now
	s.Views.Cache.Drop(key)
	s.Summaries.ForgetConversation(summarize.Scope{Namespace: key.Namespace, Conversation: key.Conversation})
	return c.Head, s.Txn.Commit(ctx, key, &head, c)
}

// promptsOfPolicy returns the prompts that a conversation's policy names and that the policy before it (nil for none) did not name. A
// prompt that was deleted after it was named does not block other changes.
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
