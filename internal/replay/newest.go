package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/internal/replay/recall"
	"github.com/palimpsest-context/palimpsest/internal/validate"
)

const (
	// clippedChars is the length up to which clipping leaves a result alone,
	// headChars what is left at least of the head of a longer one, tailChars of
	// its tail.
	clippedChars = 200
	headChars    = 40
	tailChars    = 20
	// beside is how many items may stand beside the newest unit's at the end of
	// a context: what providers' rules add.
	beside = 3
)

// newestMissing says which piece of the newest unit the end of a context lacks,
// or "". What is clipped is so from the original, also where it was cited.
func (c *conversation) newestMissing(blocks []validate.Block, room int) string {
	unit := c.history.Newest()
	originals := make([]validate.Message, len(unit))
	for i, m := range c.appended[len(c.appended)-len(unit):] {
		originals[i] = recall.Message(m)
	}
	return missing(unit, originals, blocks, c.roomy(room))
}

// missing says which piece of a unit the end of a context lacks, or "". Words
// and arguments must be there in full; results too, or by head and tail where
// they may be clipped.
func missing(unit, originals []validate.Message, blocks []validate.Block, full bool) string {
	pieces := 0
	for _, m := range unit {
		pieces += len(m.Items)
	}
	tail := lastItems(blocks, pieces+beside)
	for i, m := range unit {
		for j, item := range m.Items {
			if !slices.ContainsFunc(tail, func(shown validate.Item) bool {
				return shows(shown, item, full) || !full && shows(shown, originals[i].Items[j], false)
			}) {
				return fmt.Sprintf("%s of message %d, part %d", item.Kind, i, j)
			}
		}
	}
	return ""
}

// lastItems returns the last n items of a context.
func lastItems(blocks []validate.Block, n int) []validate.Item {
	var tail []validate.Item
	for i := len(blocks) - 1; i >= 0 && len(tail) < n; i-- {
		tail = append(tail, blocks[i].Items...)
	}
	return tail
}

// shows says whether an item of a context stands for one of the record.
func shows(shown, item validate.Item, full bool) bool {
	switch item.Kind {
	case validate.Text:
		return showsText(shown, item.Texts[0])
	case validate.Call:
		return shown.Kind == validate.Call && sameArguments(shown.Texts[0], item.Texts[0])
	case validate.Result:
		return !slices.ContainsFunc(item.Texts, func(text string) bool {
			if full {
				return !showsText(shown, text) && !showsText(shown, canonical(text))
			}
			head, tail := ends(text)
			return !showsText(shown, head) || len(item.Texts) == 1 && !showsText(shown, tail)
		})
	default: // a provider may not take media or foreign thinking
		return true
	}
}

// showsText says whether one of the item's texts contains the text. Nothing but
// white space need not be shown.
func showsText(shown validate.Item, text string) bool {
	return strings.TrimSpace(text) == "" ||
		slices.ContainsFunc(shown.Texts, func(s string) bool { return strings.Contains(s, text) })
}

// ends are what clipping leaves of a result's head and tail in any case.
func ends(text string) (head, tail string) {
	runes := []rune(text)
	if len(runes) <= clippedChars {
		return text, text
	}
	return string(runes[:headChars]), string(runes[len(runes)-tailChars:])
}

// sameArguments compares by value, since providers want them written
// differently; what is no object may be wrapped into one.
func sameArguments(shown, original string) bool {
	a, b := canonical(shown), canonical(original)
	return a == b || b == "" && a == "{}" || strings.Contains(recall.Leaves(shown), original)
}

// canonical writes JSON with sorted keys and without white space; what is no
// JSON as it stands.
func canonical(text string) string {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var v any
	if decoder.Decode(&v) != nil || decoder.More() {
		return strings.TrimSpace(text)
	}
	var b bytes.Buffer
	// What was decoded encodes.
	_ = json.NewEncoder(&b).Encode(v)
	return strings.TrimSpace(b.String())
}

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
