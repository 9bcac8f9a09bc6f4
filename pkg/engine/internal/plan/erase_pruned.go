package plan

import (
	"slices"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/prune"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// ReclaimSlot holds which pruned results are to be erased, and when (behaviour §7, erase_after).
const ReclaimSlot = view.BuildSlots + "reclaim"

func parseReclaims(value []byte) ([]record.Reclaim, error) {
	if value == nil {
		return nil, nil
	}
	list, err := record.DecodeReclaims(value)
	if err != nil {
		return nil, conversation.Errorf(conversation.CorruptRecord, "the list of results to reclaim is damaged").Because(err)
	}
	return list, nil
}

// scheduleErasure notes that results which were pruned are to be erased. Beyond what the list holds, they stay on record.
func (d *Attempt) scheduleErasure(targets []prune.Target) {
	after := conversation.ValueOr(d.Settings.policy.Pruning.EraseAfter, 0)
	if after <= 0 {
		return
	}
	at := d.Now.Add(after).Unix()
	for _, t := range targets {
		if len(d.reclaims) < MaxErasures {
			d.reclaims = append(d.reclaims, record.Reclaim{Index: t.Index, Part: t.Part, At: at})
		}
	}
}

// reclaimPruned erases the results whose time has come. One that was expanded since is not pruned any more, and stays.
func (d *Attempt) reclaimPruned() error {
	var err error
	if d.reclaims, err = parseReclaims(d.Loaded.Slots[ReclaimSlot]); err != nil || !d.NewTurn {
		return err
	}
	due := func(r record.Reclaim) bool { return !d.Now.Before(time.Unix(r.At, 0)) }
	var ranges []conversation.Range
	for _, r := range d.reclaims {
		if due(r) {
			ranges = append(ranges, conversation.Range{First: r.Index, End: r.Index + 1})
		}
	}
	if len(ranges) == 0 {
		return nil
	}
	if err := d.Loaded.Require(ranges...); err != nil {
		return err
	}
	for _, r := range d.reclaims {
		if due(r) {
			d.reclaimOne(r)
		}
	}
	d.reclaims = slices.DeleteFunc(d.reclaims, due)
	d.Composed, err = d.Compose(d.View, d.Composed.Window)
	return err
}

func (d *Attempt) reclaimOne(r record.Reclaim) {
	m, ok := d.Loaded.Message(r.Index)
	level, reason := d.View.Part(r.Index, r.Part)
	if !ok || level != conversation.Cleared || reason != conversation.ReasonPruned || d.isErased(m, r.Part) {
		return
	}
	text := prune.Cleared("", true)
	shown := compaction.WithText(m.Parts[r.Part].Result, text)
	d.setWeight(&shown, text)
	d.addEdit(conversation.Edit{
		Kind: conversation.EditParts, Range: conversation.Range{First: r.Index, End: r.Index + 1}, Reason: conversation.ReasonPruned,
		Parts:  []conversation.PartEdit{{Part: r.Part, Level: conversation.Cleared, Shown: shown}},
		Before: int64(shown.Tokens), After: int64(shown.Tokens), Erases: true,
	})
	d.eraseFromMessage(r.Index, []int32{r.Part})
}

// writeReclaims puts the list into the build's change.
func (d *Attempt) writeReclaims(c *store.Change) error {
	stored, err := parseReclaims(d.Loaded.Slots[ReclaimSlot])
	if err != nil || slices.Equal(stored, d.reclaims) {
		return err
	}
	c.Slots[ReclaimSlot] = nil
	if len(d.reclaims) > 0 {
		c.Slots[ReclaimSlot] = record.EncodeReclaims(d.reclaims, d.Loaded.Slots[ReclaimSlot])
	}
	return nil
}
