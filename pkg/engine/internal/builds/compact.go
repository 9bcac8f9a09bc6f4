package builds

import (
	"context"
	"math"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/pass"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/settings"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// Compact makes a conversation's view smaller now, at its own budget. It begins no turn. It waits for a model as long as
// summarizers may take, while nobody is kept from the conversation.
func (b *Service) Compact(ctx context.Context, r plan.CompactRequest) (*CompactResult, error) {
	c := &compactCall{service: b, request: &r, waits: &waits{known: pass.Allowance{Left: b.Summaries.Deadline(), Calls: math.MaxInt}, begun: true}}
	for {
		out, err := txn.Decide(ctx, b.Txn, r.Key, func() (*CompactResult, error) { return c.once(ctx) })
		if again, err := b.retryAfterWait(ctx, r.Key, c.waits, err); !again {
			return out, err
		}
	}
}

// compactCall is one call over its attempts.
type compactCall struct {
	service *Service
	request *plan.CompactRequest
	waits   *waits
}

// once is one attempt.
func (c *compactCall) once(ctx context.Context) (*CompactResult, error) {
	b, r := c.service, c.request
	w, snap, err := b.Views.Open(ctx, r.Key, r.Request)
	if err != nil {
		return nil, err
	}
	if err := b.requireSettled(ctx, w); err != nil {
		return nil, err
	}
	first, err := b.Txn.Recall(snap, r.Request)
	if err != nil {
		return nil, err
	}
	if first != nil {
		return c.repeat(ctx, w, first)
	}
	given, err := c.given(ctx, w)
	if err != nil {
		return nil, err
	}
	given.Allowance = c.waits.allowance(0)
	var d *plan.Decided
	var saved int64
	err = b.Views.RunPlan(ctx, w, func() (err error) {
		d, saved, err = plan.CompactNow(given, r)
		return err
	})
	if err != nil {
		b.Views.Release(w) // whoever has waited comes back to it
		return nil, err
	}
	return c.commit(ctx, d, saved)
}

// given is what a compaction is decided on: the conversation's view as the last build at its own budget showed it.
func (c *compactCall) given(ctx context.Context, w *view.Loaded) (*pass.Given, error) {
	b, r := c.service, c.request
	build := &plan.Request{Key: r.Key, Format: conversation.FormatNeutral}
	if w.Head.ManifestSeq > 0 {
		m, err := b.Views.Manifest(ctx, w, w.Head.ManifestSeq)
		if err := view.IgnoreKind(err, conversation.ManifestNotFound); err != nil {
			return nil, err
		}
		if m != nil {
			build.Format, build.Model = m.Format, m.Model
		}
	}
	known, err := w.Slots.BudgetWindows()
	if err != nil {
		return nil, err
	}
	if own, none := int32(known.Largest()), int32(0); own > 0 && w.Info.Policy.Or(b.Defaults).Fit.ContextWindowTokens == nil {
		build.Budget = settings.BudgetOverride{ContextWindow: &own, ReservedOutput: &none}
	}
	build.PolicyOverride.Compaction.Strategy = r.Strategy
	build.SameTurn = true
	g, _, err := b.prepare(ctx, w, build)
	if err != nil {
		return nil, err
	}
	g.Turn, g.NewTurn = w.Head.Turn, false
	return g, nil
}

func (c *compactCall) commit(ctx context.Context, d *plan.Decided, saved int64) (*CompactResult, error) {
	w := d.Given.Loaded
	change := &store.Change{Expect: w.Head.Version, Head: txn.NextHead(w.Head, d.Given.Now), Slots: map[string][]byte{}}
	change.Head.Revision++
	change.Head.EditSeq += int64(len(d.Edits))
	change.Head.Start = d.Composed.Window.Start
	for i := range d.Edits {
		d.Edits[i].Commit = change.Head.Version
	}
	if _, err := d.WriteBudgetWindows(change); err != nil {
		return nil, err
	}
	if err := d.WriteDraft(change); err != nil {
		return nil, err
	}
	out := &CompactResult{
		Range: conversation.Range{First: d.Opened(), End: d.Composed.Window.Start}, Saved: saved, Events: conversation.EventsOf(d.Edits),
		Degradations: d.Notes.Degradations, Revision: change.Head.Revision,
	}
	for i := range d.Edits {
		e := &d.Edits[i]
		out.Summaries = append(out.Summaries, SummaryView(e, e.Summary.Text.Inline))
		if i == 0 || e.Range.First < out.Range.First {
			out.Range.First = e.Range.First
		}
	}
	var err error
	if change.Edits, change.Uploads, err = c.service.Blobs.StageSummaries(ctx, w.Key, w.Head.Incarnation, d.Edits); err != nil {
		return nil, err
	}
	o := store.Outcome{FirstIndex: out.Range.First, Count: out.Range.Len(), Manifest: -saved, Revision: change.Head.Revision}
	if len(d.Edits) > 0 { // what they say tells a retry what they saved
		o.Manifest, out.Saved = d.Edits[0].Seq, tokensSaved(d.Edits)
	}
	txn.Remember(change, c.request.Request, o)
	return out, c.service.Store.Commit(ctx, w.Key, change)
}

// tokensSaved is by how much summaries have made the view smaller.
func tokensSaved(edits []conversation.Edit) int64 {
	n := int64(0)
	for i := range edits {
		n += edits[i].Before - edits[i].After
	}
	return n
}

// SummaryView describes a summary whose text was read.
func SummaryView(e *conversation.Edit, text string) SummaryInView {
	s := e.Summary
	return SummaryInView{
		ID: s.ID, Range: e.Range, Level: s.Level, Children: s.Children, Text: text, Tokens: s.Tokens, Model: s.Model, EditSeq: e.Seq, Erased: s.Erased,
	}
}

// repeat answers a retry with the first outcome: which edit was its first, or what the window's start saved, is remembered.
func (c *compactCall) repeat(ctx context.Context, w *view.Loaded, o *store.Outcome) (*CompactResult, error) {
	out := &CompactResult{
		Range: conversation.Range{First: o.FirstIndex, End: o.FirstIndex + o.Count}, Revision: o.Revision, Saved: max(0, -o.Manifest), Duplicate: true,
	}
	if o.Manifest <= 0 {
		return out, nil
	}
	spans, err := c.service.Views.Spans(ctx, w)
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
		texts, err := c.service.Blobs.Texts(ctx, w.Key, w.Head.Incarnation, made[i].Summary.Text)
		if err != nil {
			return nil, err
		}
		out.Summaries = append(out.Summaries, SummaryView(&made[i], texts[0]))
	}
	out.Saved = tokensSaved(made)
	return out, nil
}
