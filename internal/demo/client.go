package demo

import (
	"context"
	"crypto/rand"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/dial"
)

// timeout bounds every call.
const timeout = 20 * time.Second

// client is one conversation of a sidecar. Calls that fail are told to fail, and answer with nothing.
type client struct {
	contexts     pb.ContextServiceClient
	records      pb.ConversationServiceClient
	contents     pb.ContentServiceClient
	conversation string
	budget       *pb.Budget
	fail         func(doing string, err error)
}

func newClient(connection *grpc.ClientConn, window int32) *client {
	return &client{
		contexts: pb.NewContextServiceClient(connection), records: pb.NewConversationServiceClient(connection),
		contents: pb.NewContentServiceClient(connection), conversation: "demo-" + rand.Text(),
		budget: &pb.Budget{ContextWindowTokens: &window, ReservedOutputTokens: proto.Int32(window / 8)},
	}
}

// beside is another conversation of the same sidecar.
func (c *client) beside(name string) *client {
	other := *c
	other.conversation += "-" + name
	return &other
}

func (c *client) append(ctx context.Context, m *pb.Message, notes []*pb.AdditionalContent, requestID string) *pb.Receipt {
	reply, err := c.contexts.AppendMessage(ctx, &pb.AppendMessageRequest{
		ConversationId: c.conversation, Message: m, AdditionalContent: notes, RequestId: requestID,
	})
	c.fail("recording a message", err)
	return reply.GetReceipt()
}

// expand asks for a message back, or for one page of what a summary stands for. It may be refused.
func (c *client) expand(ctx context.Context, r *pb.ExpandMessageRequest) (*pb.ExpandMessageResponse, error) {
	r.ConversationId, r.MaxReplyBytes = c.conversation, proto.Int32(dial.LargestReply)
	return c.contexts.ExpandMessage(ctx, r)
}

// build begins the next turn.
func (c *client) build(ctx context.Context, format pb.ContextFormat) *pb.BuildContextResponse {
	return c.buildContext(ctx, &pb.BuildContextRequest{Format: format})
}

// dryRun builds the current turn again, in the API's own messages, and commits nothing.
func (c *client) dryRun(ctx context.Context) *pb.BuildContextResponse {
	return c.buildContext(ctx, &pb.BuildContextRequest{Format: pb.ContextFormat_CONTEXT_FORMAT_NEUTRAL, SameTurn: true, DryRun: true})
}

func (c *client) buildContext(ctx context.Context, r *pb.BuildContextRequest) *pb.BuildContextResponse {
	r.ConversationId, r.Budget, r.MaxReplyBytes = c.conversation, c.budget, proto.Int32(dial.LargestReply)
	reply, err := c.contexts.BuildContext(ctx, r)
	c.fail("building a context", err)
	return reply
}
