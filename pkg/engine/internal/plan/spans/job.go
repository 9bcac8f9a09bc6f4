package spans

import (
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/drafts"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/settings"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
)

// Job gets everything together that a plan needs, but for what of it is not loaded. room is what the target of the compaction leaves for its
// summary.
func (d *Planner) Job(p *drafts.Plan, room int64) (*drafts.Job, error) {
	c := d.Goal
	if c.Strategy == conversation.StrategySummarize { // elsewhere several stand beside each other
		c.Summary = min(c.Summary, max(room-c.Losses, c.Summary/2)) // the list beside it must hold what it would lose
	}
	w := &drafts.Job{
		Plan: *p, Key: d.Loaded.Key, Incarnation: d.Loaded.Head.Incarnation, Counter: d.Settings.Counter,
		Summary: c.Summary, Losses: c.Losses, Earlier: map[int64]drafts.Text{},
	}
	w.Prompt = d.Prompt()
	for i := range p.Steps {
		units, err := d.ownUnits(&p.Steps[i])
		if err := view.IgnoreMissing(err); err != nil {
			return nil, err
		}
		w.Units, w.Whole = append(w.Units, compaction.Brief(units)), append(w.Whole, units)
		if err := view.IgnoreMissing(d.readEarlier(w, p.Steps[i].Children)); err != nil {
			return nil, err
		}
	}
	d.limitSpan(w)
	return w, nil
}

// Prompt is what summaries of spans are asked for with: the prompt that the policy names, if there is one, or the built-in one.
// The prompt with the id "default" is for single results.
func (d *Planner) Prompt() conversation.Prompt {
	if id := conversation.ValueOr(d.Settings.Policy.Compaction.PromptID, ""); id != "" {
		if p, ok := d.Settings.Catalogue.Prompt(id); ok {
			return p
		}
	}
	return conversation.Prompt{}
}

// newlyCovered are the messages that the summaries which a step takes up left out, and that it stands for: an earlier request, above all.
// No summary tells of them yet.
func (d *Planner) newlyCovered(s *drafts.Step) []conversation.Range {
	var out []conversation.Range
	for _, e := range d.View.Summaries() {
		if slices.Contains(s.Children, e.Summary.ID) {
			out = append(out, e.Summary.Except...)
		}
	}
	return conversation.SubtractRanges(conversation.MergeRanges(out), append(d.Exceptions(s), s.Own))
}

// ownUnits are copies of the units of a step that no summary tells of yet: what the window holds changes under it once the conversation is
// let go. What stays verbatim is none of them.
func (d *Planner) ownUnits(s *drafts.Step) ([]conversation.Unit, error) {
	units := d.spanUnits(conversation.SubtractRanges(append(d.newlyCovered(s), s.Own), s.Verbatim)...)
	for it := range conversation.Items(units) {
		*it = it.WithoutRecalled()
		parts, err := d.Loaded.Extras.Inline(it.Parts)
		if err := view.IgnoreMissing(err); err != nil {
			return nil, err
		}
		message := *it.Message
		it.Message, it.Parts = &message, parts
	}
	return units, d.Loaded.Extras.Incomplete()
}

// readEarlier reads the summaries that a step takes up.
func (d *Planner) readEarlier(w *drafts.Job, ids []int64) error {
	for _, e := range d.View.Summaries() {
		s := e.Summary
		if !slices.Contains(ids, s.ID) {
			continue
		}
		text, err := d.Loaded.Extras.Texts(s.Text)
		if err != nil {
			return err
		}
		earlier := drafts.Text{Text: text[0]}
		if earlier.SummaryFacts, err = d.Loaded.Extras.Facts(d.Erased.AsCommitted(&e).Summary); err != nil {
			return err
		}
		if earlier.Facts, err = d.Erased.FactsLeft(e.Range, earlier.Facts); err != nil {
			return err
		}
		w.Earlier[s.ID] = earlier
	}
	return nil
}

// What is left of a summarizer's window for the prompt, and how sure its length is known.
const (
	promptTokens = 1_500
	spanShare    = 85 // percent
)

// limitSpan says how long a span may be, in characters. Heads larger than the window of the smallest of the models that may be asked go in
// chunks, and are shortened to what is given of one summary.
func (d *Planner) limitSpan(w *drafts.Job) {
	room := settings.Budget(settings.BudgetOverride{}, conversation.ModelProfile{}).Tokens()
	for _, name := range d.Models(&w.Prompt) {
		_, model, _ := strings.Cut(name, "/")
		p, _ := d.Settings.Catalogue.Profile(model)
		room = min(room, settings.Budget(settings.BudgetOverride{}, p).Tokens())
	}
	chars, weight := w.Density()
	room = max(room-promptTokens-2*w.Summary, promptTokens)
	most := d.Goal.Input
	w.Span = int(room * spanShare / 100 * max(chars, 1) / max(weight, 1))
	w.Input = int(max(most-promptTokens, most/2) * spanShare / 100 * max(chars, 1) / max(weight, 1))
}
