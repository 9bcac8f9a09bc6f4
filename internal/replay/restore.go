package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/validate"
)

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
			own := messageOf(c.appended[first])
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
	for _, item := range messageOf(c.appended[i]).Items {
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
	if err := c.askBack(ctx, i); err != nil {
		c.AtEnd.RestoresRefused[reasonOf(err)]++
		switch reasonOf(err) {
		case reasonNotEdited:
			c.fail("restores_without_effect", &c.RestoresWithoutEffect, fmt.Sprintf("message %d is refused as in full, and it is not", i))
		case "":
			c.fail("errors", &c.Errors, "restore: "+describe(err))
		}
		return last
	}
	c.AtEnd.Restores++
	next := c.again(ctx, c.window, false)
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

func (c *conversation) askBack(ctx context.Context, i int) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	largest := int32(maxMessage)
	_, err := c.contexts.ExpandMessage(ctx, &pb.ExpandMessageRequest{
		ConversationId: c.id, Target: &pb.ExpandMessageRequest_MessageIndex{MessageIndex: int32(i)},
		Mode: pb.ExpandMode_EXPAND_MODE_RESTORE, MaxReplyBytes: &largest,
	})
	return err
}
