package plan

import (
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/copies"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/report"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// Result is the answer of a build.
func (d *Attempt) Result(a *provider.Assembly, m conversation.Manifest) *report.Result {
	r := &report.Result{Turn: d.Turn, Manifest: m, Revision: m.Revision}
	r.SetContext(m.Format, d.Composed, a)
	total := d.Fixed + d.Composed.Tokens()
	r.Tokens = report.Tokens{
		Fixed: d.Fixed, Messages: d.Composed.Tokens(), Total: Scaled(total, d.Settings.factor), Budget: d.Settings.budget,
		Counter: d.Settings.Counter.Name(), Factor: d.Settings.factor,
	}
	d.Composed.NoRoom = append(d.Composed.NoRoom, d.displaced...)
	r.Explain(d.Composed, &m, d.Loaded.Head.Tokens)
	r.Decisions = append(r.Decisions, d.overShare...)
	r.Decisions = append(append(r.Decisions, d.deferredEdits...), copies.Decisions(d.Edits)...)
	r.Events, r.Degradations = append(conversation.EventsOf(d.Edits), d.failures...), d.Degradations
	r.Compaction.Used, r.Compaction.Reported = d.UsedTokens()
	r.Compaction.State = d.DraftState()
	if d.Settings.priced {
		r.CacheReadPrice = &d.Settings.read
	}
	return r
}

// Prefix compares the build with the previous one. The blocks are the composition's: the assembly may hold an earlier build's, of the same bytes
// and of other weights.
func (d *Attempt) Prefix(before view.PreviousBuild, m *conversation.Manifest) report.Prefix {
	c := &report.Comparison{
		Before: before, Manifest: m, Blocks: d.Composed.Blocks, View: d.View, Known: d.Loaded.Edits, Made: d.Edits,
		Read: d.Settings.read, Write: d.Settings.write, Price: d.Settings.factor / tokensPerPrice, Cold: d.lifetimes().cacheIsCold(),
	}
	return c.Compare()
}
