package replay

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// reachAll expands every summary in force down through its children to the
// messages, and compares those with what was appended: a summary must stand for
// all of its range, each message once.
func (c *conversation) reachAll(ctx context.Context) {
	token := ""
	for ctx.Err() == nil {
		page, err := c.currentPage(ctx, token)
		if err != nil {
			c.fail("errors", &c.Errors, "list summaries: "+describe(err))
			return
		}
		for _, s := range page.GetSummaries() {
			c.reach(ctx, s.GetId(), int(s.GetStartIndex()), int(s.GetEndIndex()))
		}
		if token = page.GetNextPageToken(); token == "" {
			return
		}
	}
}

func (c *conversation) currentPage(ctx context.Context, token string) (*pb.ListMessagesResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	largest := int32(maxMessage)
	return c.records.ListMessages(ctx, &pb.ListMessagesRequest{
		ConversationId: c.id, View: pb.ListView_LIST_VIEW_CURRENT, PageSize: readPage, PageToken: token, MaxReplyBytes: &largest,
	})
}

// reach expands one summary of the messages from start up to end.
func (c *conversation) reach(ctx context.Context, summary string, start, end int) {
	c.Reached.Summaries++
	next, token := start, ""
	for ctx.Err() == nil {
		page, err := c.childrenPage(ctx, summary, token)
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
		c.reach(ctx, child.GetSummaryId(), start, end)
	case int(m.GetIndex()) != start || end != start+1:
		c.unreachable(start, summary, fmt.Sprintf("message %d stands for [%d, %d)", m.GetIndex(), start, end))
	case start >= len(c.appended) || !proto.Equal(asSent(m, c.appended[start]), c.appended[start]):
		c.unreachable(start, summary, "it is not what was appended")
	default:
		c.Reached.Messages++
	}
	return max(next, end)
}

func (c *conversation) childrenPage(ctx context.Context, summary, token string) (*pb.ExpandMessageResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	largest := int32(maxMessage)
	return c.contexts.ExpandMessage(ctx, &pb.ExpandMessageRequest{
		ConversationId: c.id, Target: &pb.ExpandMessageRequest_SummaryId{SummaryId: summary},
		Mode: pb.ExpandMode_EXPAND_MODE_RETURN_ONLY, PageToken: token, MaxReplyBytes: &largest,
	})
}

func (c *conversation) unreachable(index int, summary, why string) {
	c.index = index
	c.fail("unreachable", &c.Unreachable, summary+": "+why)
}

// Reached is what expanding the summaries in force came to.
type Reached struct {
	Summaries int `json:"summaries"` // in force and below
	Messages  int `json:"messages"`  // that came back as they were appended
}
