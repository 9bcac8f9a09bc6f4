package plan

import (
	"fmt"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/compact"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/drafts"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/pass"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/report"
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
func (d *Decided) Change(r *Request, reported *conversation.Manifest, a *provider.Assembly) (*store.Change, conversation.Manifest, error) {
	w := d.Given.Loaded
	c := &store.Change{Expect: w.Head.Version, Head: txn.NextHead(w.Head, d.Given.Now), Edits: d.Edits, Slots: map[string][]byte{}}
	moved, err := d.WriteBudgetWindows(c)
	if err != nil {
		return nil, conversation.Manifest{}, err
	}
	if reported != nil {
		c.ReplaceManifests = []conversation.Manifest{*reported}
		c.Slots[view.UsageSlot(reported.Model)], c.Slots[view.UsedSlot] = w.Slots[view.UsageSlot(reported.Model)], w.Slots[view.UsedSlot]
	}
	w.Slots.DropKeptUsage(c)
	if err := d.markReportAnswered(c); err != nil {
		return nil, conversation.Manifest{}, err
	}
	for i := range c.Edits {
		c.Edits[i].Commit = c.Head.Version
	}
	d.Erased.Write(c)
	d.expired.Write(d.Given, c)
	d.pruned.Write(d.Given, c)
	if err := d.WriteDraft(c); err != nil {
		return nil, conversation.Manifest{}, err
	}
	h := &c.Head
	if d.Given.NewTurn {
		h.SeenBefore = h.Seen
	}
	if len(c.Edits) > 0 || moved {
		h.Revision++
	}
	h.EditSeq, h.Turn, h.Seen, h.Start = h.EditSeq+int64(len(c.Edits)), d.Given.Turn, h.Messages, d.Composed.Window.Start
	h.ManifestSeq++
	h.LastManifest[r.Format] = h.ManifestSeq
	h.NextDue = txn.Earliest(h.NextDue, d.Given.Now.Add(ManifestMemory))
	if h.ManifestSeq%64 == 0 {
		c.DropManifests = h.ManifestSeq - ManifestsKept + 1
	}
	m := d.manifest(r, a, h)
	c.Manifest = &m
	txn.Remember(c, r.Request, store.Outcome{Manifest: m.Seq, Revision: h.Revision})
	return c, m, nil
}

// WriteBudgetWindows remembers the window for the budget, and says whether it shows other messages than the last one did.
func (d *Decided) WriteBudgetWindows(c *store.Change) (moved bool, err error) {
	known, err := d.Given.Loaded.Slots.BudgetWindows()
	if err != nil {
		return false, err
	}
	before, ok := known.Of(d.Given.Settings.Budget)
	if !ok {
		before = conversation.WindowFrom(0)
	}
	moved = !d.Composed.Window.Equal(&before)
	if ok && !moved && known.Last(d.Given.Settings.Budget) {
		return false, nil
	}
	c.Slots[view.BudgetWindowsSlot] = record.EncodeFits(known.With(d.Given.Settings.Budget, d.Composed.Window), d.Given.Loaded.Slots[view.BudgetWindowsSlot])
	return moved, nil
}

// manifest holds the coordinates of the build; head is the one that it commits.
func (d *Decided) manifest(r *Request, a *provider.Assembly, head *store.Head) conversation.Manifest {
	return conversation.Manifest{
		Seq: head.ManifestSeq, Turn: d.Given.Turn, Format: r.Format, Model: r.Model,
		MessageCount: head.Messages, EditSeq: head.EditSeq, Window: d.Composed.Window,
		LeadingSystem: d.Given.Kept.LeadingSystem, Pins: d.Given.Kept.Pins,
		Budget: d.Given.Settings.Budget, Tokens: d.Composed.Tokens(), FixedTokens: d.Given.Fixed, FixedHash: d.Given.Loaded.Fixed.Hash,
		Counter: d.Given.Loaded.Info.Counter, Factor: d.Given.Settings.Factor, PolicyHash: d.Given.Settings.Hash,
		RendererVersion: provider.RendererVersion, SHA256: a.Sum(), Time: d.Given.Now, Revision: head.Revision, Blocks: int32(len(a.Blocks())),
		EarlierEnd: d.Composed.EarlierEnd(d.Given.Format.Traits().Request.CacheLookback, d.Given.Previous.Blocks),
	}
}

// markReportAnswered remembers that the view was made smaller for the last report.
func (d *Decided) markReportAnswered(c *store.Change) error {
	r, ok, err := d.Given.Loaded.Slots.LastUsage()
	if err != nil || !ok || !d.compacted.AnswersReport {
		return err
	}
	r.Spent = true
	c.Slots[view.UsedSlot] = record.EncodeUsageReport(&r)
	return nil
}

// WriteDraft takes a draft away that was published, or that does not stand any more.
func (d *Decided) WriteDraft(c *store.Change) error {
	r, stored, err := drafts.Of(d.Given.Loaded)
	if err != nil {
		return err
	}
	if len(d.Erased.Messages) > 0 { // what was begun a moment ago may hold it: it has to be seen, and dropped
		c.ExpectSlots = map[string][]byte{drafts.Slot: stored}
	}
	if stored == nil || r.State == drafts.Failed || !pass.Summarizes(d.Edits) && compact.DraftStands(d.Given, d.Draft, &r.Plan) {
		return nil
	}
	if err := drafts.Drop(d.Given.Loaded, c); err != nil || !d.Given.Allowance.ModelTried || !r.Leased(d.Given.Now) {
		return err
	}
	// It did not come in time, so that an extract was published: the next build that overflows must not wait as long again.
	late := drafts.Record{State: drafts.Failed, Until: d.Given.Now.Add(drafts.FailedFor), Reason: pass.ErrNotReady.Error()}
	c.Slots[drafts.Slot] = late.Encode()
	return nil
}

// DraftState says how far the next summary is after the build's commit. begun says that one was begun in the background.
func (d *Decided) DraftState(begun bool) report.CompactionState {
	r, _, err := drafts.Of(d.Given.Loaded)
	switch {
	case err != nil || pass.Summarizes(d.Edits):
		return report.CompactionIdle
	case begun || r.Leased(d.Given.Now):
		return report.CompactionPreparing
	case r.State == drafts.Ready && compact.DraftStands(d.Given, d.Draft, &r.Plan):
		return report.CompactionReady
	default:
		return report.CompactionIdle
	}
}
