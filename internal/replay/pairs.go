package replay

import (
	"fmt"
	"strings"

	"github.com/palimpsest-context/palimpsest/internal/validate"
)

// What a context says of a call that nothing answered, and before a result that
// came too late for its unit.
const (
	neverAnswered = "[No result: the call was never answered.]"
	lateResult    = "[Late result of "
)

// checkPairs demands that no more calls are shown as never answered, and no more
// results as late, than are on record. Whether a result answers a call of its
// unit says the judge's own model of units.
func (c *conversation) checkPairs(blocks []validate.Block) {
	closed, late := 0, 0
	for i := range blocks {
		for _, item := range blocks[i].Items {
			switch {
			case item.Kind == validate.Result && len(item.Texts) == 1 && item.Texts[0] == neverAnswered:
				closed++
			case item.Kind == validate.Text && blocks[i].Role == "user" && strings.HasPrefix(item.Texts[0], lateResult):
				late++
			}
		}
	}
	if closed+late == 0 {
		return
	}
	calls, results := c.history.Unpaired()
	switch {
	case closed > calls:
		c.fail("answers_lost", &c.AnswersLost, fmt.Sprintf("%d calls are shown as never answered, %d were not answered", closed, calls))
	case late > results:
		c.fail("answers_lost", &c.AnswersLost, fmt.Sprintf("%d results are shown as late, %d are", late, results))
	}
}
