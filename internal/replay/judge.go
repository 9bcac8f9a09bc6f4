package replay

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/replay/recall"
	"github.com/palimpsest-context/palimpsest/internal/validate"
)

// judge judges an answered build, and measures it. Next is the message that it
// is for, nil behind the last one: then there is nothing to measure.
func (c *conversation) judge(response *pb.BuildContextResponse, next *pb.Message) {
	context, whole := c.inspect(response, c.budget())
	c.history.Shown()
	total := context.Tokens + c.fixed
	c.checkSavings(response, total)
	c.checkExpiry(response, context.Blocks, whole)
	c.checkDecisions(response, context.Blocks)
	stable := c.prefix(response, context)
	if !c.ended {
		c.measure(response, context, stable)
		c.referenceRecall(next, context.Blocks)
		c.contentRecall(next, context.Blocks)
	}
	c.previous = &build{blocks: context.Blocks, without: c.whole, total: total, length: len(c.appended)}
}

// inspect judges what any answered build must keep, at whatever budget. It returns the context, and its blocks with the lines in their places
// that others stand for.
func (c *conversation) inspect(response *pb.BuildContextResponse, room int) (context *validate.Context, whole []validate.Block) {
	c.checkAnswered()
	system, messages := response.GetRendered().GetSystemJson(), response.GetRendered().GetMessagesJson()
	if c.format == validate.Neutral {
		messages = neutralJSON(response.GetMessages())
	} else {
		c.hash(response.GetRendered())
	}
	context = c.checker.Read(system, messages)
	if len(context.Violations) > 0 {
		c.fail("illegal_contexts", &c.IllegalContexts, fmt.Sprint(context.Violations[:min(3, len(context.Violations))]))
	}
	if total := context.Tokens + c.fixed; total > room {
		c.fail("over_budget", &c.OverBudget, fmt.Sprintf("%d tokens of %d", total, room))
	}
	if got := response.GetTokens().GetBudget(); got != int64(room) {
		c.fail("errors", &c.Errors, fmt.Sprintf("the budget is reported as %d, want %d", got, room))
	}
	whole = c.checkCopies(response, context.Blocks)
	if missing := c.newestMissing(whole, room); missing != "" {
		c.fail("newest_unit_missing", &c.NewestUnitMissing, missing)
	}
	c.checkPairs(context.Blocks)
	c.checkUserWords(context.Blocks, room)
	return context, whole
}

func (c *conversation) hash(r *pb.Rendered) {
	sum := sha256.Sum256(slices.Concat(r.GetSystemJson(), []byte{0}, r.GetMessagesJson()))
	if hex.EncodeToString(sum[:]) != r.GetContentSha256() {
		c.fail("errors", &c.Errors, "content_sha256 is not that of the bytes")
	}
}

// measure adds a context to what is measured: its weight and its price, and how
// full it is if something had to be left out.
func (c *conversation) measure(response *pb.BuildContextResponse, context *validate.Context, stable run) {
	total := context.Tokens + c.fixed
	c.LetGo.Built(response)
	c.TokensWithout += int64(c.whole + c.fixed)
	c.TokensWith += int64(total)
	if outgrown := decided(response, pb.DecisionKind_DECISION_KIND_LEFT_OUT, pb.DecisionKind_DECISION_KIND_SUMMARIZED); len(outgrown) > 0 {
		c.FilledTokens += int64(total)
		c.FilledRoom += int64(c.budget())
	}
	c.compaction(response, total)
	c.own(response.GetCompaction().GetOwnCalls())
	c.AddTurn(c.whole+c.fixed, total)
	if c.previous == nil {
		c.price(0, total, 0, c.whole+c.fixed)
		return
	}
	c.StableTokens += int64(stable.tokens)
	c.ComparedTokens += int64(context.Tokens)
	c.price(stable.tokens+c.fixed, context.Tokens-stable.tokens, c.previous.without+c.fixed, c.whole-c.previous.without)
	if stable.broken {
		c.Rewrites++
	}
}

// run is how far a context leads with the blocks of the one before.
type run struct {
	tokens int
	broken bool // it does not lead with all of them
}

