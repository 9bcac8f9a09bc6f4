package compact

import (
	"cmp"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/drafts"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/pass"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/spans"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// planStands says whether a plan is still true of the conversation (behaviour §8): the summaries that it takes up are in force,
// and nothing of its range was taken back, summarized otherwise, expanded or erased since, by any of the edits.
func planStands(d pass.Draft, p *drafts.Plan, edits ...conversation.Edit) bool {
	if len(p.Steps) == 0 || p.Cut > d.Composed.Units[d.Composed.Newest()].First() {
		return false
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		for _, id := range s.Children {
			if !slices.ContainsFunc(d.View.Summaries(), func(e conversation.Edit) bool { return e.Summary.ID == id }) {
				return false
			}
		}
		if drafts.Broken(s, p.EditSeq, edits) {
			return false
		}
	}
	return true
}

// readyDraft is the draft that was prepared, if it still stands; nil otherwise.
func (d *compacting) readyDraft() (*drafts.Draft, error) {
	r, _, err := drafts.Of(d.Given.Loaded)
	if err != nil || r.State != drafts.Ready {
		return nil, err
	}
	if !DraftStands(d.Given, d.Draft, &r.Plan) {
		return nil, nil
	}
	// What a summary leaves out and stands for is told of messages: some may lie before what the view shows.
	own, names := make([]conversation.Range, len(r.Steps)), make([]string, len(r.Steps))
	for i := range r.Steps {
		own[i], names[i] = r.Steps[i].Own, drafts.TextSlot(i)
	}
	texts, err := d.Given.Loaded.Extras.Slots(names...)
	if err := cmp.Or(d.Given.Loaded.Require(own...), err); err != nil {
		return nil, err
	}
	out := &drafts.Draft{Plan: r.Plan}
	for i := range r.Steps {
		value := texts[drafts.TextSlot(i)]
		if value == nil {
			return nil, nil // another build has just published it: the commit will find out
		}
		text, err := record.DecodeDraftText(value)
		if err != nil {
			return nil, conversation.Errorf(conversation.CorruptRecord, "the stored draft is damaged").Because(err)
		}
		out.Texts = append(out.Texts, drafts.Text{Text: text.Text, Model: text.Model, SummaryFacts: text.Facts})
	}
	return out, nil
}

// DraftStands says whether a draft that was prepared before a build still stands after all that the build has done.
func DraftStands(g *pass.Given, d pass.Draft, p *drafts.Plan) bool {
	return planStands(d, p, g.Loaded.Edits...) && planStands(d, p, d.Edits...)
}

// publish makes the edits of a draft and lays the view out behind it.
func (d *compacting) publish(dr *drafts.Draft, why conversation.Reason) error {
	d.important = append(d.important, d.planner().ImportantUnits(dr.Cut)...)
	if !pass.Summarizes(d.Edits) {
		d.Notes.Degradations = append(d.Notes.Degradations, d.Given.Allowance.NotLive...)
	}
	ids := make([]int64, len(dr.Steps))
	for i := range dr.Steps {
		e := d.summaryEdit(dr, i, ids)
		e.Reason = why
		if len(dr.Steps[i].Children)+len(dr.Steps[i].Steps) > 0 && dr.Steps[i].Own.Len() == 0 {
			e.Reason = conversation.ReasonSummariesMerged
		}
		d.Add(e)
		ids[i] = e.Summary.ID
	}
	return d.LayOut(d.StartingAt(max(d.Composed.Window.Start, dr.Cut)))
}

// summaryEdit is the edit of a draft's step. ids are those of the steps before it.
func (d *compacting) summaryEdit(dr *drafts.Draft, i int, ids []int64) conversation.Edit {
	step, text := &dr.Steps[i], &dr.Texts[i]
	n, _ := d.Given.Settings.Counter.Count(text.Text)
	s := &conversation.Summary{
		ID: d.Given.Loaded.Head.EditSeq + int64(len(d.Edits)) + 1, Level: step.Level, Model: text.Model, Tokens: int32(n),
		Text: conversation.Content{Inline: text.Text}, Facts: conversation.Content{Inline: string(record.EncodeFacts(&text.SummaryFacts))},
		Except: d.planner().Exceptions(step), Verbatim: step.Verbatim, Children: append([]int64(nil), step.Children...),
	}
	for _, at := range step.Steps {
		s.Children = append(s.Children, ids[at])
	}
	e := conversation.Edit{Kind: conversation.EditSummarize, Range: step.Range, Summary: s, After: int64(n)}
	weighReplaced(d.Given.Loaded, d.View, &e)
	return e
}

// weighReplaced says what a summary takes the place of: as the view shows it, and as it was appended. What an earlier summary left
// out it may stand for, and the other way round.
func weighReplaced(w *view.Loaded, v *conversation.View, e *conversation.Edit) {
	s := e.Summary
	var takenUp []conversation.Edit
	for _, older := range v.Summaries() {
		if e.Range.Covers(older.Range) {
			takenUp = append(takenUp, older)
			e.Before += int64(older.Summary.Tokens)
			s.Recorded += older.Summary.Recorded
		}
	}
	for i := range w.Messages {
		m := &w.Messages[i]
		if !e.Range.Contains(m.Index) || !v.Stands(m.Index) {
			continue
		}
		before := slices.ContainsFunc(takenUp, func(o conversation.Edit) bool { return o.Range.Contains(m.Index) && o.Summary.Covers(m.Index) })
		switch now := s.Covers(m.Index); {
		case now && !before:
			s.Recorded += int64(w.Original(m).Tokens)
		case before && !now:
			s.Recorded -= int64(w.Original(m).Tokens)
		}
		if it, shown := v.Item(m); shown && s.Covers(m.Index) {
			e.Before += it.Tokens()
		}
	}
}

// OverShare says which important units a summary of this build stands for all the same, in the view that the build shows in the end.
func OverShare(d pass.Draft, important []spans.ImportantUnit) []conversation.Decision {
	var out []conversation.Decision
	for _, u := range important {
		e := d.View.SummaryOf(u.First)
		if e == nil || slices.ContainsFunc(d.Composed.DroppedSummaries, func(o conversation.Edit) bool { return o.Seq == e.Seq }) {
			continue
		}
		out = append(out, conversation.Decision{
			First: u.First, Last: u.End - 1, Kind: conversation.DecisionSummarized, Reason: conversation.ReasonOverBudgetShare,
			Before: u.Weight, EditSeq: e.Seq, Summary: e.Summary.ID,
		})
	}
	return out
}
