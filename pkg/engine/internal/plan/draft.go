package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/report"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// DraftSlot holds a draft: it is prepared while the conversation goes on, by one process: whoever holds the lease. It lies in slots beside the head,
// so that every process may publish it, and a restart finds it or lets it go.
const DraftSlot = view.BuildSlots + "draft"

// DraftTextSlot holds the text of a draft's step. It is read when the draft is published.
func DraftTextSlot(step int) string { return fmt.Sprintf("draft/%d", step) }

// How far a draft is.
const (
	DraftPreparing = "preparing" // until its lease ends
	DraftReady     = "ready"
	DraftFailed    = "failed" // and is not tried again for a while
)

// DraftRecord is what the slot holds.
type DraftRecord record.Draft

// DraftOf is the draft of a conversation, and what its slot holds.
func DraftOf(w *view.Loaded) (r DraftRecord, stored []byte, err error) {
	stored = w.Slots[DraftSlot]
	r, err = ParseDraft(stored)
	return r, stored, err
}

// ParseDraft reads what the slot holds; nothing, if it is not there.
func ParseDraft(stored []byte) (r DraftRecord, err error) {
	if stored == nil {
		return r, nil
	}
	d, err := record.DecodeDraft(stored)
	if err != nil {
		return r, conversation.Errorf(conversation.CorruptRecord, "the stored draft is damaged").Because(err)
	}
	return DraftRecord(d), nil
}

// Encode is the draft as its slot holds it.
func (r *DraftRecord) Encode() []byte { return record.EncodeDraft((*record.Draft)(r)) }

// Leased says whether somebody is at work on the draft.
func (r *DraftRecord) Leased(now time.Time) bool {
	return r.State == DraftPreparing && now.Before(r.Until)
}

// WithoutTexts takes the draft's texts out of their slots.
func (r *DraftRecord) WithoutTexts() map[string][]byte {
	slots := map[string][]byte{}
	for i := range r.Steps {
		slots[DraftTextSlot(i)] = nil
	}
	return slots
}

// pending says whether nothing should be begun: a summary is on its way, is there, or has failed a short while ago.
func (r *DraftRecord) pending(now time.Time) bool {
	return r.State == DraftReady || r.State != "" && now.Before(r.Until)
}

// planStands says whether a plan is still true of the conversation (behaviour §8): the summaries that it takes up are in force,
// and nothing of its range was taken back, summarized otherwise, expanded or erased since, by any of the edits.
func (d summarizing) planStands(p *SummaryPlan, edits ...conversation.Edit) bool {
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
		if Broken(s, p.EditSeq, edits) {
			return false
		}
	}
	return true
}

// Broken says whether one of the edits since a sequence lets a step stand no more.
func Broken(s *SummaryStep, since int64, edits []conversation.Edit) bool {
	return slices.ContainsFunc(edits, func(e conversation.Edit) bool {
		return e.Seq > since && s.Range.Overlaps(e.Range) && breaksDraft(&e)
	})
}

// draftStands says whether a draft that was prepared before this build still stands, after what the build has done so far.
func (d summarizing) draftStands(p *SummaryPlan) bool {
	return d.planStands(p, d.Loaded.Edits...) && d.planStands(p, d.Edits...)
}

func breaksDraft(e *conversation.Edit) bool {
	switch e.Kind {
	case conversation.EditSummarize, conversation.EditHide, conversation.EditUnhide, conversation.EditRestore, conversation.EditCorrect:
		return true
	default:
		return e.Erases
	}
}

