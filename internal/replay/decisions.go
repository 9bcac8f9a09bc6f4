package replay

import (
	"fmt"
	"slices"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/replay/report"
	"github.com/palimpsest-context/palimpsest/internal/validate"
)

// indices are half-open ranges of messages.
type indices [][2]int

// hold says whether a message lies in one of the ranges.
func (s indices) hold(i int) bool {
	return slices.ContainsFunc(s, func(r [2]int) bool { return r[0] <= i && i < r[1] })
}

// decided are the messages of which a build says that one of these was decided.
func decided(response *pb.BuildContextResponse, kinds ...pb.DecisionKind) (out indices) {
	for _, d := range response.GetDecisions() {
		if slices.Contains(kinds, d.GetKind()) {
			out = append(out, [2]int{int(d.GetStartIndex()), int(d.GetEndIndex())})
		}
	}
	return out
}

// checkDecisions demands a decision for every message that a context does not show
// as it entered the view, and one for every citation, and measures how far back
// from the newest one all of them are as they entered, but for clipping. Only
// these two formats write every text as it was appended.
func (c *conversation) checkDecisions(response *pb.BuildContextResponse, blocks []validate.Block) {
	if c.format != validate.OpenAIChat && c.format != validate.Neutral {
		return
	}
	var said indices
	for _, d := range response.GetDecisions() {
		switch d.GetKind() {
		case pb.DecisionKind_DECISION_KIND_DEFERRED, pb.DecisionKind_DECISION_KIND_CITED: // it is shown as before
		default:
			said = append(said, [2]int{int(d.GetStartIndex()), int(d.GetEndIndex())})
		}
	}
	named := decided(response, pb.DecisionKind_DECISION_KIND_DEDUPLICATED)
	clipped, citing := decided(response, pb.DecisionKind_DECISION_KIND_CLIPPED), decided(response, pb.DecisionKind_DECISION_KIND_CITED)
	shown, kept, whole := textsOf(blocks), 0, true
	for i := len(c.entered) - 1; i >= 0; i-- {
		full := inFull(c.entered[i], shown)
		if !full && !said.hold(i) {
			c.fail("unexplained", &c.Unexplained, fmt.Sprintf("message %d is not as it entered, and no decision says why", i))
		}
		if full && c.entered[i] != c.appended[i] && !citing.hold(i) {
			c.fail("unexplained", &c.Unexplained, fmt.Sprintf("message %d is cited, and no decision says so", i))
		}
		whole = whole && (full || clipped.hold(i) || named.hold(i))
		if whole {
			kept += c.weights[i]
		}
	}
	if !whole && !c.ended {
		c.NewestKept = report.LeastOf(c.NewestKept, kept)
	}
}
