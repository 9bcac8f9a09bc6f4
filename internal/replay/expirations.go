package replay

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/replay/recall"
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
	// protectTokens and maxPartTokens are those of §7, in tokens.
	protectTokens = 40_000
	maxPartTokens = 50_000
)

// lifetime is a tool result on record, and the turns in which it may expire and
// must have, by the judge's own count.
type lifetime struct {
	message int
	part    int // its place in conversation.parts
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
	if policy := p.conversation.GetExpiration(); policy.GetEnabled() || policy == nil || policy.Enabled == nil {
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

// lifetimeOf says when a result that was just appended may and must expire.
func (c *conversation) lifetimeOf(r *pb.ToolResult, cited bool) lifetime {
	out := lifetime{message: len(c.entered) - 1, part: len(c.parts) - 1, text: r.GetText()}
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
	// What is cited is as short already as what would be left of it may be.
	if utf8.RuneCountInString(out.text) > left+worthwhile && !(cited && mode == pb.ExpirationMode_EXPIRATION_MODE_COMPACT) {
		out.must = out.may + c.policy.patience(e)
	}
	return out
}

// trackResults remembers the parts of a message that just entered the view, and its
// results of one text each. Gemini's format may write what is JSON in another way.
func (c *conversation) trackResults(m *pb.Message, cited bool) {
	if c.policy.conversation == nil {
		return // the sidecar's own policy is not known here
	}
	for _, part := range m.GetParts() {
		c.parts = append(c.parts, c.prunedFor(part))
		r := part.GetToolResult()
		json := strings.IndexAny(strings.TrimSpace(r.GetText()), "{[\"-0123456789tfn") == 0
		if text := r.GetText(); strings.TrimSpace(text) != "" && !(json && c.format == validate.Gemini) {
			c.lifetimes = append(c.lifetimes, c.lifetimeOf(r, cited))
		}
	}
}

// checkExpiry holds the results that a context shows in full against those that
// must and may be. What clipping, the window or a summary keeps out need not be. In whole, lines stand in their places that others stand for:
// a result that names some is not in full, and nothing has shortened it.
func (c *conversation) checkExpiry(response *pb.BuildContextResponse, blocks, whole []validate.Block) {
	c.now++
	if got := int(response.GetTurn()); got != c.now {
		c.fail("errors", &c.Errors, fmt.Sprintf("turn %d, want %d", got, c.now))
	}
	least, most := c.fullBounds(decided(response, pb.DecisionKind_DECISION_KIND_LEFT_OUT,
		pb.DecisionKind_DECISION_KIND_CLIPPED, pb.DecisionKind_DECISION_KIND_SUMMARIZED))
	for text, shown := range resultTexts(blocks) {
		if _, watched := most[text]; watched && shown > most[text] {
			c.fail("expired_late", &c.ExpiredLate, fmt.Sprintf("%d results of %d characters are in full, %d may be", shown, utf8.RuneCountInString(text), most[text]))
		}
	}
	for text, shown := range resultTexts(whole) {
		least[text] -= shown
	}
	pruned := decided(response, pb.DecisionKind_DECISION_KIND_PRUNED)
	for text, lacking := range least {
		if lacking > 0 {
			c.early(text, lacking, pruned)
		}
	}
}

// early counts results that are not in full and must be: for what the sidecar
// says that it did to one of them.
func (c *conversation) early(text string, lacking int, pruned indices) {
	detail := fmt.Sprintf("%d results of %d characters are not in full", lacking, utf8.RuneCountInString(text))
	if slices.ContainsFunc(c.lifetimes, func(m lifetime) bool { return m.text == text && pruned.hold(m.message) }) {
		c.fail("pruned_early", &c.PrunedEarly, detail)
		return
	}
	c.fail("expired_early", &c.ExpiredEarly, detail)
}

// fullBounds says for each text how many results that say it must at least be
// in full at this turn, those of the messages aside left out, and how many may
// be.
func (c *conversation) fullBounds(aside indices) (least, most map[string]int) {
	least, most = map[string]int{}, map[string]int{}
	newest, prunable := c.history.Len()-len(c.history.Newest()), c.prunable()
	for i := range c.lifetimes {
		m := &c.lifetimes[i]
		due := m.may > 0 && c.now >= m.may || m.part < prunable
		if (m.message >= newest || !due) && !aside.hold(m.message) {
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

// prunedFor is what a part weighs, by the judge's own count and never less than
// what pruning takes it for, since it counts the frame of a message too: what
// the judge sees as protected is.
func (c *conversation) prunedFor(part *pb.Part) int {
	most := maxPartTokens
	if said := c.policy.conversation.GetPruning().GetMaxPartTokens(); said > 0 {
		most = int(said)
	}
	alone := validate.Message{Items: recall.Items([]*pb.Part{part})}
	return min(alone.Tokens(c.count), most)
}

// prunable is how many of the oldest parts pruning may clear: none that the
// newest tokens reach into, which it leaves alone.
func (c *conversation) prunable() int {
	said := c.policy.conversation.GetPruning()
	if said != nil && said.Enabled != nil && !said.GetEnabled() {
		return 0
	}
	protect := protectTokens
	if said != nil && said.ProtectTokens != nil {
		protect = int(said.GetProtectTokens())
	}
	for i := len(c.parts) - 1; i >= 0; i-- {
		if protect <= 0 {
			return i + 1
		}
		protect -= c.parts[i]
	}
	return 0
}
