package plan

import (
	"cmp"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/drafts"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/report"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// planStands says whether a plan is still true of the conversation (behaviour §8): the summaries that it takes up are in force,
// and nothing of its range was taken back, summarized otherwise, expanded or erased since, by any of the edits.
func (d summarizing) planStands(p *drafts.Plan, edits ...conversation.Edit) bool {
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

// draftStands says whether a draft that was prepared before this build still stands, after what the build has done so far.
func (d summarizing) draftStands(p *drafts.Plan) bool {
	return d.planStands(p, d.Loaded.Edits...) && d.planStands(p, d.Edits...)
}

// readyDraft is the draft that was prepared, if it still stands; nil otherwise.
func (d summarizing) readyDraft() (*drafts.Draft, error) {
	r, _, err := drafts.Of(d.Loaded)
	if err != nil || r.State != drafts.Ready {
		return nil, err
	}
	if !d.draftStands(&r.Plan) {
		return nil, nil
	}
	// What a summary leaves out and stands for is told of messages: some may lie before what the view shows.
	own, names := make([]conversation.Range, len(r.Steps)), make([]string, len(r.Steps))
	for i := range r.Steps {
		own[i], names[i] = r.Steps[i].Own, drafts.TextSlot(i)
	}
	texts, err := d.Loaded.ExtraSlots(names...)
	if err := cmp.Or(d.Loaded.Require(own...), err); err != nil {
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

// WriteDraft takes a draft away that was published, or that does not stand any more.
func (d *Attempt) WriteDraft(c *store.Change) error {
	r, stored, err := drafts.Of(d.Loaded)
	if err != nil {
		return err
	}
	if len(d.Erased.Messages) > 0 { // what was begun a moment ago may hold it: it has to be seen, and dropped
		c.ExpectSlots = map[string][]byte{drafts.Slot: stored}
	}
	if stored == nil || r.State == drafts.Failed || !d.compacting().hasPublished() && d.summarizing().draftStands(&r.Plan) {
		return nil
	}
	if err := drafts.Drop(d.Loaded, c); err != nil || !d.Waits.ModelTried || !r.Leased(d.Now) {
		return err
	}
	// It did not come in time, so that an extract was published: the next build that overflows must not wait as long again.
	late := drafts.Record{State: drafts.Failed, Until: d.Now.Add(drafts.FailedFor), Reason: ErrNotReady.Error()}
	c.Slots[drafts.Slot] = late.Encode()
	return nil
}

// DraftState says how far the next summary is after the build's commit.
func (d *Attempt) DraftState() report.CompactionState {
	r, _, err := drafts.Of(d.Loaded)
	switch {
	case err != nil || d.compacting().hasPublished():
		return report.CompactionIdle
	case d.SummaryBegun || r.Leased(d.Now):
		return report.CompactionPreparing
	case r.State == drafts.Ready && d.summarizing().draftStands(&r.Plan):
		return report.CompactionReady
	default:
		return report.CompactionIdle
	}
}
