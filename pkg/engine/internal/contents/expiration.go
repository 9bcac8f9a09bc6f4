package contents

import (
	"context"
	"crypto/sha256"
	"maps"
	"slices"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

// maxExpired is how many contents go in one commit of the sweeper.
const maxExpired = 64

// Expiration is what goes in one commit of the sweeper: contents of runs that are over.
type Expiration struct {
	service *Service
	key     store.Key
	now     time.Time
	change  *store.Change
	slots   *SlotChanges
	left    int // contents that this commit may still take

	messages map[int32]*conversation.Message
	edits    map[int64]*conversation.Edit
	history  map[int32][]conversation.Edit // what was made of each message
	forget   [][32]byte
}

// ExpireRuns adds to a commit of the sweeper what goes with runs that are over, and when to look again.
func (cs *Service) ExpireRuns(ctx context.Context, key store.Key, c *store.Change, now time.Time) (*Expiration, error) {
	snap, err := cs.Store.Read(ctx, key, store.Query{Incarnation: c.Head.Incarnation, SlotsOf: RunSlots})
	if err != nil {
		return nil, err
	}
	x := &Expiration{
		service: cs, key: key, now: now, change: c, slots: NewSlotChanges(snap.Slots), left: maxExpired,
		messages: map[int32]*conversation.Message{}, edits: map[int64]*conversation.Edit{},
		history: map[int32][]conversation.Edit{},
	}
	for _, name := range slices.Sorted(maps.Keys(snap.Slots)) {
		if err := x.run(ctx, name); err != nil {
			return nil, err
		}
	}
	x.finish()
	return x, nil
}

// run lets go what is due of one run.
func (x *Expiration) run(ctx context.Context, name string) error {
	r, err := ParseRun(x.slots.Get(name))
	if err != nil {
		return err
	}
	if x.now.Before(r.NextAction()) {
		x.change.Head.NextDue = txn.Earliest(x.change.Head.NextDue, r.NextAction())
		return nil
	}
	if r.Gone {
		x.slots.Changed[name] = nil
		return nil
	}
	done, err := x.sources(ctx, r)
	if err != nil {
		return err
	}
	if !done {
		x.change.Head.NextDue = x.now // the next commit goes on
		return nil
	}
	r.End, r.Gone, r.Sources = r.Due().UnixMilli(), true, nil
	x.change.Head.NextDue = txn.Earliest(x.change.Head.NextDue, r.NextAction())
	return x.slots.Set(name, r.Encode())
}

// sources lets go the contents of a run, as many as this commit may take.
func (x *Expiration) sources(ctx context.Context, r *RunRecord) (done bool, err error) {
	done = true
	for _, s := range r.Sources {
		err := x.service.EachSource(ctx, x.key, x.change.Head.Incarnation, s[0], s[1], func(number int64, rec *Record) error {
			if rec.Expired {
				return nil
			}
			if x.left == 0 {
				done = false
				return errEnough
			}
			x.left--
			return x.source(ctx, number, rec)
		})
		if err == errEnough { //nolint:errorlint // it is given and taken right here
			break
		}
		if err != nil {
			return false, err
		}
	}
	return done, nil
}

var errEnough = conversation.Errorf(conversation.Internal, "enough")

// source lets a content go. Its record stays.
func (x *Expiration) source(ctx context.Context, number int64, r *Record) error {
	e := conversation.Edit{Kind: conversation.EditExpireContent, Reason: conversation.ReasonRunEnded, Content: r.Handle}
	n := x.change.Head.Messages
	e.Range = conversation.Range{First: n, End: n}
	if r.AtAppend {
		e.Range, e.Erases = conversation.Range{First: r.Message, End: r.Message + 1}, true
		if err := x.message(ctx, r); err != nil {
			return err
		}
	} else if err := x.release(ctx, [32]byte(r.SHA256), r.Content, r.Bytes); err != nil {
		return err
	}
	txn.AddEdit(x.change, e).Time = x.now
	x.citeAgain(r)
	x.service.Cache.Drop(x.change.Head.Incarnation, number)
	r.Expired = true
	return x.slots.Set(SourceSlot(number), r.Encode())
}

// citeAgain lets the citation stand again for a part that was restored in full: nothing else is left of it to show.
func (x *Expiration) citeAgain(r *Record) {
	edits := x.history[r.Message]
	if !r.AtAppend || len(edits) == 0 {
		return
	}
	if level, _ := (&conversation.View{}).Fold(edits).Part(r.Message, r.Part); level > conversation.Full {
		return
	}
	for _, e := range edits {
		if e.Kind != conversation.EditParts || e.Reason != conversation.ReasonOverCitationThreshold || e.Parts[0].Part != r.Part {
			continue
		}
		e.Reason, e.Before, e.After = conversation.ReasonRunEnded, 0, int64(e.Parts[0].Shown.Tokens)
		txn.AddEdit(x.change, e).Time = x.now
		return
	}
}

// release lets chunks of so many bytes go, if no other content has them.
func (x *Expiration) release(ctx context.Context, sum [32]byte, id []byte, size int64) error {
	if len(id) != len(conversation.ID{}) { // an empty content has none
		return nil
	}
	if err := x.service.ReadSlots(ctx, x.key, x.change.Head.Incarnation, x.slots, SharedSlot(sum)); err != nil {
		return err
	}
	free, err := x.slots.Release(sum, conversation.ID(id))
	if free {
		x.change.Release = append(x.change.Release, conversation.ID(id))
		txn.AddBytes(&x.change.Head, -size)
	}
	return err
}

// ReadSlots reads slots that were not read yet.
func (cs *Service) ReadSlots(ctx context.Context, key store.Key, incarnation conversation.ID, s *SlotChanges, names ...string) error {
	snap, err := cs.Store.Read(ctx, key, store.Query{Incarnation: incarnation, Slots: names})
	if err != nil {
		return txn.Failure(err)
	}
	if s.Read == nil {
		s.Read = map[string][]byte{}
	}
	maps.Copy(s.Read, snap.Slots)
	return nil
}

// message erases the part of a message that a source is. What the view shows of it stays.
func (x *Expiration) message(ctx context.Context, r *Record) error {
	m := x.messages[r.Message]
	if m == nil {
		var err error
		if m, err = x.load(ctx, r.Message); err != nil || m == nil {
			return err
		}
	}
	if int(r.Part) >= len(m.Parts) {
		return Damaged("a source record")
	}
	whole, err := x.service.Blobs.Inline(ctx, x.key, x.change.Head.Incarnation, m.Parts[r.Part:r.Part+1])
	if err != nil {
		return err
	}
	x.forget = append(x.forget, sha256.Sum256([]byte(compaction.PartsText(whole))))
	txn.AddBytes(&x.change.Head, -m.Parts[r.Part].Residue.Bytes())
	m.Parts[r.Part].Residue = nil
	for _, c := range conversation.Contents(m.Parts[r.Part : r.Part+1]) {
		if c.Erased != nil || c.Bytes() == 0 {
			continue
		}
		sum := sha256.Sum256([]byte(c.Inline))
		if c.Ref != nil {
			sum = c.Ref.SHA256
			if err := x.release(ctx, sum, c.Ref.ID[:], c.Ref.Bytes); err != nil {
				return err
			}
		}
		txn.AddBytes(&x.change.Head, -int64(len(c.Inline)))
		*c = txn.Blank(x.change.Head.Incarnation, *c, sum)
	}
	return nil
}

// load reads a message that is rewritten, and marks the summaries that stand for it.
func (x *Expiration) load(ctx context.Context, index int32) (*conversation.Message, error) {
	at := conversation.Range{First: index, End: index + 1}
	snap, err := x.service.Store.Read(ctx, x.key, store.Query{
		Incarnation: x.change.Head.Incarnation, Ranges: []store.MessageRange{{Range: at}}, Edits: &store.EditRange{Of: []conversation.Range{at}},
	})
	if err != nil || len(snap.Messages) == 0 {
		return nil, txn.Failure(err)
	}
	m := snap.Messages[0]
	m.Parts = conversation.CloneParts(m.Parts)
	x.messages[index], x.history[index] = &m, snap.Edits
	for i := range snap.Edits {
		if e := &snap.Edits[i]; e.Summary != nil && e.Range.Contains(index) && !e.Summary.Erased && x.edits[e.Seq] == nil {
			marked, s := *e, *e.Summary
			s.Erased = true
			marked.Summary = &s
			x.edits[e.Seq] = &marked
		}
	}
	return &m, nil
}

// finish puts everything into the commit.
func (x *Expiration) finish() {
	for _, m := range x.messages {
		x.change.ReplaceMessages = append(x.change.ReplaceMessages, *m)
	}
	for _, e := range x.edits {
		x.change.ReplaceEdits = append(x.change.ReplaceEdits, *e)
	}
	slices.SortFunc(x.change.ReplaceMessages, func(a, b conversation.Message) int { return int(a.Index - b.Index) })
	slices.SortFunc(x.change.ReplaceEdits, func(a, b conversation.Edit) int { return int(a.Seq - b.Seq) })
	x.slots.Apply(x.change)
}

// ForgetAll makes everybody forget what is gone, once the commit stands.
func (x *Expiration) ForgetAll() {
	if len(x.messages) == 0 {
		return
	}
	x.service.Views.Cache.Drop(x.key)
	scope := summarize.Scope{Namespace: x.key.Namespace, Conversation: x.key.Conversation}
	for _, hash := range x.forget {
		x.service.Forget.Forget(scope, hash)
	}
	x.service.Forget.ForgetSpans(scope)
	for index := range x.messages {
		x.service.Cache.DropMessage(x.change.Head.Incarnation, index)
	}
}
