package memories

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// Options is what a Service is made of.
type Options struct {
	Store     store.Store // shows a caller only what it may see
	Unguarded store.Store // shows everything, for work that belongs to no caller
	Txn       *txn.Manager
	Target    memory.Target // nil: nothing is remembered
	Defaults  conversation.Policy
	Views     *view.Loader
	IDs       func() conversation.ID
	OnError   func(error) // receives failures of background work; may be nil
	Observer  Observer
	// Backfill also sends messages that are older than the store's first use of the target.
	Backfill bool
	// DeleteConversation deletes a conversation as a caller's request would.
	DeleteConversation func(ctx context.Context, key store.Key) error
}

// Observer is told which batches are sent. Its functions must not block. The zero value observes nothing.
type Observer struct {
	// Sent, if set, is called for each batch with its outcome, its number of messages, and how long the oldest of them waited.
	Sent func(target string, outcome Outcome, messages int, waited time.Duration)
}

// Outcome says what happened to a batch. The set is closed.
type Outcome string

// The outcomes.
const (
	OutcomeTaken       Outcome = "taken"
	OutcomePending     Outcome = "pending"
	OutcomeUnavailable Outcome = "unavailable"
	OutcomeUnknown     Outcome = "unknown"
	OutcomeRefused     Outcome = "refused"
	OutcomeDenied      Outcome = "denied"
)

// Service remembers across conversations.
type Service struct {
	Options

	limits     memory.Limits
	owner      string // the owner of this process's leases
	since      since
	worker     *worker
	partitions *partitions
	blocks     *blocks
	eraser     *eraser
	searches   *searches
}

// New returns a service. Close ends its background work.
func New(o *Options) *Service {
	s := &Service{Options: *o, partitions: &partitions{store: o.Unguarded, txn: o.Txn, ids: o.IDs}}
	if s.Target == nil {
		return s
	}
	if s.OnError == nil {
		s.OnError = func(error) {}
	}
	s.limits = s.Target.Limits()
	s.limits.MaxMessages, s.limits.Concurrency = max(s.limits.MaxMessages, 1), max(s.limits.Concurrency, 1)
	s.owner = s.IDs().String()
	s.worker = newWorker(s.limits.Concurrency, s.Txn.Now, s.errand)
	s.partitions.worker, s.partitions.target = s.worker, s.Target.Name()
	s.since = since{
		partitions: s.partitions, target: s.Target.Name(), begun: s.Txn.Now(), backfill: s.Backfill, turn: make(chan struct{}, 1),
	}
	s.blocks = &blocks{store: s.Unguarded, txn: s.Txn, views: s.Views, defaults: s.Defaults}
	s.eraser = &eraser{target: s.Target, blocks: s.blocks, onError: s.OnError}
	s.searches = &searches{target: s.Target, breaker: newBreaker()}
	return s
}

// Close ends the background work and waits for it.
func (s *Service) Close() {
	if s.Target != nil {
		s.worker.close()
	}
}

// Waiting is how many conversations wait in this process to be remembered.
func (s *Service) Waiting() int {
	if s.Target == nil {
		return 0
	}
	return s.worker.waiting()
}

// Enabled reports whether there is a memory.
func (s *Service) Enabled() bool { return s.Target != nil }

func requireTarget(t memory.Target) error {
	if t == nil {
		return conversation.Errorf(conversation.MemoryDisabled, "the server has no memory across conversations (--memory)")
	}
	return nil
}

// scopeOf returns the scope that a call is about.
func (s *Service) scopeOf(ctx context.Context, of Of) (memory.Scope, error) {
	if err := requireTarget(s.Target); err != nil {
		return memory.Scope{}, err
	}
	if of.ActorID != "" {
		return memory.Scope{Namespace: of.Key.Namespace, Kind: memory.ScopeUser, ID: of.ActorID}, nil
	}
	snap, err := s.Txn.Read(ctx, of.Key, store.Query{Info: true})
	if err != nil {
		return memory.Scope{}, err
	}
	return scopeIn(of.Key, snap.Head.Incarnation, snap.Info, of.Scope)
}

