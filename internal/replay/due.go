package replay

import (
	"fmt"
	"strings"
	"unicode/utf8"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/validate"
)

const (
	// compactLength, maxDeferral and summaryDeferral are the defaults of
	// behaviour §§5, 14: characters, turns, turns.
	compactLength   = 500
	maxDeferral     = 10
	summaryDeferral = 3
	// worthwhile is how many characters longer than what would be left a result
	// must be to be judged as too late: what frees nothing is not edited.
	worthwhile = 400
)

// mortal is a tool result on record, and the turns in which it may expire and
// must have, by the judge's own count.
type mortal struct {
	message int
	text    string
	may     int // the first turn in which it is due; 0: never
	must    int // the first one in which it cannot be shown in full any more; 0: never
}

// expirationOf is what says how long a result lives: the result itself, or the
// policy.
func (p *policy) expirationOf(r *pb.ToolResult) *pb.Expiration {
	if e := r.GetExpiration(); e != nil {
		return e
	}
	if policy := p.conversation.GetExpiration(); !policy.GetOff() {
		return policy.GetResults()
	}
	return nil
}

// patience is how many turns something that is due may wait.
func (p *policy) patience(e *pb.Expiration) int {
	wait := 0
	if rewrite := p.conversation.GetRewrite(); rewrite.GetMode() != pb.RewriteMode_REWRITE_MODE_EAGER {
		wait = maxDeferral
		if rewrite != nil && rewrite.MaxDeferralTurns != nil {
			wait = int(rewrite.GetMaxDeferralTurns())
		}
	}
	if e.GetCompactMode() == pb.CompactMode_COMPACT_MODE_AI_SUMMARY {
		wait += summaryDeferral
	}
	return wait
}

// mortal says when a result that was just appended may and must expire.
func (c *conversation) mortal(r *pb.ToolResult) mortal {
	out := mortal{message: len(c.appended) - 1, text: r.GetText()}
	e := c.policy.expirationOf(r)
	mode := e.GetMode()
	if e == nil || e.Turns == nil || mode == pb.ExpirationMode_EXPIRATION_MODE_UNSPECIFIED || mode == pb.ExpirationMode_EXPIRATION_MODE_NONE {
		return out
	}
	left := 0
	if mode == pb.ExpirationMode_EXPIRATION_MODE_COMPACT {
		if left = compactLength; e.CompactLength != nil {
			left = int(e.GetCompactLength())
		}
	}
	out.may = c.now + int(e.GetTurns()) + 1
	if utf8.RuneCountInString(out.text) > left+worthwhile {
		out.must = out.may + c.policy.patience(e)
	}
	return out
}

// watch remembers the results of a message that was just appended, of one text
// each. Gemini's format may write what is JSON in another way.
func (c *conversation) watch(m *pb.Message) {
	if c.policy == nil {
		return
	}
	for _, part := range m.GetParts() {
		r := part.GetToolResult()
		json := strings.IndexAny(strings.TrimSpace(r.GetText()), "{[\"-0123456789tfn") == 0
		if text := r.GetText(); strings.TrimSpace(text) != "" && !(json && c.format == validate.Gemini) {
			c.mortals = append(c.mortals, c.mortal(r))
		}
	}
}

// punctual holds the results that a context shows in full against those that
// must and may be. It judges only where nothing else takes from a view.
func (c *conversation) punctual(response *pb.BuildContextResponse, blocks []validate.Block) {
	c.now++
	if got := int(response.GetTurn()); got != c.now {
		c.fail("errors", &c.Errors, fmt.Sprintf("turn %d, want %d", got, c.now))
	}
	for _, d := range response.GetDecisions() {
		if k := d.GetKind(); k == pb.DecisionKind_DECISION_KIND_LEFT_OUT || k == pb.DecisionKind_DECISION_KIND_CLIPPED {
			return
		}
	}
	least, most := c.fullBounds()
	for text, shown := range resultTexts(blocks) {
		if _, watched := most[text]; watched && shown > most[text] {
			c.fail("expired_late", &c.ExpiredLate, fmt.Sprintf("%d results of %d characters are in full, %d may be", shown, utf8.RuneCountInString(text), most[text]))
		}
		least[text] -= shown
	}
	for text, lacking := range least {
		if lacking > 0 {
			c.fail("expired_early", &c.ExpiredEarly, fmt.Sprintf("%d results of %d characters are not in full", lacking, utf8.RuneCountInString(text)))
		}
	}
}

// fullBounds says for each text how many results that say it must at least be
// in full at this turn, and how many may be.
func (c *conversation) fullBounds() (least, most map[string]int) {
	least, most = map[string]int{}, map[string]int{}
	newest := c.history.Len() - len(c.history.Newest())
	for i := range c.mortals {
		m := &c.mortals[i]
		if m.message >= newest || m.may == 0 || c.now < m.may {
			least[m.text]++
		}
		most[m.text] += 0
		if m.message >= newest || m.must == 0 || c.now < m.must {
			most[m.text]++
		}
	}
	return least, most
}

// resultTexts counts the texts of results in a context.
func resultTexts(blocks []validate.Block) map[string]int {
	out := map[string]int{}
	for i := range blocks {
		for _, item := range blocks[i].Items {
			if item.Kind == validate.Result && len(item.Texts) == 1 {
				out[item.Texts[0]]++
			}
		}
	}
	return out
}
