package plan

import (
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/completion"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/copies"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/report"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// Result is the answer of a build, with the context's JSON, or without it for a view by place.
func (d *Attempt) Result(a *provider.Assembly, m conversation.Manifest, byPlace bool) *report.Result {
	r := &report.Result{Turn: d.Turn, Manifest: m, Revision: m.Revision, ByPlace: byPlace}
	r.SetContext(m.Format, d.Composed, a)
	total := d.Fixed + d.Composed.Tokens()
	r.Tokens = report.Tokens{
		Fixed: d.Fixed, Messages: d.Composed.Tokens(), Total: d.Settings.Scaled(total), Budget: d.Settings.Budget,
		Counter: d.Settings.Counter.Name(), Factor: d.Settings.Factor,
	}
	d.Composed.NoRoom = append(d.Composed.NoRoom, d.displaced...)
	r.Explain(d.Composed, &m, d.Loaded.Head.Tokens)
	r.Decisions = append(r.Decisions, d.overShare...)
	r.Decisions = append(append(r.Decisions, d.deferredEdits...), copies.Decisions(d.Edits)...)
	r.Events, r.Degradations = append(conversation.EventsOf(d.Edits), d.failures...), d.Degradations
	r.Compaction.Used, r.Compaction.Reported = d.UsedTokens()
	r.Compaction.State = d.DraftState()
	if d.Settings.Priced {
		r.CacheReadPrice = &d.Settings.Read
	}
	return r
}

// Prefix compares the build with the previous one. The blocks are the composition's: the assembly may hold an earlier build's, of the same bytes
// and of other weights.
func (d *Attempt) Prefix(before view.PreviousBuild, m *conversation.Manifest) report.Prefix {
	c := &report.Comparison{
		Before: before, Manifest: m, Blocks: d.Composed.Blocks, View: d.View, Known: d.Loaded.Edits, Made: d.Edits,
		Read: d.Settings.Read, Write: d.Settings.Write, Price: d.Settings.Factor / tokensPerPrice, Cold: d.lifetimes().cacheIsCold(),
	}
	return c.Compare()
}

// completion is what completes a request of these settings.
func (in *Input) completion(policy conversation.Policy) (*completion.Completion, error) {
	return completion.New(&completion.Input{
		Options: in.Request.Complete, Fixed: in.Request.Fixed, Format: in.Format, Model: in.Request.Model, Counter: in.Counter, RecallTools: in.RecallTools,
		Memory: in.Recalls && conversation.ValueOr(policy.Memory.On, false), Incarnation: in.View.Head.Incarnation,
	})
}

// Finish puts into the answer what stands beside the context: the system prompt, and the whole request, if they are asked for.
func (d *Attempt) Finish(r *report.Result, a *provider.Assembly) {
	d.completion.Finish(r, a, d.Composed)
}

// FinishRepeated does the same for a build that is answered again.
func FinishRepeated(in *Input, r *report.Result, out *view.Composition) error {
	c, err := in.completion(in.Request.PolicyOverride.Or(in.View.Info.Policy).Or(in.Defaults))
	if err == nil {
		c.Finish(r, provider.NewAssembly(in.Format.Traits()).With(out.Blocks), out)
	}
	return err
}
