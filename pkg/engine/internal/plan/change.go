package plan

import (
	"fmt"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/erasures"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// ManifestMemory and ManifestsKept are how long, and how many, manifests are kept (behaviour §13).
const (
	ManifestMemory = 30 * 24 * time.Hour
	ManifestsKept  = 1000
)

// maxTurnsAhead is how far a build may jump (behaviour §3).
const maxTurnsAhead = 1000

// NextTurn is the turn of a build.
func NextTurn(current int32, r *Request) (int32, error) {
	switch {
	case r.Turn == nil && r.SameTurn && current > 0:
		return current, nil
	case r.Turn == nil:
		return current + 1, nil
	case *r.Turn < current || *r.Turn == 0:
		return 0, conversation.Errorf(conversation.TurnPassed, "turn %d has passed; the current one is %d", *r.Turn, current)
	case int64(*r.Turn) > int64(current)+maxTurnsAhead:
		return 0, conversation.Errorf(conversation.InvalidField, "the turn is too far ahead").
			At("turn", fmt.Sprintf("at most %d after the current turn, %d", maxTurnsAhead, current))
	default:
		return *r.Turn, nil
	}
}

// Change is what the build commits.
func (d *Attempt) Change(r *Request, reported *conversation.Manifest, a *provider.Assembly) (*store.Change, conversation.Manifest, error) {
	w := d.Loaded
	c := &store.Change{Expect: w.Head.Version, Head: txn.NextHead(w.Head, d.Now), Edits: d.Edits, Slots: map[string][]byte{}}
	moved, err := d.WriteBudgetWindows(c)
	if err != nil {
		return nil, conversation.Manifest{}, err
	}
	if reported != nil {
		c.ReplaceManifests = []conversation.Manifest{*reported}
		c.Slots[view.UsageSlot(reported.Model)], c.Slots[view.UsedSlot] = w.Slots[view.UsageSlot(reported.Model)], w.Slots[view.UsedSlot]
	}
	w.DropKeptUsage(c)
	if err := d.reporting().markReportAnswered(c); err != nil {
		return nil, conversation.Manifest{}, err
	}
	for i := range c.Edits {
		c.Edits[i].Commit = c.Head.Version
	}
	d.erasing().writeErasures(c)
	d.writeRequested(c)
	view.WriteList(c, d.Loaded, erasures.PrunedSlot, d.reclaims, record.EncodeReclaims)
	if err := d.WriteDraft(c); err != nil {
		return nil, conversation.Manifest{}, err
	}
	h := &c.Head
	if d.NewTurn {
		h.SeenBefore = h.Seen
	}
	if len(c.Edits) > 0 || moved {
		h.Revision++
	}
	h.EditSeq, h.Turn, h.Seen, h.Start = h.EditSeq+int64(len(c.Edits)), d.Turn, h.Messages, d.Composed.Window.Start
	h.ManifestSeq++
	h.LastManifest[r.Format] = h.ManifestSeq
	h.NextDue = txn.Earliest(h.NextDue, d.Now.Add(ManifestMemory))
	if h.ManifestSeq%64 == 0 {
		c.DropManifests = h.ManifestSeq - ManifestsKept + 1
	}
	m := d.manifest(r, a, h)
	c.Manifest = &m
	txn.Remember(c, r.Request, store.Outcome{Manifest: m.Seq, Revision: h.Revision})
	return c, m, nil
}

// WriteBudgetWindows remembers the window for the budget, and says whether it shows other messages than the last one did.
func (d *Attempt) WriteBudgetWindows(c *store.Change) (moved bool, err error) {
	known, err := d.Loaded.BudgetWindows()
	if err != nil {
		return false, err
	}
	before, ok := known.Of(d.Settings.Budget)
	if !ok {
		before = conversation.WindowFrom(0)
	}
	moved = !d.Composed.Window.Equal(&before)
	if ok && !moved && known.Last(d.Settings.Budget) {
		return false, nil
	}
	c.Slots[view.BudgetWindowsSlot] = record.EncodeFits(known.With(d.Settings.Budget, d.Composed.Window), d.Loaded.Slots[view.BudgetWindowsSlot])
	return moved, nil
}

// manifest holds the coordinates of the build; head is the one that it commits.
func (d *Attempt) manifest(r *Request, a *provider.Assembly, head *store.Head) conversation.Manifest {
	return conversation.Manifest{
		Seq: head.ManifestSeq, Turn: d.Turn, Format: r.Format, Model: r.Model,
		MessageCount: head.Messages, EditSeq: head.EditSeq, Window: d.Composed.Window,
		LeadingSystem: d.Kept.LeadingSystem, Pins: d.Kept.Pins,
		Budget: d.Settings.Budget, Tokens: d.Composed.Tokens(), FixedTokens: d.Fixed, FixedHash: d.Loaded.Fixed.Hash,
		Counter: d.Loaded.Info.Counter, Factor: d.Settings.Factor, PolicyHash: d.Settings.Hash,
		RendererVersion: provider.RendererVersion, SHA256: a.Sum(), Time: d.Now, Revision: head.Revision, Blocks: int32(len(a.Blocks())),
		EarlierEnd: d.Composed.EarlierEnd(d.Format.Traits().Request.CacheLookback, d.Previous.Blocks),
	}
}