// readyDraft is the draft that was prepared, if it still stands; nil otherwise.
func (d summarizing) readyDraft() (*Draft, error) {
	r, _, err := DraftOf(d.Loaded)
	if err != nil || r.State != DraftReady {
		return nil, err
	}
	if !d.draftStands(&r.Plan) {
		return nil, nil
	}
	// What a summary leaves out and stands for is told of messages: some may lie before what the view shows.
	own, names := make([]conversation.Range, len(r.Steps)), make([]string, len(r.Steps))
	for i := range r.Steps {
		own[i], names[i] = r.Steps[i].Own, DraftTextSlot(i)
	}
	texts, err := d.Loaded.ExtraSlots(names...)
	if err := cmp.Or(d.Loaded.Require(own...), err); err != nil {
		return nil, err
	}
	out := &Draft{SummaryPlan: r.Plan}
	for i := range r.Steps {
		value := texts[DraftTextSlot(i)]
		if value == nil {
			return nil, nil // another build has just published it: the commit will find out
		}
		text, err := record.DecodeDraftText(value)
		if err != nil {
			return nil, conversation.Errorf(conversation.CorruptRecord, "the stored draft is damaged").Because(err)
		}
		out.Texts = append(out.Texts, SummaryText{Text: text.Text, Model: text.Model, SummaryFacts: text.Facts})
	}
	return out, nil
}

// WriteDraft takes a draft away that was published, or that does not stand any more.
func (d *Attempt) WriteDraft(c *store.Change) error {
	r, stored, err := DraftOf(d.Loaded)
	if err != nil {
		return err
	}
	if len(d.Erased.Messages) > 0 { // what was begun a moment ago may hold it: it has to be seen, and dropped
		c.ExpectSlots = map[string][]byte{DraftSlot: stored}
	}
	if stored == nil || r.State == DraftFailed || !d.compacting().hasPublished() && d.summarizing().draftStands(&r.Plan) {
		return nil
	}
	if err := DropDraft(d.Loaded, c); err != nil || !d.Waits.ModelTried || !r.Leased(d.Now) {
		return err
	}
	// It did not come in time, so that an extract was published: the next build that overflows must not wait as long again.
	late := DraftRecord{State: DraftFailed, Until: d.Now.Add(FailedFor), Reason: ErrNotReady.Error()}
	c.Slots[DraftSlot] = late.Encode()
	return nil
}

// DraftState says how far the next summary is after the build's commit.
func (d *Attempt) DraftState() report.CompactionState {
	r, _, err := DraftOf(d.Loaded)
	switch {
	case err != nil || d.compacting().hasPublished():
		return report.CompactionIdle
	case d.SummaryBegun || r.Leased(d.Now):
		return report.CompactionPreparing
	case r.State == DraftReady && d.summarizing().draftStands(&r.Plan):
		return report.CompactionReady
	default:
		return report.CompactionIdle
	}
}

// DropDraft makes a change take the draft away, whatever its state: who prepares it finds out by its lease.
func DropDraft(w *view.Loaded, c *store.Change) error {
	r, stored, err := DraftOf(w)
	if err != nil || stored == nil {
		return err
	}
	if c.Slots == nil {
		c.Slots = map[string][]byte{}
	}
	c.Slots[DraftSlot] = nil
	maps.Copy(c.Slots, r.WithoutTexts())
	return nil
}

// Degraded says in words that a model's summary did not come.
func Degraded(p *SummaryPlan, why string) conversation.Degradation {
	last := p.Steps[len(p.Steps)-1].Range
	return conversation.Degradation{
		Asked:  fmt.Sprintf("a model's summary of messages %d-%d", last.First, last.End-1),
		Reason: why, Done: "the sidecar's own extract was used",
	}
}

// LivePrefixUnused is the code of a degradation: a summary is asked for at the price of uncached input, though the policy wants a live prefix.
const LivePrefixUnused = "LIVE_PREFIX_UNUSED"

// NotLive says in words that a summary is not asked for behind a live prefix; nothing where it is, or where nobody wants it.
func NotLive(w *SummaryJob) []conversation.Degradation {
	if w.NotLive == "" {
		return nil
	}
	last := w.Steps[len(w.Steps)-1].Range
	return []conversation.Degradation{{
		Code: LivePrefixUnused, Asked: fmt.Sprintf("a summary of messages %d-%d behind the live prefix", last.First, last.End-1),
		Reason: w.NotLive, Done: "as without live_prefix: the models of --summary-models are asked, or the sidecar makes an extract",
	}}
}

// FailedFor is how long nobody tries again after a failure.
const FailedFor = time.Minute
