package engine

import (
	"context"
	"math"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// Compact makes a conversation's view smaller now, at its own budget. It begins no turn. It waits for a model as long as
// summarizers may take, while nobody is kept from the conversation.
func (e *Engine) Compact(ctx context.Context, r CompactRequest) (*CompactResult, error) {
	var out *CompactResult
	w := &waits{begun: true, left: e.summaries.Deadline(), calls: math.MaxInt}
	for {
		err := e.txn.Do(ctx, r.Key, func() (err error) {
			out, err = e.compactOnce(ctx, &r, w)
			return err
		})
		if again, err := e.again(ctx, r.Key, w, err); !again {
			return out, err
		}
	}
}

// compactOnce is one attempt.
func (e *Engine) compactOnce(ctx context.Context, r *CompactRequest, wait *waits) (*CompactResult, error) {
	w, snap, err := e.views.Open(ctx, r.Key, r.Request)
	if err != nil {
		return nil, err
	}
	if err := e.settled(ctx, w); err != nil {
		return nil, err
	}
	first, err := e.txn.Recall(snap, r.Request)
	if err != nil || first != nil {
		return e.repeatCompact(ctx, w, first)
	}
	blank, err := e.decidingOn(ctx, w, r)
	if err != nil {
		return nil, err
	}
	blank.waits = wait
	before := int64(0)
	d, err := e.runBuild(ctx, blank, func(d *deciding) (err error) {
		if d.out, err = d.Compose(d.view, d.start); err != nil {
			return err
		}
		before = d.fixed + d.out.Tokens()
		return d.compactNow(r)
	})
	if err != nil {
		e.views.Release(w) // whoever has waited comes back to it
		return nil, err
	}
	return e.commitCompact(ctx, d, r, before-d.fixed-d.out.Tokens())
}

// decidingOn decides on the conversation's view as the last build at its own budget did.
func (e *Engine) decidingOn(ctx context.Context, w *view.Loaded, r *CompactRequest) (*deciding, error) {
	build := &BuildRequest{Key: r.Key, Format: conversation.FormatNeutral}
	if w.Head.ManifestSeq > 0 {
		m, err := e.views.Manifest(ctx, w, w.Head.ManifestSeq)
		if err := view.IgnoreKind(err, conversation.ManifestNotFound); err != nil {
			return nil, err
		}
		if m != nil {
			build.Format, build.Model = m.Format, m.Model
		}
	}
	known, err := w.BudgetWindows()
	if err != nil {
		return nil, err
	}
	standing := w.Info.Policy.Or(e.defaults).Fit
	for _, f := range known {
		if standing.ContextWindowTokens == nil {
			own, none := int32(max(f.Budget, int64(conversation.ValueOr(build.Budget.ContextWindow, 0)))), int32(0)
			build.Budget = BudgetOverride{ContextWindow: &own, ReservedOutput: &none}
		}
	}
	build.PolicyOverride.Compaction.Strategy = r.Strategy
	build.SameTurn = true
	d, _, err := e.prepare(ctx, w, build)
	if err != nil {
		return nil, err
	}
	d.turn, d.aging = w.Head.Turn, false
	return d, nil
}

// compactNow summarizes, or moves the window's start.
func (d *deciding) compactNow(r *CompactRequest) error {
	c := &d.settings.compact
	target, keep := c.target, conversation.ValueOr(r.KeepRecent, c.keep)
	if r.TargetTokens != nil {
		target = unscaled(int64(*r.TargetTokens), d.settings.factor)
		c.within(target / summaryPart)
	}
	if r.TargetTokens != nil || r.KeepRecent != nil {
		c.tail = target // what is asked for by name holds as far as the target allows
	}
	if len(d.out.Units) == 0 {
		return nothingToCompact()
	}
	if c.strategy == conversation.StrategySlidingWindow {
		return d.slide(target, keep)
	}
	done, err := d.compact(conversation.ReasonCompactRequest, target, keep)
	if err == nil && !done {
		return nothingToCompact()
	}
	return err
}

// slide moves the window's start to the newest messages.
func (d *deciding) slide(target int64, keep int32) error {
	cut := d.cutBeside(max(0, min(d.settings.compact.tail, target-d.fixed)), keep)
	if cut <= d.out.Window.Start {
		return nothingToCompact()
	}
	before := d.fixed + d.out.Tokens()
	if err := d.move(d.startingAt(cut)); err != nil {
		return err
	}
	if !d.shrunk(before) { // the request may weigh more than what has left
		return nothingToCompact()
	}
	return nil
}

func nothingToCompact() error {
	return conversation.Errorf(conversation.NothingToCompact, "nothing lies between the last summary and the newest messages that would make the view smaller by enough")
}

func (e *Engine) commitCompact(ctx context.Context, d *deciding, r *CompactRequest, saved int64) (*CompactResult, error) {
	w := d.Loaded
	c := &store.Change{Expect: w.Head.Version, Head: txn.NextHead(w.Head, d.now), Slots: map[string][]byte{}}
	c.Head.Revision++
	c.Head.EditSeq += int64(len(d.edits))
	c.Head.Start = d.out.Window.Start
	for i := range d.edits {
		d.edits[i].Commit = c.Head.Version
	}
	if _, err := d.changeFits(c); err != nil {
		return nil, err
	}
	if err := d.changeDraft(c); err != nil {
		return nil, err
	}
	out := &CompactResult{
		Range: conversation.Range{First: d.start.Start, End: d.out.Window.Start}, Saved: saved, Events: conversation.EventsOf(d.edits),
		Degradations: d.degradations, Revision: c.Head.Revision,
	}
	for i := range d.edits {
		e := &d.edits[i]
		out.Summaries = append(out.Summaries, inView(e, e.Summary.Text.Inline))
		if i == 0 || e.Range.First < out.Range.First {
			out.Range.First = e.Range.First
		}
	}
	var err error
	if c.Edits, c.Uploads, err = e.blobs.StageSummaries(ctx, w.Key, w.Head.Incarnation, d.edits); err != nil {
		return nil, err
	}
	o := store.Outcome{FirstIndex: out.Range.First, Count: out.Range.Len(), Manifest: -saved, Revision: c.Head.Revision}
	if len(d.edits) > 0 { // what they say tells a retry what they saved
		o.Manifest, out.Saved = d.edits[0].Seq, savedBy(d.edits)
	}
	txn.Remember(c, r.Request, o)
	return out, e.store.Commit(ctx, w.Key, c)
}

// savedBy is by how much summaries have made the view smaller.
func savedBy(edits []conversation.Edit) int64 {
	n := int64(0)
	for i := range edits {
		n += edits[i].Before - edits[i].After
	}
	return n
}

// inView describes a summary whose text was read.
func inView(e *conversation.Edit, text string) SummaryInView {
	s := e.Summary
	return SummaryInView{
		ID: s.ID, Range: e.Range, Level: s.Level, Children: s.Children, Text: text, Tokens: s.Tokens, Model: s.Model, EditSeq: e.Seq, Erased: s.Erased,
	}
}

// repeatCompact answers a retry with the first outcome: which edit was its first, or what the window's start saved, is remembered.
func (e *Engine) repeatCompact(ctx context.Context, w *view.Loaded, o *store.Outcome) (*CompactResult, error) {
	out := &CompactResult{
		Range: conversation.Range{First: o.FirstIndex, End: o.FirstIndex + o.Count}, Revision: o.Revision, Saved: max(0, -o.Manifest), Duplicate: true,
	}
	if o.Manifest <= 0 {
		return out, nil
	}
	spans, err := e.views.Spans(ctx, w)
	if err != nil {
		return nil, err
	}
	var made []conversation.Edit
	for _, s := range spans {
		if s.Summary != nil && s.Seq >= o.Manifest && (len(made) == 0 || s.Commit == made[0].Commit) {
			made = append(made, s)
		}
	}
	for i := range made {
		texts, err := e.blobs.Texts(ctx, w.Key, w.Head.Incarnation, made[i].Summary.Text)
		if err != nil {
			return nil, err
		}
		out.Summaries = append(out.Summaries, inView(&made[i], texts[0]))
	}
	out.Saved = savedBy(made)
	return out, nil
}
