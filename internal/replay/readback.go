package replay

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
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
		page, err := c.page(ctx, from, token)
		if reasonOf(err) == reasonTooLarge {
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

func (c *conversation) page(ctx context.Context, start int, token string) (*pb.ListMessagesResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return c.records.ListMessages(ctx, &pb.ListMessagesRequest{
		ConversationId: c.id, Range: &pb.MessageRange{StartIndex: int32(start)}, View: pb.ListView_LIST_VIEW_ORIGINAL,
		PageSize: readPage, PageToken: token,
	})
}

func (c *conversation) readOne(ctx context.Context, i int) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	largest := int32(maxMessage)
	response, err := c.records.GetMessage(ctx, &pb.GetMessageRequest{ConversationId: c.id, MessageIndex: int32(i), MaxReplyBytes: &largest})
	if err != nil {
		c.fail("errors", &c.Errors, "get: "+describe(err))
		return
	}
	c.compare(i, response.GetMessage())
}

// compare holds a message that came back against the one that was appended.
func (c *conversation) compare(i int, got *pb.Message) {
	c.index = i
	if i >= len(c.appended) || int(got.GetIndex()) != i || !proto.Equal(asSent(got, c.appended[i]), c.appended[i]) {
		c.fail("readback_mismatches", &c.ReadbackMismatches, "it is not what was appended")
	}
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
