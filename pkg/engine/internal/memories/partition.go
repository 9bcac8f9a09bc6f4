package memories

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// What is to be forgotten is kept in a partition of its own for each namespace, so that it outlives the conversations concerned. No
// credential gives access to a namespace with this prefix.
const (
	partitionPrefix = "memory:"
	outbox          = "outbox"

	errandPrefix     = "errand/"
	errandsOfActors  = errandPrefix + "forget/"
	errandsOfDeleted = errandPrefix + "retract/"
	markPrefix       = "mark/"
	savedLineage     = "lineage/"
)

// The kinds of errands.
const (
	retractErrand int32 = iota + 1
	forgetErrand
)

// IsPartition reports whether a key is that of such a partition.
func IsPartition(key store.Key) bool {
	return key.Conversation == outbox && strings.HasPrefix(key.Namespace, partitionPrefix)
}

// partitionOf returns the key of the partition with a namespace's errands.
func partitionOf(namespace string) store.Key {
	key := store.Key{Namespace: partitionPrefix + namespace, Conversation: outbox}
	if len(key.Namespace) > store.MaxName {
		key.Namespace = partitionPrefix + "#" + memory.Digest(namespace)
	}
	return key
}

func markSlot(actor string) string { return markPrefix + memory.Digest(actor) }

// partitions are where the errands of all namespaces are kept.
type partitions struct {
	store  store.Store // shows everything
	txn    *txn.Manager
	ids    func() conversation.ID
	worker *worker
	target string // the target's name
}

// read reads a partition, or makes up the head of one that does not exist yet.
func (p *partitions) read(ctx context.Context, key store.Key, q store.Query) (*store.Snapshot, error) {
	snap, err := p.store.Read(ctx, key, q)
	if errors.Is(err, store.ErrNotFound) {
		return &store.Snapshot{Head: txn.NewHead(p.ids(), p.txn.Now())}, nil
	}
	return snap, err
}

// markOf reads the time up to which an actor is forgotten.
func (p *partitions) markOf(ctx context.Context, namespace, actor string) (m record.MemoryMark, err error) {
	name := markSlot(actor)
	snap, err := p.read(ctx, partitionOf(namespace), store.Query{Slots: []string{name}})
	if err != nil || snap.Slots[name] == nil {
		return m, err
	}
	return record.DecodeMemoryMark(snap.Slots[name])
}

// put writes slots of a namespace's partition and wakes the worker for it.
func (p *partitions) put(ctx context.Context, key store.Key, slots map[string][]byte) error {
	err := p.txn.Do(ctx, key, func() error {
		snap, err := p.read(ctx, key, store.Query{})
		if err != nil {
			return err
		}
		return p.commit(ctx, key, &snap.Head, slots)
	})
	if err == nil {
		p.worker.at(key, p.txn.Now())
	}
	return err
}

// commit writes slots of a partition, and makes the partition due at once.
func (p *partitions) commit(ctx context.Context, key store.Key, head *store.Head, slots map[string][]byte) error {
	c := &store.Change{Expect: head.Version, Head: txn.NextHead(*head, p.txn.Now()), Slots: slots}
	c.Head.NextDue = txn.Earliest(c.Head.NextDue, c.Head.UpdateTime)
	return p.store.Commit(ctx, key, c)
}

// Deleting writes down what the memory must forget of a conversation, before the conversation is deleted. Soon after that its records are
// removed, and with them the knowledge of what was sent.
func (s *Service) Deleting(ctx context.Context, key store.Key, head *store.Head) error {
	if s.Target == nil {
		return nil
	}
	snap, err := s.Unguarded.Read(ctx, key, store.Query{Incarnation: head.Incarnation, Info: true, Slots: []string{s.SyncSlot()}, SlotsOf: lineageSlots(s.Target.Name())})
	if errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("%w: %w", store.ErrConflict, err) // another incarnation has the name: the deletion must be decided again
	}
	if err != nil || snap.Info == nil {
		return err
	}
	v, err := syncStateOf(s, key, snap)
	if err != nil {
		return err
	}
	if _, bit, sends := v.scope(); sends && head.Messages > 0 {
		v.slot.Scopes |= bit // a first batch may be under way right now
	}
	if v.slot.Scopes == 0 {
		return nil
	}
	ended := !head.ExpireTime.IsZero() && !s.Txn.Now().Before(head.ExpireTime)
	return s.partitions.putRetraction(ctx, v, snap.Slots, ended || v.policy.OnDelete == conversation.OnDeleteKeep)
}

// deletedMeanwhile does what Deleting does, for a batch that was under way while its conversation was deleted.
func (p *partitions) deletedMeanwhile(ctx context.Context, v *syncState) error {
	v.slot.Scopes |= userBit | sessionBit
	name := errandsOfDeleted + v.head.Incarnation.String()
	snap, err := p.read(ctx, partitionOf(v.key.Namespace), store.Query{Slots: []string{name}})
	if err != nil {
		return err
	}
	value := snap.Slots[name]
	if value == nil {
		return p.putRetraction(ctx, v, nil, v.policy.OnDelete == conversation.OnDeleteKeep)
	}
	e, err := record.DecodeMemoryErrand(value) // the errand that Deleting wrote holds the lineage and the reason of the deletion
	if err != nil {
		return err
	}
	e.Scopes, e.Looks, e.NextTry = e.Scopes|v.slot.Scopes, 0, time.Time{}
	return p.put(ctx, partitionOf(v.key.Namespace), map[string][]byte{name: record.EncodeMemoryErrand(&e)})
}