// prefix compares the blocks with the previous build's, byte for byte.
func (c *conversation) prefix(response *pb.BuildContextResponse, context *validate.Context) (out run) {
	if c.previous == nil {
		return out
	}
	before, stable := c.previous.blocks, 0
	for stable < min(len(before), len(context.Blocks)) && same(before[stable], context.Blocks[stable]) {
		out.tokens += context.Blocks[stable].Tokens
		stable++
	}
	out.broken = stable < len(before)
	if fault := misreported(response, len(context.Blocks), stable, out.broken); fault != "" {
		c.fail("prefix_broken", &c.PrefixBroken, fault)
	}
	return out
}

func same(a, b validate.Block) bool { return a.Role == b.Role && a.JSON == b.JSON }

// misreported says what the report claims that the bytes do not show.
func misreported(response *pb.BuildContextResponse, blocks, stable int, broken bool) string {
	report := response.GetPrefix()
	switch report.GetBrokenBy() {
	case pb.PrefixBreak_PREFIX_BREAK_UNSPECIFIED, pb.PrefixBreak_PREFIX_BREAK_FIRST_BUILD:
		if broken {
			return fmt.Sprintf("only %d blocks are those of the build before, and no rewrite is reported", stable)
		}
	}
	// The counts compare only where both sides split the bytes alike.
	if int(response.GetRendered().GetBlocks()) == blocks && int(report.GetStableBlocks()) > stable {
		return fmt.Sprintf("%d blocks are reported stable, %d are", report.GetStableBlocks(), stable)
	}
	return ""
}

// price adds what a build costs with the sidecar and without it: what a cache
// holds is read, the rest is written to it.
func (c *conversation) price(read, written, readWithout, writtenWithout int) {
	c.CostWith += c.prices.Of(read, written)
	c.CostWithout += c.prices.Of(readWithout, writtenWithout)
	c.Citations.AskingCost += c.prices.Of(c.excerpts, 0)
}

// roomy says whether the newest unit has room in full, so that none of its
// results may be clipped. Some that have are not seen to, never the reverse.
func (c *conversation) roomy(room int) bool {
	weight, largest := 0, 0
	for _, m := range c.history.Newest() {
		weight += m.Tokens(c.count)
		for _, item := range m.Items {
			if item.Kind == validate.Result {
				one := validate.Message{Items: []validate.Item{item}}
				largest = max(largest, one.Tokens(c.count))
			}
		}
	}
	return c.history.Bone()+weight+c.fixed <= room && largest*100 <= c.policy.clipShare()*room
}

// checkSavings holds what a build says it kept out against what is not there. Only
// these two formats write a message as one, and only without repairs does
// everything that was appended stand in the context or among the savings.
func (c *conversation) checkSavings(response *pb.BuildContextResponse, total int) {
	repaired := decided(response, pb.DecisionKind_DECISION_KIND_REPAIRED)
	if len(repaired) > 0 || c.format != validate.OpenAIChat && c.format != validate.Neutral {
		return
	}
	t := response.GetTokens()
	saved := int(t.GetSavedByClipping() + t.GetSavedByFit() + t.GetSavedByExpiry() + t.GetSavedByRetention() +
		t.GetSavedByPruning() + t.GetSavedByCompaction() + t.GetSavedByCiting() + t.GetSavedByDeduplication())
	// A token border may lie between what was shortened and the words around it.
	borders := len(decided(response, pb.DecisionKind_DECISION_KIND_CLIPPED, pb.DecisionKind_DECISION_KIND_SUMMARIZED))
	if got, want := total+saved, c.whole+c.fixed; got > want || got < want-c.history.Merged()-borders {
		c.fail("savings_misstated", &c.SavingsMisstated, fmt.Sprintf("%d tokens and %d saved are not %d", total, saved, want))
	}
}

// neutralJSON writes neutral messages as the judge reads them.
func neutralJSON(messages []*pb.ContextMessage) []byte {
	type message struct {
		Role  string          `json:"role"`
		Parts []validate.Item `json:"parts"`
	}
	out := make([]message, len(messages))
	for i, m := range messages {
		out[i] = message{recall.Role(m.GetRole()), recall.Items(m.GetParts())}
	}
	// Strings and numbers always encode.
	raw, _ := json.Marshal(out)
	return raw
}
