package replay

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/dial"
	"github.com/palimpsest-context/palimpsest/internal/replay/recall"
	"github.com/palimpsest-context/palimpsest/internal/validate"
)

const (
	readPage = 250
	// readAlone is the size in bytes from which a message is also read by
	// itself: what is stored in chunks takes another way back.
	readAlone = 16 << 10
)

// readBack reads the whole record and compares it with what was appended.
func (c *conversation) readBack(ctx context.Context) {
	// A page token belongs to a listing, so the range stays until a message that
	// is too large for any page makes it a new one.
	seen, from, token := 0, 0, ""
	for from < len(c.appended) {
		page, err := c.records.ListMessages(ctx, &pb.ListMessagesRequest{
			ConversationId: c.id, Range: &pb.MessageRange{StartIndex: int32(from)}, View: pb.ListView_LIST_VIEW_ORIGINAL,
			PageSize: readPage, PageToken: token,
		})
		if dial.Reason(err) == reasonTooLarge {
			c.readOne(ctx, seen)
			seen++
			from, token = seen, ""
			continue
		}
		if err != nil {
			c.fail("errors", &c.Errors, "list: "+describe(err))
			return
		}
		for _, m := range page.GetMessages() {
			c.compare(seen, m)
			seen++
		}
		if token = page.GetNextPageToken(); token == "" {
			break
		}
	}
	if seen != len(c.appended) {
		c.fail("readback_mismatches", &c.ReadbackMismatches, fmt.Sprintf("%d messages of %d come back", seen, len(c.appended)))
	}
	for i, m := range c.appended {
		if proto.Size(m) >= readAlone {
			c.readOne(ctx, i)
		}
	}
}

func (c *conversation) readOne(ctx context.Context, i int) {
	response, err := c.records.GetMessage(ctx, &pb.GetMessageRequest{ConversationId: c.id, MessageIndex: int32(i), MaxReplyBytes: proto.Int32(dial.LargestReply)})
	if err != nil {
		c.fail("errors", &c.Errors, "get: "+describe(err))
		return
	}
	c.compare(i, response.GetMessage())
}

// compare holds a message that came back against the one that was appended.
func (c *conversation) compare(i int, got *pb.Message) {
	c.index = i
	if !c.isAppended(i, got) {
		c.fail("readback_mismatches", &c.ReadbackMismatches, "it is not what was appended")
	}
}

// isAppended says whether what came back is the message that was appended at an index.
func (c *conversation) isAppended(i int, got *pb.Message) bool {
	return i < len(c.appended) && int(got.GetIndex()) == i && proto.Equal(asSent(got, c.appended[i]), c.appended[i])
}

// asSent returns what came back without what the server adds: ids, counts,
// times, how long it lives, and the name of a tool that a result did not give.
func asSent(got, sent *pb.Message) *pb.Message {
	m := proto.CloneOf(got)
	m.Index, m.CreateTime, m.TurnAdded, m.TokenCount, m.View, m.Estimated = 0, nil, 0, 0, nil, false
	m.Expiration = AsSaid(m.GetExpiration(), sent.GetExpiration())
	if sent.GetId() == "" {
		m.Id = ""
	}
	for i, p := range m.GetParts() {
		r := p.GetToolResult()
		if r == nil || i >= len(sent.GetParts()) {
			continue
		}
		said := sent.GetParts()[i].GetToolResult()
		r.Expiration = AsSaid(r.GetExpiration(), said.GetExpiration())
		if said.GetName() == "" {
			r.Name = ""
		}
	}
	return m
}

