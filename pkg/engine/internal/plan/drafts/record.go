package drafts

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// Slot holds a draft: it is prepared while the conversation goes on, by one process: whoever holds the lease. It lies in slots beside the head,
// so that every process may publish it, and a restart finds it or lets it go.
const Slot = view.BuildSlots + "draft"

// TextSlot holds the text of a draft's step. It is read when the draft is published.
func TextSlot(step int) string { return fmt.Sprintf("draft/%d", step) }

// How far a draft is.
const (
	Preparing = "preparing" // until its lease ends
	Ready     = "ready"
	Failed    = "failed" // and is not tried again for a while
)

// Record is what the slot holds.
type Record record.Draft

// Of is the draft of a conversation, and what its slot holds.
func Of(w *view.Loaded) (r Record, stored []byte, err error) {
	stored = w.Slots[Slot]
	r, err = Parse(stored)
	return r, stored, err
}

// Parse reads what the slot holds; nothing, if it is not there.
func Parse(stored []byte) (Record, error) {
	d, err := view.ReadSlot(stored, record.DecodeDraft, "the stored draft is damaged")
	return Record(d), err
}

// Encode is the draft as its slot holds it.
func (r *Record) Encode() []byte { return record.EncodeDraft((*record.Draft)(r)) }

// Leased says whether somebody is at work on the draft.
func (r *Record) Leased(now time.Time) bool {
	return r.State == Preparing && now.Before(r.Until)
}

// WithoutTexts takes the draft's texts out of their slots.
func (r *Record) WithoutTexts() map[string][]byte {
	slots := map[string][]byte{}
	for i := range r.Steps {
		slots[TextSlot(i)] = nil
	}
	return slots
}

// Pending says whether nothing should be begun: a summary is on its way, is there, or has failed a short while ago.
func (r *Record) Pending(now time.Time) bool {
	return r.State == Ready || r.State != "" && now.Before(r.Until)
}

// Broken says whether one of the edits since a sequence lets a step stand no more.
func Broken(s *Step, since int64, edits []conversation.Edit) bool {
	return slices.ContainsFunc(edits, func(e conversation.Edit) bool {
		return e.Seq > since && s.Range.Overlaps(e.Range) && breaksDraft(&e)
	})
}

func breaksDraft(e *conversation.Edit) bool {
	switch e.Kind {
	case conversation.EditSummarize, conversation.EditHide, conversation.EditUnhide, conversation.EditRestore, conversation.EditCorrect,
		conversation.EditTakeOut, conversation.EditPutBack:
		return true
	default:
		return e.Erases
	}
}

// Drop makes a change take the draft away, whatever its state: who prepares it finds out by its lease.
func Drop(w *view.Loaded, c *store.Change) error {
	r, stored, err := Of(w)
	if err != nil || stored == nil {
		return err
	}
	if c.Slots == nil {
		c.Slots = map[string][]byte{}
	}
	c.Slots[Slot] = nil
	maps.Copy(c.Slots, r.WithoutTexts())
	return nil
}

// Degraded says in words that a model's summary did not come.
func Degraded(p *Plan, why string) conversation.Degradation {
	last := p.Steps[len(p.Steps)-1].Range
	return conversation.Degradation{
		Asked:  fmt.Sprintf("a model's summary of messages %d-%d", last.First, last.End-1),
		Reason: why, Done: "the sidecar's own extract was used",
	}
}

// LivePrefixUnused is the code of a degradation: a summary is asked for at the price of uncached input, though the policy wants a live prefix.
const LivePrefixUnused = "LIVE_PREFIX_UNUSED"

// NotLive says in words that a summary is not asked for behind a live prefix; nothing where it is, or where nobody wants it.
func NotLive(w *Job) []conversation.Degradation {
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
