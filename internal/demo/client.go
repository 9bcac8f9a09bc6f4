package demo

import (
	"context"
	"crypto/rand"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

const (
	// maxReply is the largest reply that the API gives, and what the demo asks for: results of megabytes are read back whole.
	maxReply = 64 << 20
	// envelope is what a message adds to the reply around it.
	envelope = 1 << 20
	// deadlines bound every call.
	deadlines = `{"methodConfig": [{"name": [{}], "timeout": "20s"}]}`
)

// client is one conversation of a sidecar.
type client struct {
	contexts     pb.ContextServiceClient
	records      pb.ConversationServiceClient
	contents     pb.ContentServiceClient
	conversation string
	budget       *pb.Budget
}

func dial(address string, window int32) (c *client, closed func(), err error) {
	connection, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxReply+envelope)), grpc.WithDefaultServiceConfig(deadlines))
	if err != nil {
		return nil, nil, err
	}
	return &client{
		contexts: pb.NewContextServiceClient(connection), records: pb.NewConversationServiceClient(connection),
		contents: pb.NewContentServiceClient(connection), conversation: "demo-" + rand.Text(),
		budget: &pb.Budget{ContextWindowTokens: &window, ReservedOutputTokens: proto.Int32(window / 8)},
	}, func() { _ = connection.Close() }, nil
}

// beside is another conversation of the same sidecar.
func (c *client) beside(name string) *client {
	other := *c
	other.conversation += "-" + name
	return &other
}

func (c *client) append(ctx context.Context, m *pb.Message, notes []*pb.AdditionalContent, requestID string) (*pb.Receipt, error) {
	reply, err := c.contexts.AppendMessage(ctx, &pb.AppendMessageRequest{
		ConversationId: c.conversation, Message: m, AdditionalContent: notes, RequestId: requestID,
	})
	return reply.GetReceipt(), err
}

// expand asks for a message back, or for one page of what a summary stands for.
func (c *client) expand(ctx context.Context, r *pb.ExpandMessageRequest) (*pb.ExpandMessageResponse, error) {
	r.ConversationId, r.MaxReplyBytes = c.conversation, proto.Int32(maxReply)
	return c.contexts.ExpandMessage(ctx, r)
}

// build begins the next turn.
func (c *client) build(ctx context.Context, format pb.ContextFormat) (*pb.BuildContextResponse, error) {
	return c.buildContext(ctx, &pb.BuildContextRequest{Format: format})
}

// dryRun builds the current turn again, in the API's own messages, and commits nothing.
func (c *client) dryRun(ctx context.Context) (*pb.BuildContextResponse, error) {
	return c.buildContext(ctx, &pb.BuildContextRequest{Format: pb.ContextFormat_CONTEXT_FORMAT_NEUTRAL, SameTurn: true, DryRun: true})
}

func (c *client) buildContext(ctx context.Context, r *pb.BuildContextRequest) (*pb.BuildContextResponse, error) {
	r.ConversationId, r.Budget, r.MaxReplyBytes = c.conversation, c.budget, proto.Int32(maxReply)
	return c.contexts.BuildContext(ctx, r)
}
