package engine

import (
	"encoding/json"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// usedSlot holds the last usage report.
const usedSlot = slotPrefix + "used"

// reported is what a provider reported last, and what we had counted for the same context.
type reported struct {
	Manifest int64  `json:"manifest"`
	Model    string `json:"model"`
	Messages int32  `json:"messages"` // on record at the build: the answer came after them
	Counted  int64  `json:"counted"`  // fixed input and messages, before the factor
	Context  int64  `json:"context"`  // everything that was sent
	Output   int64  `json:"output"`
	Thought  int64  `json:"thought,omitempty"` // reasoning tokens
}

// report notes what was reported for a build, unless something was for a later one.
func (w *window) report(m *conversation.Manifest, model string, u Usage) error {
	last, _, err := w.lastReport()
	if err != nil || last.Manifest > m.Seq {
		return err
	}
	value, err := json.Marshal(reported{
		Manifest: m.Seq, Model: model, Messages: m.MessageCount, Counted: m.FixedTokens + m.Tokens,
		Context: u.Context(), Output: int64(u.Output), Thought: int64(u.Reasoning),
	})
	if err != nil {
		return failure(err)
	}
	w.setSlot(usedSlot, value)
	return nil
}

func (w *window) lastReport() (r reported, ok bool, err error) {
	value, ok := w.slots[usedSlot]
	if !ok {
		return r, false, nil
	}
	if err := json.Unmarshal(value, &r); err != nil {
		return r, false, conversation.Errorf(conversation.CorruptRecord, "the stored usage is damaged").Because(err)
	}
	return r, true, nil
}

// maxSurprise is how far a report may lie from our count, as a factor. What is beyond is some other request's, or no truth.
const maxSurprise = 2

// used is what the view takes of the budget, times the factor (behaviour §8): what was last reported for this model and what
// the view has gained or lost since, by our count. The answer was reported as output, and is on record since: it counts once,
// as the more of the two.
func (d *deciding) used() (tokens int64, isReported bool) {
	now := scaled(d.fixed+d.out.tokens(), d.settings.factor)
	r, ok, err := d.window.lastReport()
	if err != nil || !ok || r.Model != d.model {
		return now, false
	}
	counted := scaled(r.Counted, d.settings.factor)
	context := min(max(r.Context, counted/maxSurprise), counted*maxSurprise)
	return now + context - counted + d.unseenOutput(&r), true
}

// unseenOutput is what the provider reported as output beyond what is on record of it.
func (d *deciding) unseenOutput(r *reported) int64 {
	output := r.Output
	if d.settings.compact.CountReasoning != nil && *d.settings.compact.CountReasoning {
		output += r.Thought
	}
	m, ok := d.window.message(r.Messages)
	if !ok || r.Messages < d.out.window.Start || m.Role != conversation.RoleAssistant {
		return 0 // it left the view since, or was never appended
	}
	return max(0, min(output, d.settings.budget)-scaled(int64(m.Tokens), d.settings.factor))
}
