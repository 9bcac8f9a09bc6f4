package replay

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/replay/recall"
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

// named is a line that stands for lines of another message.
type named struct {
	lines, message, part int
	first, last          int // from 1, inclusive
	own                  int // the message in which the line stands
}

// reference is the form of such a line (behaviour §21).
func reference() *regexp.Regexp {
	return regexp.MustCompile(`^\[(\d+) lines as in message (\d+)(?:, part (\d+))?, lines (\d+)-(\d+): .*\. Full text: expand_message\((\d+)\)\]$`)
}

// namedBy reads a line that stands for others; false if it is another.
func (c *conversation) namedBy(line string) (named, bool) {
	if !strings.HasPrefix(line, "[") {
		return named{}, false
	}
	found := c.reference.FindStringSubmatch(line)
	if found == nil {
		return named{}, false
	}
	numbers := make([]int, len(found))
	for i, digits := range found[1:] {
		numbers[i+1], _ = strconv.Atoi(digits) // digits alone, or nothing
	}
	return named{lines: numbers[1], message: numbers[2], part: numbers[3], first: numbers[4], last: numbers[5], own: numbers[6]}, true
}

// checkCopies holds every line that names a copy against the copy, which must stand in the same context byte for byte, and
// what comes of it with the lines put back against what was appended. It returns the blocks with the lines put back.
func (c *conversation) checkCopies(response *pb.BuildContextResponse, blocks []validate.Block) []validate.Block {
	said := decided(response, pb.DecisionKind_DECISION_KIND_DEDUPLICATED)
	if len(said) == 0 {
		return blocks
	}
	shown, out := textsOf(blocks), slices.Clone(blocks)
	for i := range out {
		out[i].Items = slices.Clone(out[i].Items)
		for j := range out[i].Items {
			item := &out[i].Items[j]
			item.Texts = slices.Clone(item.Texts)
			for k, text := range item.Texts {
				item.Texts[k] = c.putBack(text, shown, said)
			}
		}
	}
	return out
}

// putBack is a text with the lines that it names in their places.
func (c *conversation) putBack(text string, shown map[string]bool, said indices) string {
	lines, own := strings.Split(text, "\n"), -1
	for i, line := range lines {
		n, ok := c.namedBy(line)
		if !ok || !said.hold(n.own) {
			continue
		}
		own = n.own
		copied, of, fault := c.copied(n)
		if fault == "" && !shown[of] && !anyHoldsLines(shown, copied) {
			fault = "they are not in the context"
		}
		if fault != "" {
			c.fail("copies_missing", &c.CopiesMissing, fmt.Sprintf("message %d names lines %d-%d of message %d: %s", n.own, n.first, n.last, n.message, fault))
		}
		lines[i] = copied
	}
	if own < 0 {
		return text
	}
	whole := strings.Join(lines, "\n")
	if !slices.ContainsFunc(recall.Message(c.appended[own]).Items, func(item validate.Item) bool { return slices.Contains(item.Texts, whole) }) {
		c.fail("copies_missing", &c.CopiesMissing, fmt.Sprintf("message %d with its lines put back is not what was appended", own))
	}
	return whole
}

// copied are the lines that another stands for, as they were appended, and the text that they are of.
func (c *conversation) copied(n named) (lines, of, fault string) {
	if n.message >= len(c.appended) || n.own >= len(c.appended) || n.message > n.own {
		return "", "", "there is no such message"
	}
	items := recall.Message(c.appended[n.message]).Items
	at := max(0, n.part-1)
	if at >= len(items) || n.part == 0 && len(items) > 1 || len(items[at].Texts) != 1 {
		return "", "", "it is not said of which part"
	}
	all := strings.Split(items[at].Texts[0], "\n")
	if n.first < 1 || n.last > len(all) || n.last-n.first+1 != n.lines || n.lines < 1 {
		return "", "", "there are no such lines"
	}
	return strings.Join(all[n.first-1:n.last], "\n"), items[at].Texts[0], ""
}

// anyHoldsLines says whether a text holds others as whole lines.
func anyHoldsLines(texts map[string]bool, lines string) bool {
	for text := range texts {
		if strings.Contains(text, lines) && strings.Contains("\n"+text+"\n", "\n"+lines+"\n") {
			return true
		}
	}
	return false
}