// sessionID names a conversation's own scope. It holds the incarnation, so that a later conversation with the same id finds
// nothing in it.
func sessionID(key store.Key, incarnation conversation.ID) string {
	return key.Conversation + "#" + incarnation.String()
}

// scopeIn returns the scope of a kind that a conversation's attributes name.
func scopeIn(key store.Key, incarnation conversation.ID, info *store.Info, kind memory.ScopeKind) (memory.Scope, error) {
	scope := memory.Scope{Namespace: key.Namespace, Kind: kind}
	switch kind {
	case memory.ScopeOrg:
		return scope, nil
	case memory.ScopeSession:
		scope.ID = sessionID(key, incarnation)
	case memory.ScopeAgent:
		scope.ID = info.AgentID
	default:
		scope.Kind, scope.ID = memory.ScopeUser, info.ActorID
	}
	if scope.ID == "" {
		return scope, conversation.Errorf(conversation.NoActor, "the conversation has no actor_id or agent_id that names the scope")
	}
	return scope, nil
}

// defaultResults is how many memories a search without a limit returns.
const defaultResults = 10

// Search finds the memories that answer a query, best first, over all scopes that can be searched.
func (s *Service) Search(ctx context.Context, r SearchRequest) (*SearchResult, error) {
	if err := requireTarget(s.Target); err != nil {
		return nil, err
	}
	snap, err := s.Txn.Read(ctx, r.Key, store.Query{Info: true})
	if err != nil {
		return nil, err
	}
	if policy := snap.Info.Policy.Or(s.Defaults); r.ForModel && !policy.Memory.Remembers() {
		return nil, conversation.Errorf(conversation.MemoryDisabled, "the conversation's policy has memory off")
	}
	if len(r.Scopes) == 0 {
		r.Scopes = []memory.ScopeKind{memory.ScopeUser}
	}
	r.Limit = cmp.Or(r.Limit, defaultResults)
	result := &SearchResult{}
	var failed error
	for _, kind := range r.Scopes {
		scope, err := scopeIn(r.Key, snap.Head.Incarnation, snap.Info, kind)
		var found []memory.Memory
		if err == nil {
			found, err = s.Target.Search(ctx, scope, r.query(scope, s.Txn.Now()))
		}
		if err != nil {
			failed = err
			result.Degradations = append(result.Degradations, degradation(err))
		}
		result.Memories = append(result.Memories, found...)
	}
	if len(result.Degradations) == len(r.Scopes) {
		return nil, failureOf(ctx, failed)
	}
	byScore(result.Memories)
	result.Memories = result.Memories[:min(len(result.Memories), r.Limit)]
	return result, nil
}

// query is what a search asks of one scope.
func (r *SearchRequest) query(scope memory.Scope, now time.Time) *memory.Query {
	q := &memory.Query{Text: r.Query, Limit: r.Limit, Floor: r.MinScore, Now: now}
	if scope.Kind != memory.ScopeSession {
		q.Except = r.Key.Conversation // SearchMessages finds the conversation's own messages
	}
	return q
}

// List lists memories, including superseded ones.
func (s *Service) List(ctx context.Context, r ListRequest) (memory.Listing, error) {
	scope, err := s.scopeOf(ctx, r.Of)
	if err != nil {
		return memory.Listing{}, err
	}
	page, err := s.Target.List(ctx, scope, &memory.Page{Token: r.Token, Limit: r.Limit, Kinds: r.Kinds, Now: s.Txn.Now()})
	return page, failureOf(ctx, err)
}

