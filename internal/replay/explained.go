package replay

import (
	"fmt"
	"slices"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/validate"
)

// indices are ranges of messages, both ends inclusive.
type indices [][2]int

// hold says whether a message lies in one of the ranges.
func (s indices) hold(i int) bool {
	return slices.ContainsFunc(s, func(r [2]int) bool { return r[0] <= i && i <= r[1] })
}

// decided are the messages of which a build says that one of these was decided.
func decided(response *pb.BuildContextResponse, kinds ...pb.DecisionKind) (out indices) {
	for _, d := range response.GetDecisions() {
		if slices.Contains(kinds, d.GetKind()) {
			out = append(out, [2]int{int(d.GetFirstIndex()), int(d.GetLastIndex())})
		}
	}
	return out
}

// explained demands a decision for every message that a context does not show
// in full, and measures how far back from the newest one all of them are, but
// for clipping. Only these two formats write every text as it was appended.
func (c *conversation) explained(response *pb.BuildContextResponse, blocks []validate.Block) {
	if c.format != validate.OpenAIChat && c.format != validate.Neutral {
		return
	}
	var said indices
	for _, d := range response.GetDecisions() {
		if d.GetKind() != pb.DecisionKind_DECISION_KIND_DEFERRED { // it is shown as before
			said = append(said, [2]int{int(d.GetFirstIndex()), int(d.GetLastIndex())})
		}
	}
	clipped := decided(response, pb.DecisionKind_DECISION_KIND_CLIPPED)
	shown, kept, whole := textsOf(blocks), 0, true
	for i := len(c.appended) - 1; i >= 0; i-- {
		full := inFull(c.appended[i], shown)
		if !full && !said.hold(i) {
			c.fail("unexplained", &c.Unexplained, fmt.Sprintf("message %d is not in full, and no decision says why", i))
		}
		whole = whole && (full || clipped.hold(i))
		if whole {
			kept += c.weights[i]
		}
	}
	if !whole {
		c.NewestKept = leastOf(c.NewestKept, kept)
	}
}