// AsSaid returns what came back of an expiration without what the server adds:
// where it comes from, and what was not said.
func AsSaid(got, said *pb.Expiration) *pb.Expiration {
	if said == nil || got == nil {
		return nil
	}
	fields := got.ProtoReflect()
	fields.Range(func(f protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
		if !said.ProtoReflect().Has(f) {
			fields.Clear(f)
		}
		return true
	})
	return got
}

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
	for _, item := range recall.Message(m).Items {
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
	c.index = i
	response, err := c.expandMessage(ctx, i, pb.ExpandMode_EXPAND_MODE_RETURN_ONLY)
	c.Expansions++
	got := response.GetMessage()
	switch {
	case err != nil:
		c.fail("expansion_mismatches", &c.ExpansionMismatches, describe(err))
	case !c.isAppended(i, got):
		c.fail("expansion_mismatches", &c.ExpansionMismatches, "it is not what was appended")
	}
}

func (c *conversation) expandMessage(ctx context.Context, i int, mode pb.ExpandMode) (*pb.ExpandMessageResponse, error) {
	return c.contexts.ExpandMessage(ctx, &pb.ExpandMessageRequest{
		ConversationId: c.id, Target: &pb.ExpandMessageRequest_MessageIndex{MessageIndex: int32(i)}, Mode: mode, MaxReplyBytes: proto.Int32(dial.LargestReply),
	})
}

// expandSummaries expands every summary in force down through its children to the
// messages, and compares those with what was appended: a summary must stand for
// all of its range, each message once.
func (c *conversation) expandSummaries(ctx context.Context) {
	token := ""
	for ctx.Err() == nil {
		page, err := c.records.ListMessages(ctx, &pb.ListMessagesRequest{
			ConversationId: c.id, View: pb.ListView_LIST_VIEW_CURRENT, PageSize: readPage, PageToken: token, MaxReplyBytes: proto.Int32(dial.LargestReply),
		})
		if err != nil {
			c.fail("errors", &c.Errors, "list summaries: "+describe(err))
			return
		}
		for _, s := range page.GetSummaries() {
			c.expandSummary(ctx, s.GetId(), int(s.GetStartIndex()), int(s.GetEndIndex()))
		}
		if token = page.GetNextPageToken(); token == "" {
			return
		}
	}
}

// expandSummary expands one summary of the messages from start up to end.
func (c *conversation) expandSummary(ctx context.Context, summary string, start, end int) {
	c.Reached.Summaries++
	next, token := start, ""
	for ctx.Err() == nil {
		page, err := c.contexts.ExpandMessage(ctx, &pb.ExpandMessageRequest{
			ConversationId: c.id, Target: &pb.ExpandMessageRequest_SummaryId{SummaryId: summary},
			Mode: pb.ExpandMode_EXPAND_MODE_RETURN_ONLY, PageToken: token, MaxReplyBytes: proto.Int32(dial.LargestReply),
		})
		if err != nil {
			c.unreachable(next, summary, describe(err))
			return
		}
		for _, child := range page.GetChildren() {
			next = c.child(ctx, summary, child, next)
		}
		if token = page.GetNextPageToken(); token == "" {
			break
		}
	}
	if next != end {
		c.unreachable(next, summary, fmt.Sprintf("its children end before message %d, it before %d", next, end))
	}
}

// child looks at one child of a summary, which must begin at next, and returns
// where the one after it must.
func (c *conversation) child(ctx context.Context, summary string, child *pb.ExpandedChild, next int) int {
	start, end := int(child.GetStartIndex()), int(child.GetEndIndex())
	m := child.GetMessage()
	switch {
	case start != next:
		c.unreachable(next, summary, fmt.Sprintf("a child stands for [%d, %d), want it from %d on", start, end, next))
	case m == nil:
		c.expandSummary(ctx, child.GetSummaryId(), start, end)
	case int(m.GetIndex()) != start || end != start+1:
		c.unreachable(start, summary, fmt.Sprintf("message %d stands for [%d, %d)", m.GetIndex(), start, end))
	case !c.isAppended(start, m):
		c.unreachable(start, summary, "it is not what was appended")
	default:
		c.Reached.Messages++
	}
	return max(next, end)
}

func (c *conversation) unreachable(index int, summary, why string) {
	c.index = index
	c.fail("unreachable", &c.Unreachable, summary+": "+why)
}
