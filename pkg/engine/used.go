package engine

import (
	"fmt"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// usedSlot holds the last usage report.
const usedSlot = slotPrefix + "used"

// report notes what was reported for a build, unless something was for a later one.
func (w *window) report(m *conversation.Manifest, model string, u Usage) error {
	last, _, err := w.lastReport()
	if err != nil || last.Manifest > m.Seq {
		return err
	}
	w.setSlot(usedSlot, record.EncodeUsageReport(&record.UsageReport{
		Manifest: m.Seq, Model: model, Messages: m.MessageCount, Counted: m.FixedTokens + m.Tokens,
		Context: u.Context(), Output: int64(u.Output), Thought: int64(u.Reasoning),
	}))
	return nil
}

func (w *window) lastReport() (r record.UsageReport, ok bool, err error) {
	value, ok := w.slots[usedSlot]
	if !ok {
		return r, false, nil
	}
	if r, err = record.DecodeUsageReport(value); err != nil {
		return r, false, conversation.Errorf(conversation.CorruptRecord, "the stored usage is damaged").Because(err)
	}
	return r, true, nil
}

// used is what the view takes of the budget, times the factor (behaviour §8): what was last reported for this model and what
// the view has gained or lost since, by our count. The answer was reported as output, and is on record since: it counts once,
// as the more of the two.
func (d *deciding) used() (tokens int64, isReported bool) {
	now := scaled(d.fixed+d.out.tokens(), d.settings.factor)
	r, ok, err := d.window.lastReport()
	if err != nil || !ok || r.Model != d.model {
		return now, false
	}
	return now + r.Context - scaled(r.Counted, d.settings.factor) + d.unseenOutput(&r), true
}

// excess is by how much what was reported exceeds our count, before the factor: what else is sent that nobody told us of. It lowers
// what the rest of the view may take.
func (d *deciding) excess() int64 {
	used, _ := d.used()
	return max(0, unscaled(used, d.settings.factor)-d.fixed-d.out.tokens())
}

// keepFree makes what a compaction aims at smaller by what else is sent: shares are of what is left of the budget.
func (d *deciding) keepFree() {
	c, room, limit := &d.settings.compact, max(0, d.settings.limit-d.excess()), max(1, d.settings.limit)
	c.target, c.tail = c.target*room/limit, c.tail*room/limit
}

// reportSpent says whether the view was made smaller for the last report before.
func (d *deciding) reportSpent() bool {
	r, _, err := d.window.lastReport()
	return err != nil || r.Spent
}

// spend remembers that the view was made smaller for the last report.
func (d *deciding) spend(c *store.Change) error {
	r, ok, err := d.window.lastReport()
	if err != nil || !ok || !d.spent {
		return err
	}
	r.Spent = true
	c.Slots[usedSlot] = record.EncodeUsageReport(&r)
	return nil
}

// UsageJump is the code of a degradation: a provider reported more than twice what was counted for the same context.
const UsageJump = "USAGE_JUMP"

// usageJump is how many times our count a report may be before it is named.
const usageJump = 2

// nameJump says that the last report is far beyond our count: something is sent that the sidecar was not told of.
func (d *deciding) nameJump() {
	r, ok, err := d.window.lastReport()
	if err != nil || !ok || r.Model != d.model || r.Context <= usageJump*scaled(r.Counted, d.settings.factor) {
		return
	}
	d.degradations = append(d.degradations, Degradation{
		Code: UsageJump, Asked: fmt.Sprintf("the count of build b%d", r.Manifest),
		Reason: fmt.Sprintf("the provider reported %d tokens where %d were counted: something is sent that fixed_input does not name", r.Context, scaled(r.Counted, d.settings.factor)),
		Done:   "the report counts: what it exceeds the count by is kept free",
	})
}

// unseenOutput is what the provider reported as output beyond what is on record of it.
func (d *deciding) unseenOutput(r *record.UsageReport) int64 {
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
