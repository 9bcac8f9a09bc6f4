package memories

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// keptFor is how long the partition remembers that an actor was forgotten.
const keptFor = 30 * 24 * time.Hour

// laterLooks are the delays after which a target that works in the background is checked again: 10 minutes after the first check that found
// nothing, and 50 minutes after that.
var laterLooks = [...]time.Duration{10 * time.Minute, 50 * time.Minute}

// ForgetActor starts to forget everything that is remembered of an actor, and to delete the actor's conversations if asked to. If that is
// under way already, it returns the errand that does it.
func (s *Service) ForgetActor(ctx context.Context, namespace, actor string, deleteConversations bool) (*Forgetting, error) {
	if err := requireTarget(s.Target); err != nil {
		return nil, err
	}
	key, id := partitionOf(namespace), s.IDs().String()
	var out *Forgetting
	err := s.Txn.Do(ctx, key, func() error {
		snap, err := s.partitions.read(ctx, key, store.Query{Slots: []string{markSlot(actor)}})
		if err != nil {
			return err
		}
		now := s.Txn.Now()
		e := &record.MemoryErrand{
			Kind: forgetErrand, Namespace: namespace, Target: s.Target.Name(), Created: now, State: int32(ForgetPending), Actor: actor,
			Records: deleteConversations,
		}
		under, was, err := s.partitions.underWay(ctx, key, snap, actor)
		if err != nil {
			return err
		}
		if was != nil && (was.Records || !deleteConversations) {
			out = forgettingOf(under, was)
			return nil
		}
		if was != nil { // the errand now deletes the conversations too, and starts over
			id, e.Created, e.Deleted, e.Residue = under, was.Created, was.Deleted, was.Residue
		}
		out = forgettingOf(id, e)
		return s.partitions.commit(ctx, key, &snap.Head, map[string][]byte{
			markSlot(actor):      record.EncodeMemoryMark(&record.MemoryMark{Time: e.Created, Errand: id}),
			errandsOfActors + id: record.EncodeMemoryErrand(e),
		})
	})
	if err != nil {
		return nil, err
	}
	s.worker.at(key, s.Txn.Now())
	return out, nil
}

// underWay returns the unfinished errand that forgets an actor; nil if there is none.
func (p *partitions) underWay(ctx context.Context, key store.Key, snap *store.Snapshot, actor string) (id string, e *record.MemoryErrand, err error) {
	value := snap.Slots[markSlot(actor)]
	if value == nil {
		return "", nil, nil
	}
	m, err := record.DecodeMemoryMark(value)
	if err != nil {
		return "", nil, err
	}
	name := errandsOfActors + m.Errand
	now, err := p.read(ctx, key, store.Query{Slots: []string{name}})
	if err != nil || now.Slots[name] == nil {
		return "", nil, err
	}
	was, err := record.DecodeMemoryErrand(now.Slots[name])
	if err != nil || was.State == int32(ForgetDone) {
		return "", nil, err
	}
	return m.Errand, &was, nil
}

// Forget reports how far a ForgetActor got.
func (s *Service) Forget(ctx context.Context, namespace, id string) (*Forgetting, error) {
	if err := requireTarget(s.Target); err != nil {
		return nil, err
	}
	name := errandsOfActors + id
	snap, err := s.partitions.read(ctx, partitionOf(namespace), store.Query{Slots: []string{name}})
	if err != nil {
		return nil, txn.Failure(err)
	}
	if snap.Slots[name] == nil {
		return nil, conversation.Errorf(conversation.ForgetNotFound, "no ForgetActor has this id, or it was done more than 30 days ago")
	}
	e, err := record.DecodeMemoryErrand(snap.Slots[name])
	return forgettingOf(id, &e), err
}

func forgettingOf(id string, e *record.MemoryErrand) *Forgetting {
	return &Forgetting{
		ID: id, State: ForgetState(e.State), Deleted: e.Deleted, Conversations: e.Conversations, Residue: e.Residue, CreateTime: e.Created, DoneTime: e.Done,
	}
}