// Add remembers a text as it is and returns the memory's id.
func (s *Service) Add(ctx context.Context, r AddRequest) (string, error) {
	scope, err := s.scopeOf(ctx, r.Of)
	if err != nil {
		return "", err
	}
	key := r.RequestID
	if key == "" {
		key = s.IDs().String()
	}
	session := scope.Kind == memory.ScopeSession
	if session {
		if err := s.noteSession(ctx, r.Of.Key); err != nil {
			return "", failureOf(ctx, err)
		}
	}
	sum := sha256.Sum256([]byte("added\x00" + key))
	id, err := s.Target.Put(ctx, scope, &memory.Note{
		Key: hex.EncodeToString(sum[:16]), Text: r.Text, Metadata: r.Metadata, Time: s.Txn.Now(), ExpireTime: r.ExpireTime,
	})
	if err == nil && session {
		err = s.requireScope(ctx, r.Of, scope, id)
	}
	return id, failureOf(ctx, err)
}

// requireScope fails if the conversation of a scope was deleted while a memory was added to it. Its deletion may have forgotten the scope
// before the memory came, so the memory is deleted.
func (s *Service) requireScope(ctx context.Context, of Of, scope memory.Scope, id string) error {
	now, err := s.scopeOf(ctx, of)
	switch {
	case err == nil && now == scope:
		return nil
	case err == nil:
		err = conversation.Errorf(conversation.ConversationNotFound, "the conversation was deleted meanwhile")
	case conversation.KindOf(err) != conversation.ConversationNotFound && conversation.KindOf(err) != conversation.ConversationDeleted:
		return err
	}
	_, failed := s.Target.Delete(context.WithoutCancel(ctx), scope, []string{id})
	return cmp.Or(failed, err)
}

// noteSession records that a conversation's own scope may hold something, which must be deleted with the conversation.
func (s *Service) noteSession(ctx context.Context, key store.Key) error {
	v, err := s.open(ctx, key)
	if v == nil && err == nil {
		_, err = s.Txn.Read(ctx, key, store.Query{}) // it was deleted meanwhile: this says how
	}
	if err != nil {
		return err
	}
	return v.slot.update(ctx, nil, func(slot *record.MemorySync) error {
		slot.Scopes |= sessionBit
		return nil
	})
}

// failureOf turns a target's errors into errors of the domain.
func failureOf(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return txn.Failure(ctx.Err())
	case errors.Is(err, memory.ErrUnavailable), errors.Is(err, memory.ErrDenied):
		return conversation.Errorf(conversation.MemoryUnavailable, "the memory cannot be reached now; try again").Because(err)
	case errors.Is(err, memory.ErrOutcomeUnknown):
		return conversation.Errorf(conversation.OutcomeUnknown, "the memory's answer was lost; try again with the same request id").Because(err)
	case errors.Is(err, memory.ErrRefused):
		return conversation.Errorf(conversation.InvalidField, "the memory refuses it: it is too long, or malformed").Because(err)
	default:
		return txn.Failure(err)
	}
}

// degradation says why a scope was not searched.
func degradation(err error) conversation.Degradation {
	d := conversation.Degradation{Asked: "memories of a scope", Reason: "the memory cannot be reached", Done: "the other scopes were searched", Code: "UNAVAILABLE"}
	var domain *conversation.Error
	if errors.As(err, &domain) && domain.Kind == conversation.NoActor {
		d.Reason, d.Code = "the conversation has no actor_id or agent_id that names the scope", "NO_ACTOR"
	}
	return d
}

// Delete forgets a memory, and reports whether it existed.
func (s *Service) Delete(ctx context.Context, of Of, id string) (bool, error) {
	scope, err := s.scopeOf(ctx, of)
	if err != nil {
		return false, err
	}
	gone, err := s.Target.Delete(ctx, scope, []string{id})
	if err == nil {
		err = s.blocks.unshow(ctx, scope, func(m memory.Memory) bool {
			return m.Scope.Kind == scope.Kind && (m.ID == id || slices.Contains(gone, m.ID))
		})
	}
	return len(gone) > 0, failureOf(ctx, err)
}
