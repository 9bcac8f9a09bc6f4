package plan

import (
	"fmt"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// UsedTokens is what the view takes of the budget, times the factor (behaviour §8): what was last reported for this model and what
// the view has gained or lost since, by our count. The answer was reported as output, and is on record since: it counts once,
// as the more of the two.
func (d *Attempt) UsedTokens() (tokens int64, isReported bool) {
	now := d.Settings.Scaled(d.Fixed + d.Composed.Tokens())
	r, ok, err := d.Loaded.LastUsage()
	if err != nil || !ok || r.Model != d.Model {
		return now, false
	}
	return now + r.Context - d.Settings.Scaled(r.Counted) + d.reporting().unseenOutput(&r), true
}

// uncountedTokens is by how much what was reported exceeds our count, before the factor: what else is sent that nobody told us of. It lowers
// what the rest of the view may take.
func (d reporting) uncountedTokens() int64 {
	used, _ := d.UsedTokens()
	return max(0, d.Settings.Unscaled(used)-d.Fixed-d.Composed.Tokens())
}

// reserveUncounted makes what a compaction aims at smaller by what else is sent: shares are of what is left of the budget.
func (d reporting) reserveUncounted() {
	c, room, limit := &d.Settings.Compaction, max(0, d.Settings.Limit-d.uncountedTokens()), max(1, d.Settings.Limit)
	c.Target, c.Tail = c.Target*room/limit, c.Tail*room/limit
}

// reportAnswered says whether the view was made smaller for the last report before.
func (d reporting) reportAnswered() bool {
	r, _, err := d.Loaded.LastUsage()
	return err != nil || r.Spent
}

// markReportAnswered remembers that the view was made smaller for the last report.
func (d reporting) markReportAnswered(c *store.Change) error {
	r, ok, err := d.Loaded.LastUsage()
	if err != nil || !ok || !d.answersReport {
		return err
	}
	r.Spent = true
	c.Slots[view.UsedSlot] = record.EncodeUsageReport(&r)
	return nil
}

// UsageJump is the code of a degradation: a provider reported more than twice what was counted for the same context.
const UsageJump = "USAGE_JUMP"

// usageJump is how many times our count a report may be before it is named.
const usageJump = 2

// reportUsageJump says that the last report is far beyond our count: something is sent that the sidecar was not told of.
func (d reporting) reportUsageJump() {
	r, ok, err := d.Loaded.LastUsage()
	if err != nil || !ok || r.Model != d.Model || r.Context <= usageJump*d.Settings.Scaled(r.Counted) {
		return
	}
	d.Degradations = append(d.Degradations, conversation.Degradation{
		Code: UsageJump, Asked: fmt.Sprintf("the count of build b%d", r.Manifest),
		Reason: fmt.Sprintf("the provider reported %d tokens where %d were counted: something is sent that fixed_input does not name", r.Context, d.Settings.Scaled(r.Counted)),
		Done:   "the report counts: what it exceeds the count by is kept free",
	})
}

// unseenOutput is what the provider reported as output beyond what is on record of it.
func (d reporting) unseenOutput(r *record.UsageReport) int64 {
	output := r.Output
	if d.Settings.Policy.Compaction.CountReasoning != nil && *d.Settings.Policy.Compaction.CountReasoning {
		output += r.Thought
	}
	m, ok := d.Loaded.Message(r.Messages)
	if !ok || r.Messages < d.Composed.Window.Start || m.Role != conversation.RoleAssistant {
		return 0 // it left the view since, or was never appended
	}
	return max(0, min(output, d.Settings.Budget)-d.Settings.Scaled(int64(m.Tokens)))
}