// forgetActor continues to forget an actor: the actor's conversations, everything the target holds, and what views show. It is done when a
// check finds nothing any more.
func (w *work) forgetActor(ctx context.Context) (over bool, err error) {
	if w.State == int32(ForgetDone) {
		return true, nil
	}
	if !w.Scanned {
		if err := w.forgetConversations(ctx); err != nil {
			return false, err
		}
		if !w.Scanned {
			return false, nil
		}
	}
	scope := memory.Scope{Namespace: w.Namespace, Kind: memory.ScopeUser, ID: w.Actor}
	if w.State != int32(ForgetVerifying) {
		if err := w.service.eraser.forgetScope(ctx, &w.MemoryErrand, scope, w.Created); err != nil {
			return false, err
		}
		if err := w.service.blocks.unshow(ctx, scope, w.mustForget); err != nil {
			return false, err
		}
	}
	return false, w.verify(ctx, scope)
}

// forgetScope deletes everything that a scope held at the time until, for an errand.
func (e *eraser) forgetScope(ctx context.Context, of *record.MemoryErrand, scope memory.Scope, until time.Time) error {
	for more := true; more; {
		f, err := e.target.Forget(ctx, scope, until)
		if err != nil && !errors.Is(err, memory.ErrNotFound) {
			return err
		}
		of.Deleted, of.Residue, more = of.Deleted+f.Deleted, withResidue(of.Residue, f.Residue), f.More
	}
	return nil
}

// mustForget reports whether a memory is the actor's own and from before the actor was forgotten.
func (w *work) mustForget(m memory.Memory) bool {
	own := m.Scope.Kind == memory.ScopeUser || m.Scope.Kind == memory.ScopeSession
	return own && !m.Time.After(w.Created)
}

// verify checks that nothing from before is left. For a target that works in the background it checks again later.
func (w *work) verify(ctx context.Context, scope memory.Scope) error {
	now := w.service.Txn.Now()
	left, err := w.anyLeft(ctx, scope)
	if err != nil {
		return err
	}
	if left {
		w.State, w.Looks, w.NextTry = int32(ForgetPending), 0, now.Add(jitter(time.Second, int(w.Attempts)))
		return nil
	}
	if looks := int(w.Looks); w.service.limits.Async && looks < len(laterLooks) {
		w.State, w.Looks, w.NextTry = int32(ForgetVerifying), w.Looks+1, now.Add(laterLooks[looks])
		return nil
	}
	w.State, w.Done, w.NextTry = int32(ForgetDone), now, now.Add(keptFor)
	return nil
}

// listPage is how many memories are listed at a time.
const listPage = 100

// anyLeft reports whether the target still has something from before the actor was forgotten.
func (w *work) anyLeft(ctx context.Context, scope memory.Scope) (bool, error) {
	for token := ""; ; {
		page, err := w.service.Target.List(ctx, scope, &memory.Page{Token: token, Limit: listPage, Now: w.service.Txn.Now()})
		if errors.Is(err, memory.ErrNotFound) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if slices.ContainsFunc(page.Memories, w.mustForget) {
			return true, nil
		}
		if token = page.Next; token == "" {
			return false, nil
		}
	}
}

// conversationsPage is how many conversations are listed at a time.
const conversationsPage = 200

// forgetConversations goes through the namespace's conversations. It deletes those of the actor if that was asked for. In either case it
// forgets what is remembered of them alone.
func (w *work) forgetConversations(ctx context.Context) error {
	page, err := w.service.Unguarded.List(ctx, w.Namespace, w.After, conversationsPage)
	if err != nil {
		return err
	}
	for i := range page {
		if entry := &page[i]; entry.Info.ActorID == w.Actor && w.service.Txn.Live(&entry.Head) == nil {
			if err := w.forgetConversation(ctx, entry); err != nil {
				return err
			}
		}
		w.After = page[i].ID
	}
	w.Scanned = len(page) < conversationsPage
	return nil
}

func (w *work) forgetConversation(ctx context.Context, entry *store.Entry) error {
	key := store.Key{Namespace: w.Namespace, Conversation: entry.ID}
	for _, scope := range scopesOf(key, entry.Head.Incarnation, "", sessionBit) {
		if err := w.service.eraser.forgetScope(ctx, &w.MemoryErrand, scope, w.Created); err != nil {
			return err
		}
	}
	if !w.Records || entry.Head.CreateTime.After(w.Created) {
		return nil
	}
	err := w.service.DeleteConversation(ctx, key)
	if isGone(err) {
		return nil
	}
	if err == nil {
		w.Conversations++
	}
	return err
}
