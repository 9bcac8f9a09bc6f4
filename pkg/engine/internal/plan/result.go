package plan

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/compact"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/deduplicate"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/report"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/settings"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// Result is the answer of a build, with the context's JSON, or without it for a view by place.
func (d *Decided) Result(a *provider.Assembly, m conversation.Manifest, byPlace bool) *report.Result {
	g, out := d.Given, d.Composed
	r := &report.Result{Turn: g.Turn, Manifest: m, Revision: m.Revision, ByPlace: byPlace}
	r.SetContext(m.Format, out, a)
	r.Tokens = report.Tokens{
		Fixed: g.Fixed, Messages: out.Tokens(), Total: g.Settings.Scaled(g.Weight(out)), Budget: g.Settings.Budget,
		Counter: g.Settings.Counter.Name(), Factor: g.Settings.Factor,
	}
	shown := *out
	shown.NoRoom = slices.Concat(out.NoRoom, d.fitted.Displaced)
	r.Explain(&shown, &m, g.Loaded.Head.Tokens)
	r.Decisions = slices.Concat(r.Decisions, compact.OverShare(d.Draft, d.compacted.Important), d.Notes.Deferred, deduplicate.Decisions(d.Edits))
	r.Events, r.Degradations = append(conversation.EventsOf(d.Edits), d.Notes.Events...), d.Notes.Degradations
	r.Compaction.Used, r.Compaction.Reported = g.UsedTokens(out)
	r.Compaction.State = d.DraftState(false)
	if g.Settings.Priced {
		r.CacheReadPrice = &g.Settings.Read
	}
	return r
}

// Prefix compares the build with the previous one. The blocks are the composition's: the assembly may hold an earlier build's, of the same bytes
// and of other weights.
func (d *Decided) Prefix(before view.PreviousBuild, m *conversation.Manifest) report.Prefix {
	c := &report.Comparison{
		Before: before, Manifest: m, Blocks: d.Composed.Blocks, View: d.View, Known: d.Given.Loaded.Edits, Made: d.Edits,
		Read: d.Given.Settings.Read, Write: d.Given.Settings.Write, Price: d.Given.Settings.Factor / settings.TokensPerPrice, Cold: d.Given.CacheIsCold(),
	}
	return c.Compare()
}

// Finish puts into the answer what stands beside the context: the system prompt, and the whole request, if they are asked for.
func (d *Decided) Finish(r *report.Result, a *provider.Assembly) {
	d.Given.Completion.Finish(r, a, d.Composed)
}

// FinishRepeated does the same for a build that is answered again.
func FinishRepeated(in *Input, r *report.Result, out *view.Composition) error {
	c, err := in.completion(in.Request.PolicyOverride.Or(in.View.Info.Policy).Or(in.Defaults))
	if err == nil {
		c.Finish(r, provider.NewAssembly(in.Format.Traits()).With(out.Blocks), out)
	}
	return err
}