// putRetraction writes an errand, with the lineage from the conversation's slots.
func (p *partitions) putRetraction(ctx context.Context, v *syncState, slots map[string][]byte, keepFacts bool) error {
	id := v.head.Incarnation.String()
	now := p.txn.Now()
	e := &record.MemoryErrand{
		Kind: retractErrand, Namespace: v.key.Namespace, Target: p.target, Created: now, Actor: v.info.ActorID,
		Conversation: v.key.Conversation, Incarnation: v.head.Incarnation, Scopes: v.slot.Scopes, KeepFacts: keepFacts,
	}
	out := map[string][]byte{}
	for n := range v.slot.Lineages {
		if value := slots[lineageSlot(p.target, n)]; value != nil {
			out[savedSlot(id, e.Lineages)] = value
			e.Lineages++
		}
	}
	out[errandsOfDeleted+id] = record.EncodeMemoryErrand(e)
	return p.put(ctx, partitionOf(v.key.Namespace), out)
}

func savedSlot(id string, n int32) string { return fmt.Sprintf("%s%s/%06d", savedLineage, id, n) }

// strayTime is how long a target may keep working on a batch whose sender has died.
const strayTime = 5 * time.Minute

// deletionWithin is how long an errand waits for the deletion that it was written for.
const deletionWithin = time.Hour

// retractDeleted takes back what a deleted conversation said. done reports that the errand is finished.
func (w *work) retractDeleted(ctx context.Context) (done bool, err error) {
	key := store.Key{Namespace: w.Namespace, Conversation: w.Conversation}
	snap, err := w.service.Unguarded.Read(ctx, key, store.Query{})
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return false, err
	}
	now := w.service.Txn.Now()
	if err == nil && snap.Head.State == store.Live && snap.Head.Incarnation == w.Incarnation {
		w.NextTry = now.Add(sweeperGrace)
		return now.Sub(w.Created) > deletionWithin, nil // the conversation was not deleted after all
	}
	lines, err := w.savedIDs(ctx)
	if err != nil {
		return false, err
	}
	for _, scope := range scopesOf(key, w.Incarnation, w.Actor, w.Scopes) {
		if err := w.retractFrom(ctx, scope, lines); err != nil {
			return false, err
		}
	}
	// A batch may have been under way in another process that died before taking it back, and a target may still be extracting facts.
	looks := []time.Duration{strayTime}
	if w.service.limits.Async {
		looks = append(looks, laterLooks[:]...)
	}
	if int(w.Looks) == len(looks) {
		return true, nil
	}
	w.NextTry = now.Add(looks[w.Looks])
	w.Looks++
	return false, nil
}

// retractFrom takes what a deleted conversation said out of one scope. The conversation's own scope is deleted as a whole: nobody searches
// it any more.
func (w *work) retractFrom(ctx context.Context, scope memory.Scope, lines [][]string) error {
	if scope.Kind == memory.ScopeSession {
		return w.service.eraser.forgetScope(ctx, &w.MemoryErrand, scope, w.service.Txn.Now())
	}
	var all memory.Forgetting
	var taken []*memory.Retraction
	for _, ids := range lines {
		q := &memory.Retraction{Conversation: w.Conversation, Incarnation: w.Incarnation, Range: everything, IDs: ids, KeepFacts: w.KeepFacts}
		f, err := w.service.eraser.retractAll(ctx, scope, q)
		all.Deleted, all.Residue = all.Deleted+f.Deleted, withResidue(all.Residue, f.Residue)
		if err != nil {
			return err
		}
		taken = append(taken, q)
	}
	w.Deleted, w.Residue = w.Deleted+all.Deleted, withResidue(w.Residue, all.Residue)
	if w.Looks > 0 && all.Deleted == 0 { // views were cleaned at the first look
		return nil
	}
	return w.service.eraser.unshowTaken(ctx, scope, taken, all.Deleted > 0)
}

// savedIDs returns the ids of the memories that a deleted conversation led to, one list per slot. If none are known, it returns one empty
// list.
func (w *work) savedIDs(ctx context.Context) ([][]string, error) {
	if w.Lineages == 0 {
		return [][]string{nil}, nil
	}
	snap, err := w.service.partitions.read(ctx, partitionOf(w.Namespace), store.Query{SlotsOf: savedLineage + w.id() + "/"})
	if err != nil {
		return nil, err
	}
	var out [][]string
	for _, value := range snap.Slots {
		line, err := record.DecodeMemoryLineage(value)
		if err != nil {
			return nil, err
		}
		var ids []string
		for _, o := range line.Origins {
			ids = append(ids, o.IDs...)
		}
		out = append(out, ids)
	}
	if len(out) == 0 {
		out = [][]string{nil}
	}
	return out, nil
}
