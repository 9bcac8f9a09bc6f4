package replay

import (
	"context"

	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/validate"
)

// expandAll asks for every message back that the last context does not show in
// full, and compares it with what was appended. Which ones those are is read
// off the bytes of that context.
func (c *conversation) expandAll(ctx context.Context) {
	shown := map[string]bool{"": true}
	if c.previous != nil {
		shown = textsOf(c.previous.blocks)
	}
	for i, m := range c.appended {
		if ctx.Err() != nil {
			return
		}
		if !inFull(m, shown) {
			c.expand(ctx, i)
		}
	}
}

// textsOf are all texts of a context, and the empty one.
func textsOf(blocks []validate.Block) map[string]bool {
	shown := map[string]bool{"": true}
	for i := range blocks {
		for _, item := range blocks[i].Items {
			for _, text := range item.Texts {
				shown[text] = true
			}
		}
	}
	return shown
}

// inFull says whether each text of a message is shown word for word. Where a
// format writes a text in another way it is not, and its message is asked for
// although the context has it.
func inFull(m *pb.Message, shown map[string]bool) bool {
	for _, item := range messageOf(m).Items {
		for _, text := range item.Texts {
			if item.Kind != validate.Reasoning && item.Kind != validate.Opaque && !shown[text] {
				return false
			}
		}
	}
	return true
}

// expand asks for one message as an agent's tool would: without a change to
// the view.
func (c *conversation) expand(ctx context.Context, i int) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	c.index = i
	largest := int32(maxMessage)
	response, err := c.contexts.ExpandMessage(ctx, &pb.ExpandMessageRequest{
		ConversationId: c.id, Target: &pb.ExpandMessageRequest_MessageIndex{MessageIndex: int32(i)},
		Mode: pb.ExpandMode_EXPAND_MODE_RETURN_ONLY, MaxReplyBytes: &largest,
	})
	c.Expansions++
	got := response.GetMessage()
	switch {
	case err != nil:
		c.fail("expansion_mismatches", &c.ExpansionMismatches, describe(err))
	case int(got.GetIndex()) != i || !proto.Equal(asSent(got, c.appended[i]), c.appended[i]):
		c.fail("expansion_mismatches", &c.ExpansionMismatches, "it is not what was appended")
	}
}
