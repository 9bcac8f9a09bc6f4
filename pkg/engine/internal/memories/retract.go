package memories

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// editsPage is how many edits are read at a time. They are read together with what they show.
const editsPage = 100

// everything is the range of all messages.
var everything = conversation.Range{End: math.MaxInt32}

// lookAtEdits takes back what edits removed or changed since the last look. more reports that it did something.
func (v *syncState) lookAtEdits(ctx context.Context, seen *verdict) (more bool, next time.Time, err error) {
	gone, again, err := v.retractions(ctx)
	if err != nil {
		return false, next, err
	}
	if len(gone) == 0 && len(again) == 0 {
		v.slot.Edits = v.head.EditSeq // the next change of the slot stores this
		return false, next, nil
	}
	if err := v.slot.lease(ctx, func(*record.MemorySync) {}); err != nil {
		return false, next, err
	}
	taken, slots, residue, failure := v.retract(ctx, gone)
	if ctx.Err() != nil {
		v.slot.letGo(ctx)
		return false, next, ctx.Err()
	}
	if failure != nil {
		next, err = v.failed(ctx, failure, seen)
		return false, next, err
	}
	// A target knows batches and not messages, so other messages went with them. These are sent again.
	again = append(again, conversation.SubtractRanges(taken, gone)...)
	*seen = verdict{reached: true}
	return true, next, v.slot.release(ctx, slots, func(slot *record.MemorySync) {
		slot.Edits = max(slot.Edits, v.head.EditSeq)
		slot.Again = conversation.SubtractRanges(slot.Again, gone)
		slot.Again = conversation.MergeRanges(append(slot.Again, again...))
		slot.Residue = withResidue(slot.Residue, residue)
		v.landed(slot)
	})
}

// withResidue adds what a target keeps to what is known of it, without duplicates.
func withResidue(known, more []string) []string {
	const most = 8 // a target says few different things, and says them often
	for _, r := range more {
		if !slices.Contains(known, r) && len(known) < most {
			known = append(slices.Clip(known), r)
		}
	}
	return known
}

// retractions returns which of the messages that were sent must be taken back, and which must be sent again after that.
func (v *syncState) retractions(ctx context.Context) (gone, again []conversation.Range, err error) {
	given := []conversation.Range{{End: v.slot.Next}}
	for after := v.slot.Edits; after < v.head.EditSeq; after += editsPage {
		snap, err := v.service.Unguarded.Read(ctx, v.key, store.Query{
			Incarnation: v.head.Incarnation, Edits: &store.EditRange{After: after, Upto: min(after+editsPage, v.head.EditSeq)},
		})
		if err != nil {
			return nil, nil, err
		}
		for i := range snap.Edits {
			e := &snap.Edits[i]
			if !changesMemory(e) {
				continue
			}
			about := conversation.IntersectRanges(given, []conversation.Range{e.Range})
			if e.Kind != conversation.EditHide && e.Kind != conversation.EditUnhide {
				if about, err = v.onlySaid(ctx, about); err != nil {
					return nil, nil, err
				}
			}
			if e.Kind != conversation.EditUnhide {
				gone = append(gone, about...)
			}
			if e.Kind == conversation.EditUnhide || e.Kind == conversation.EditCorrect {
				again = append(again, about...)
			}
		}
	}
	return conversation.MergeRanges(gone), conversation.MergeRanges(again), nil
}

// onlySaid drops messages that are not words of a user or the assistant: results of tools are erased all the time.
func (v *syncState) onlySaid(ctx context.Context, ranges []conversation.Range) ([]conversation.Range, error) {
	var out []conversation.Range
	for _, r := range ranges {
		for at := r.First; at < r.End; at += collectPage {
			snap, err := v.service.Unguarded.Read(ctx, v.key, store.Query{
				Incarnation: v.head.Incarnation,
				Ranges:      []store.MessageRange{{Range: conversation.Range{First: at, End: min(at+collectPage, r.End)}}},
			})
			if err != nil {
				return nil, err
			}
			for i := range snap.Messages {
				if m := &snap.Messages[i]; m.Role == conversation.RoleUser || m.Role == conversation.RoleAssistant {
					out = append(out, conversation.Range{First: m.Index, End: m.Index + 1})
				}
			}
		}
	}
	return conversation.MergeRanges(out), nil
}

