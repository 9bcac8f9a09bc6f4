package replay

import (
	"slices"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/replay/report"
)

// refilled is by how much a view must grow before it is compacted again, as
// a share of B: less often than once per window filled would be 0.5.
const refilled = 0.25

// filling is how full a view is between two compactions.
type filling struct {
	start    int32 // of the window
	whole    int   // the history's weight at the last build
	view     int   // the view's weight then
	after    int   // the view's weight after the last compaction
	happened bool
}

// compaction measures a build that made the view smaller. Total is what its
// context weighs.
func (c *conversation) compaction(response *pb.BuildContextResponse, total int) {
	f, history := &c.filling, c.history.Tokens+c.fixed
	made := summariesOf(response)
	start := response.GetCompaction().GetWindowStartIndex()
	if made > 0 || start > f.start {
		c.Compactions.Count++
		c.Compactions.Summaries += made
		share := float64(total) / float64(c.budget())
		c.Compactions.Largest = max(c.Compactions.Largest, share)
		if share > report.Compacted {
			c.Compactions.Over++
		}
		grown := f.view + history - f.whole - f.after
		if f.happened && float64(grown) < refilled*float64(c.budget()) {
			c.Compactions.Early++
		}
		f.happened, f.after = true, total
	}
	f.start, f.whole, f.view = max(f.start, start), history, total
}

// summariesOf counts the summaries that a build made.
func summariesOf(response *pb.BuildContextResponse) (n int) {
	for _, e := range response.GetEvents() {
		if e.GetType() == pb.EventType_EVENT_TYPE_SUMMARIZED {
			n++
		}
	}
	return n
}

// compacts says whether something outgrew the window in a context.
func compacts(response *pb.BuildContextResponse) bool {
	return slices.ContainsFunc(response.GetDecisions(), func(d *pb.Decision) bool {
		return d.GetKind() == pb.DecisionKind_DECISION_KIND_LEFT_OUT || d.GetKind() == pb.DecisionKind_DECISION_KIND_SUMMARIZED
	})
}
