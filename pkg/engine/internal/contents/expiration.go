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

// maxExpired is how many contents one commit of the sweeper deletes at most.
const maxExpired = 64

// Expiration deletes contents of ended runs, in one commit of the sweeper.
type Expiration struct {
	service *Service
	key     store.Key
	now     time.Time
	change  *store.Change
	slots   *SlotChanges
	left    int // number of contents that this commit may still delete

	messages map[int32]*conversation.Message
	edits    map[int64]*conversation.Edit
	history  map[int32][]conversation.Edit // edits of each message
	forget   [][32]byte
}

// ExpireRuns adds to a commit of the sweeper the deletion of contents of ended runs, and the time to look again.
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
		if err := x.expireRun(ctx, name); err != nil {
			return nil, err
		}
	}
	x.finish()
	return x, nil
}

// expireRun deletes the contents of one run that are due.
func (x *Expiration) expireRun(ctx context.Context, name string) error {
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
	done, err := x.expireContents(ctx, r)
	if err != nil {
		return err
	}
	if !done {
		x.change.Head.NextDue = x.now // the next commit continues with this run
		return nil
	}
	r.End, r.Gone, r.Sources = r.Due().UnixMilli(), true, nil
	x.change.Head.NextDue = txn.Earliest(x.change.Head.NextDue, r.NextAction())
	return x.slots.Set(name, r.Encode())
}

// expireContents deletes the contents of a run, as many as this commit may.
func (x *Expiration) expireContents(ctx context.Context, r *RunRecord) (done bool, err error) {
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
			return x.expireContent(ctx, number, rec)
		})
		if err == errEnough { //nolint:errorlint // errEnough is only returned by the function above, unwrapped
			break
		}
		if err != nil {
			return false, err
		}
	}
	return done, nil
}

var errEnough = conversation.Errorf(conversation.Internal, "enough")

// expireContent deletes a content. Its source record stays.
func (x *Expiration) expireContent(ctx context.Context, number int64, r *Record) error {
	e := conversation.Edit{Kind: conversation.EditExpireContent, Reason: conversation.ReasonRunEnded, Content: r.Handle}
	n := x.change.Head.Messages
	e.Range = conversation.Range{First: n, End: n}
	if r.AtAppend {
		e.Range, e.Erases = conversation.Range{First: r.Message, End: r.Message + 1}, true
		if err := x.eraseMessage(ctx, r); err != nil {
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

// citeAgain shows the citation again of a part that was restored in full: its original is about to be erased.
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

// release deletes chunks of the given size if no other content shares them.
func (x *Expiration) release(ctx context.Context, sum [32]byte, id []byte, size int64) error {
	if len(id) != len(conversation.ID{}) { // an empty content has no chunks
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

// ReadSlots reads those of the named slots that were not read yet.
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

// eraseMessage erases the part of a message that is the content. What the view shows in its place stays.
func (x *Expiration) eraseMessage(ctx context.Context, r *Record) error {
	m := x.messages[r.Message]
	if m == nil {
		var err error
		if m, err = x.loadMessage(ctx, r.Message); err != nil || m == nil {
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
		*c = txn.ErasedContent(x.change.Head.Incarnation, *c, sum)
	}
	return nil
}

// loadMessage reads a message that will be rewritten, and marks the summaries over it as made of erased text.
func (x *Expiration) loadMessage(ctx context.Context, index int32) (*conversation.Message, error) {
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

// finish adds everything to the commit.
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

// ForgetAll clears what caches hold of the erased contents, once the commit stands.
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
