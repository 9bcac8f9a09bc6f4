package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/dial"
	"github.com/palimpsest-context/palimpsest/internal/replay/recall"
	"github.com/palimpsest-context/palimpsest/internal/validate"
)

const (
	// largeWindow is a window that most recordings fit, and maxWindow the
	// largest that the contract takes.
	largeWindow = 131_072
	maxWindow   = 100_000_000
	// larger is how many times the window a larger one is at first.
	larger = 4
	// afresh is from how many halves of the largest budget before on a window is opened afresh; below that it starts where that one does.
	afresh = 3
)

// view is a context that was built at some budget.
type view struct {
	response *pb.BuildContextResponse
	blocks   []validate.Block
	total    int
	room     int
}

// probe tries out what a last context promises, with nothing appended between:
// that what is restored is shown, and that a larger budget shows no less.
func (c *conversation) probe(ctx context.Context) {
	if c.previous == nil || c.previous.length != len(c.appended) {
		return // the build was refused, so there is nothing to compare with
	}
	last := &view{blocks: c.previous.blocks, total: c.previous.total, room: c.budget()}
	if last = c.restoreSome(ctx, last); last != nil {
		c.enlarge(ctx, last)
	}
}

// rebuild builds once more, in a window and in the current turn or in the next,
// and returns nil if that was refused.
func (c *conversation) rebuild(ctx context.Context, window int32, sameTurn bool) *view {
	request := c.request(window)
	request.SameTurn = sameTurn
	room := c.policy.budget(int(window - c.reserve))
	c.AtEnd.Builds++
	response, err := c.contexts.BuildContext(ctx, request)
	if err != nil {
		c.refused(err, room, c.AtEnd.Refused)
		return nil
	}
	context, _ := c.inspect(response, room)
	return &view{response, context.Blocks, context.Tokens + c.fixed, room}
}

// enlarge builds in larger windows, and holds each context against the one in
// the next smaller window, unless the policy bounds how many messages both show.
func (c *conversation) enlarge(ctx context.Context, smaller *view) {
	for _, window := range slices.Sorted(slices.Values([]int32{larger * min(c.window, maxWindow/larger), largeWindow})) {
		if c.policy.budget(int(window-c.reserve)) <= smaller.room || ctx.Err() != nil {
			continue
		}
		large := c.rebuild(ctx, window, true)
		if large == nil {
			return
		}
		if less := c.less(smaller, large); less != "" && !c.policy.countsMessages() {
			c.fail("larger_shows_less", &c.LargerShowsLess, fmt.Sprintf("%d tokens, then %d: %s", smaller.room, large.room, less))
		}
		smaller = large
	}
}

// less says what a context at a larger budget shows less of than one at a
// smaller budget, or than fits it; "" if nothing.
func (c *conversation) less(small, large *view) string {
	before, after := textsOf(small.blocks), textsOf(large.blocks)
	lost, first := 0, 0
	for i, m := range c.entered {
		if inFull(m, before) && !inFull(m, after) {
			if lost++; lost == 1 {
				first = i
			}
		}
	}
	gone := decided(large.response, pb.DecisionKind_DECISION_KIND_LEFT_OUT, pb.DecisionKind_DECISION_KIND_SUMMARIZED)
	switch whole := c.whole + c.fixed + validate.Opener(); {
	case lost > 0:
		return fmt.Sprintf("%d messages, %d first, are not in full any more", lost, first)
	case len(gone) > 0 && whole <= large.room && 2*large.room > afresh*small.room:
		return fmt.Sprintf("messages %d to %d are left out or summarized, although all %d tokens fit", gone[0][0], gone[0][1], whole)
	case large.total < small.total:
		return fmt.Sprintf("%d tokens are shown, then %d", small.total, large.total)
	}
	return ""
}

// restoreSome brings back some of the messages that the last context does not
// show in full, the newest, the one in the middle and the heaviest, and demands
// each of the very next context. It returns the last context, or nil if it was
// refused.
func (c *conversation) restoreSome(ctx context.Context, last *view) *view {
	edited := c.notInFull(last)
	if len(edited) == 0 {
		return last
	}
	some := []int{edited[len(edited)-1], edited[len(edited)/2], c.heaviest(edited)}
	slices.Sort(some)
	for _, i := range slices.Compact(some) {
		if ctx.Err() == nil && last != nil && !c.readable(i, textsOf(last.blocks)) {
			last = c.restore(ctx, i, last)
		}
	}
	return last
}

// heaviest is the message of the heaviest unit that may be restored: a unit may
// take half of B.
func (c *conversation) heaviest(of []int) (found int) {
	found, most := of[0], 0
	for _, i := range of {
		weight := 0
		for first, end := c.history.Unit(i); first < end; first++ {
			own := recall.Message(c.appended[first])
			weight += own.Tokens(c.count)
		}
		if weight > most && weight <= c.budget()/2 {
			found, most = i, weight
		}
	}
	return found
}

// notInFull lists the messages that a context does not show word for word.
func (c *conversation) notInFull(v *view) (out []int) {
	shown := textsOf(v.blocks)
	for i := range c.appended {
		if !c.readable(i, shown) {
			out = append(out, i)
		}
	}
	return out
}

// readable says whether a context shows the words and results of a message word
// for word. What a format may write in another way is not looked at, nor what
// may be left out because it says nothing.
func (c *conversation) readable(i int, shown map[string]bool) bool {
	for _, item := range recall.Message(c.appended[i]).Items {
		if item.Kind != validate.Text && item.Kind != validate.Result {
			continue
		}
		for _, text := range item.Texts {
			rewritten := c.format == validate.Gemini && item.Kind == validate.Result && json.Valid([]byte(text))
			if !shown[text] && !rewritten && strings.TrimSpace(text) != "" {
				return false
			}
		}
	}
	return true
}

// restore brings one message back, and looks for its whole unit in the next
// context at the same budget.
func (c *conversation) restore(ctx context.Context, i int, last *view) *view {
	if _, err := c.expandMessage(ctx, i, pb.ExpandMode_EXPAND_MODE_RESTORE); err != nil {
		c.AtEnd.RestoresRefused[dial.Reason(err)]++
		switch dial.Reason(err) {
		case reasonNotEdited:
			c.fail("restores_without_effect", &c.RestoresWithoutEffect, fmt.Sprintf("message %d is refused as in full, and it is not", i))
		case "":
			c.fail("errors", &c.Errors, "restore: "+describe(err))
		}
		return last
	}
	c.AtEnd.Restores++
	next := c.rebuild(ctx, c.window, false)
	if next == nil {
		c.fail("restores_without_effect", &c.RestoresWithoutEffect, fmt.Sprintf("message %d is restored, and the next build refused", i))
		return nil
	}
	first, end := c.history.Unit(i)
	for shown := textsOf(next.blocks); first < end; first++ {
		if !c.readable(first, shown) {
			c.fail("restores_without_effect", &c.RestoresWithoutEffect, fmt.Sprintf("message %d is restored, and message %d is not in full", i, first))
			break
		}
	}
	return next
}