// takeBack deletes a batch that may have arrived but no longer matches the record.
func (v *syncState) takeBack(ctx context.Context, f record.MemoryFlight, seen *verdict) (next time.Time, more bool, err error) {
	f.Void = true // the target may know the batch's key, and would not accept it again
	if err := v.slot.lease(ctx, func(slot *record.MemorySync) { slot.Flight = &f }); err != nil {
		return next, false, err
	}
	r := conversation.Range{First: f.First, End: f.End}
	taken, slots, residue, failure := v.retract(ctx, []conversation.Range{r})
	if ctx.Err() != nil {
		v.slot.letGo(ctx)
		return next, false, ctx.Err()
	}
	if failure != nil {
		next, err = v.failed(ctx, failure, seen)
		return next, false, err
	}
	*seen = verdict{reached: true}
	again := conversation.IntersectRanges(conversation.SubtractRanges(taken, []conversation.Range{r}), []conversation.Range{{End: v.slot.Next}})
	return next, true, v.slot.release(ctx, slots, func(slot *record.MemorySync) {
		v.landed(slot)
		slot.Again = conversation.MergeRanges(append(slot.Again, again...))
		slot.Residue = withResidue(slot.Residue, residue)
	})
}

// retract takes back ranges of messages, widened to the batches that they were sent in where those are known. It returns the ranges
// taken back, the lineage slots to change, and what the target keeps nevertheless.
func (v *syncState) retract(ctx context.Context, ranges []conversation.Range) (taken []conversation.Range, slots map[string][]byte, residue []string, err error) {
	lines, err := v.readLineage(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	taken, ids, slots := lines.takeBatches(ranges)
	scopes := scopesOf(v.key, v.head.Incarnation, v.info.ActorID, v.slot.Scopes)
	v.slot.underLease(ctx, func(ctx context.Context) {
		for _, scope := range scopes {
			var all memory.Forgetting
			var gone []*memory.Retraction
			for _, r := range taken {
				q := &memory.Retraction{Conversation: v.key.Conversation, Incarnation: v.head.Incarnation, Range: r, IDs: ids}
				var f memory.Forgetting
				if f, err = v.service.eraser.retractAll(ctx, scope, q); err != nil {
					return
				}
				gone, all.Deleted, residue = append(gone, q), all.Deleted+f.Deleted, withResidue(residue, f.Residue)
			}
			if err = v.service.eraser.unshowTaken(ctx, scope, gone, all.Deleted > 0); err != nil {
				return
			}
		}
	})
	return taken, slots, residue, err
}

// eraser takes back from the target, and from what builds showed.
type eraser struct {
	target  memory.Target
	blocks  *blocks
	onError func(error)
}

// retractAll takes back until nothing is left. If a target refuses, it keeps what it has: asking again would not help.
func (e *eraser) retractAll(ctx context.Context, scope memory.Scope, q *memory.Retraction) (all memory.Forgetting, err error) {
	for more := true; more; {
		f, err := e.target.Retract(ctx, scope, q)
		if errors.Is(err, memory.ErrRefused) {
			e.onError(errKept)
			all.Residue = withResidue(all.Residue, []string{"what the memory refused to take back"})
			break
		}
		if err != nil && !errors.Is(err, memory.ErrNotFound) {
			return all, err
		}
		all.Deleted, all.Residue, more = all.Deleted+f.Deleted, withResidue(all.Residue, f.Residue), f.More
	}
	return all, nil
}

// unshowTaken removes from views what retractions took back. If the target deleted anything, facts without known sources are removed
// too.
func (e *eraser) unshowTaken(ctx context.Context, scope memory.Scope, taken []*memory.Retraction, deleted bool) error {
	if len(taken) == 0 {
		return nil
	}
	return e.blocks.unshow(ctx, scope, func(m memory.Memory) bool {
		return deleted && m.Kind == memory.Fact && len(m.Sources) == 0 && !taken[0].KeepFacts ||
			slices.ContainsFunc(taken, func(q *memory.Retraction) bool { return isAbout(&m, q) })
	})
}

// errKept is reported if a target refuses to take something back.
var errKept = errors.New("memories: a memory refused to take messages back")

// isAbout reports whether a retraction is about a memory.
func isAbout(m *memory.Memory, q *memory.Retraction) bool {
	if q.KeepFacts && m.Kind == memory.Fact {
		return false
	}
	if slices.Contains(q.IDs, m.ID) {
		return true
	}
	return slices.ContainsFunc(m.Sources, func(s memory.Source) bool {
		same := s.Conversation == q.Conversation && (s.Incarnation.IsZero() || s.Incarnation == q.Incarnation)
		return same && q.Range.Overlaps(conversation.Range{First: s.First, End: s.Last + 1})
	})
}

// lineage holds which memories the batches of a conversation led to, as far as that is recorded.
type lineage struct {
	slots map[string]record.MemoryLineage
}

func (v *syncState) readLineage(ctx context.Context) (*lineage, error) {
	out := &lineage{slots: map[string]record.MemoryLineage{}}
	if v.slot.Lineages == 0 {
		return out, nil
	}
	snap, err := v.service.Unguarded.Read(ctx, v.key, store.Query{Incarnation: v.head.Incarnation, SlotsOf: lineageSlots(v.service.Target.Name())})
	if err != nil {
		return nil, err
	}
	for name, value := range snap.Slots {
		if out.slots[name], err = record.DecodeMemoryLineage(value); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// takeBatches removes the batches that messages of the ranges were sent in. It returns the ranges widened to those batches, the ids of the
// batches' memories, and the slots that change.
func (l *lineage) takeBatches(ranges []conversation.Range) (taken []conversation.Range, ids []string, changed map[string][]byte) {
	taken, changed = slices.Clone(ranges), map[string][]byte{}
	for name, line := range l.slots {
		left := record.MemoryLineage{}
		for _, o := range line.Origins {
			if !slices.ContainsFunc(ranges, o.Range.Overlaps) {
				left.Origins = append(left.Origins, o)
				continue
			}
			taken, ids = append(taken, o.Range), append(ids, o.IDs...)
		}
		if len(left.Origins) < len(line.Origins) {
			changed[name] = record.EncodeMemoryLineage(&left)
		}
	}
	return conversation.MergeRanges(taken), ids, changed
}

// lineageBytes is up to how many bytes a slot of lineage takes further batches. One batch adds a few thousand ids at most.
const lineageBytes = 32 << 10

// lineageWith adds a batch to the recorded lineage, and returns how many slots there are after that.
func (v *syncState) lineageWith(ctx context.Context, o record.MemoryOrigin) (slots map[string][]byte, count int32, err error) {
	count = v.slot.Lineages
	if len(o.IDs) == 0 || !v.service.limits.ReturnsIDs || v.service.limits.RetractsOne {
		return nil, count, nil
	}
	line := record.MemoryLineage{}
	if count > 0 {
		name := lineageSlot(v.service.Target.Name(), count-1)
		snap, err := v.service.Unguarded.Read(ctx, v.key, store.Query{Incarnation: v.head.Incarnation, Slots: []string{name}})
		if err != nil {
			return nil, count, err
		}
		if line, err = record.DecodeMemoryLineage(snap.Slots[name]); err != nil {
			return nil, count, err
		}
	}
	slots = map[string][]byte{}
	for ids := range slices.Chunk(o.IDs, idsAtOnce) {
		more := record.MemoryOrigin{Range: o.Range, IDs: ids}
		if count == 0 || len(record.EncodeMemoryLineage(&line))+bytesOfIDs(ids) > lineageBytes {
			line, count = record.MemoryLineage{}, count+1
		}
		line.Origins = append(line.Origins, more)
		slots[lineageSlot(v.service.Target.Name(), count-1)] = record.EncodeMemoryLineage(&line)
	}
	return slots, count, nil
}

// idsAtOnce is how many memory ids one entry holds, so that it fits in a slot.
const idsAtOnce = 100

func bytesOfIDs(ids []string) (n int) {
	for _, id := range ids {
		n += len(id) + 4
	}
	return n
}

// sessionName is the name of an incarnation's session outside the sidecar.
func sessionName(incarnation conversation.ID, session int32) string {
	return fmt.Sprintf("%s-%d", incarnation, session)
}
