package engine

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// A draft is prepared while the conversation goes on, by one process: whoever holds the lease. It lies in slots beside the head,
// so that every process may publish it, and a restart finds it or lets it go.
const draftSlot = view.BuildSlots + "draft"

// draftTextSlot holds the text of a draft's step. It is read when the draft is published.
func draftTextSlot(step int) string { return fmt.Sprintf("draft/%d", step) }

// How far a draft is.
const (
	draftPreparing = "preparing" // until its lease ends
	draftReady     = "ready"
	draftFailed    = "failed" // and is not tried again for a while
)

// draftRecord is what the slot holds.
type draftRecord record.Draft

func draftOf(w *view.Loaded) (r draftRecord, stored []byte, err error) {
	stored = w.Slots[draftSlot]
	r, err = parseDraft(stored)
	return r, stored, err
}

// parseDraft reads what the slot holds; nothing, if it is not there.
func parseDraft(stored []byte) (r draftRecord, err error) {
	if stored == nil {
		return r, nil
	}
	d, err := record.DecodeDraft(stored)
	if err != nil {
		return r, conversation.Errorf(conversation.CorruptRecord, "the stored draft is damaged").Because(err)
	}
	return draftRecord(d), nil
}

func (r *draftRecord) encode() []byte { return record.EncodeDraft((*record.Draft)(r)) }

// leased says whether somebody is at work on the draft.
func (r *draftRecord) leased(now time.Time) bool {
	return r.State == draftPreparing && now.Before(r.Until)
}

// withoutTexts takes the draft's texts out of their slots.
func (r *draftRecord) withoutTexts() map[string][]byte {
	slots := map[string][]byte{}
	for i := range r.Steps {
		slots[draftTextSlot(i)] = nil
	}
	return slots
}

// pending says whether nothing should be begun: a summary is on its way, is there, or has failed a short while ago.
func (r *draftRecord) pending(now time.Time) bool {
	return r.State == draftReady || r.State != "" && now.Before(r.Until)
}

// stands says whether a plan is still true of the conversation (behaviour §8): the summaries that it takes up are in force,
// and nothing of its range was taken back, summarized otherwise, expanded or erased since, by any of the edits.
func (d *deciding) stands(p *plan, edits ...conversation.Edit) bool {
	if len(p.Steps) == 0 || p.Cut > d.out.Units[d.out.Newest()].First() {
		return false
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		for _, id := range s.Children {
			if !slices.ContainsFunc(d.view.Summaries(), func(e conversation.Edit) bool { return e.Summary.ID == id }) {
				return false
			}
		}
		if broken(s, p.EditSeq, edits) {
			return false
		}
	}
	return true
}

// broken says whether one of the edits since a sequence lets a step stand no more.
func broken(s *step, since int64, edits []conversation.Edit) bool {
	return slices.ContainsFunc(edits, func(e conversation.Edit) bool {
		return e.Seq > since && s.Range.Overlaps(e.Range) && breaksDraft(&e)
	})
}

// draftStands says whether a draft that was prepared before this build still stands, after what the build has done so far.
func (d *deciding) draftStands(p *plan) bool {
	return d.stands(p, d.Loaded.Edits...) && d.stands(p, d.edits...)
}

func breaksDraft(e *conversation.Edit) bool {
	switch e.Kind {
	case conversation.EditSummarize, conversation.EditHide, conversation.EditUnhide, conversation.EditRestore, conversation.EditCorrect:
		return true
	default:
		return e.Erases
	}
}

// ready is the draft that was prepared, if it still stands; nil otherwise.
func (d *deciding) ready() (*draft, error) {
	r, _, err := draftOf(d.Loaded)
	if err != nil || r.State != draftReady {
		return nil, err
	}
	if !d.draftStands(&r.Plan) {
		return nil, nil
	}
	// What a summary leaves out and stands for is told of messages: some may lie before what the view shows.
	own, names := make([]conversation.Range, len(r.Steps)), make([]string, len(r.Steps))
	for i := range r.Steps {
		own[i], names[i] = r.Steps[i].Own, draftTextSlot(i)
	}
	texts, err := d.Loaded.ExtraSlots(names...)
	if err := cmp.Or(d.Loaded.Require(own...), err); err != nil {
		return nil, err
	}
	out := &draft{plan: r.Plan}
	for i := range r.Steps {
		value := texts[draftTextSlot(i)]
		if value == nil {
			return nil, nil // another build has just published it: the commit will find out
		}
		text, err := record.DecodeDraftText(value)
		if err != nil {
			return nil, conversation.Errorf(conversation.CorruptRecord, "the stored draft is damaged").Because(err)
		}
		out.written = append(out.written, written{Text: text.Text, Model: text.Model, known: text.Facts})
	}
	return out, nil
}

// changeDraft takes a draft away that was published, or that does not stand any more.
func (d *deciding) changeDraft(c *store.Change) error {
	r, stored, err := draftOf(d.Loaded)
	if err != nil {
		return err
	}
	if len(d.erased.messages) > 0 { // what was begun a moment ago may hold it: it has to be seen, and dropped
		c.ExpectSlots = map[string][]byte{draftSlot: stored}
	}
	if stored == nil || r.State == draftFailed || !d.published() && d.draftStands(&r.Plan) {
		return nil
	}
	if err := dropDraft(d.Loaded, c); err != nil || !d.waits.tried || !r.leased(d.now) {
		return err
	}
	// It did not come in time, so that an extract was published: the next build that overflows must not wait as long again.
	late := draftRecord{State: draftFailed, Until: d.now.Add(failedFor), Reason: errNotReady.Error()}
	c.Slots[draftSlot] = late.encode()
	return nil
}

// draftState says how far the next summary is after the build's commit.
func (d *deciding) draftState() CompactionState {
	r, _, err := draftOf(d.Loaded)
	switch {
	case err != nil || d.published():
		return CompactionIdle
	case d.preparing || r.leased(d.now):
		return CompactionPreparing
	case r.State == draftReady && d.draftStands(&r.Plan):
		return CompactionReady
	default:
		return CompactionIdle
	}
}

// dropDraft makes a change take the draft away, whatever its state: who prepares it finds out by its lease.
func dropDraft(w *view.Loaded, c *store.Change) error {
	r, stored, err := draftOf(w)
	if err != nil || stored == nil {
		return err
	}
	if c.Slots == nil {
		c.Slots = map[string][]byte{}
	}
	c.Slots[draftSlot] = nil
	maps.Copy(c.Slots, r.withoutTexts())
	return nil
}
