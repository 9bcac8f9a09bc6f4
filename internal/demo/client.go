package demo

import (
	"context"
	"crypto/rand"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

const (
	// deadline bounds every call.
	deadline = 20 * time.Second
	// maxReply is the largest reply that the API gives, and what the demo asks for: results of megabytes are read back whole.
	maxReply = 64 << 20
	// envelope is what a message adds to the reply around it.
	envelope = 1 << 20
)

// client is one conversation of a sidecar.
type client struct {
	connection   *grpc.ClientConn
	contexts     pb.ContextServiceClient
	records      pb.ConversationServiceClient
	contents     pb.ContentServiceClient
	conversation string
	budget       *pb.Budget
}

func dial(address string, window int32) (*client, error) {
	connection, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxReply+envelope)), grpc.WithUnaryInterceptor(bounded))
	if err != nil {
		return nil, err
	}
	return &client{
		connection: connection, contexts: pb.NewContextServiceClient(connection),
		records: pb.NewConversationServiceClient(connection), contents: pb.NewContentServiceClient(connection),
		conversation: "demo-" + rand.Text(),
		budget:       &pb.Budget{ContextWindowTokens: &window, ReservedOutputTokens: proto.Int32(window / 8)},
	}, nil
}

// bounded gives each call its deadline.
func bounded(
	ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption,
) error {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	return invoke(ctx, method, request, reply, conn, opts...)
}

func (c *client) close() { _ = c.connection.Close() }

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

// expand asks for a message back.
func (c *client) expand(ctx context.Context, index int32, mode pb.ExpandMode) (*pb.ExpandMessageResponse, error) {
	return c.contexts.ExpandMessage(ctx, &pb.ExpandMessageRequest{
		ConversationId: c.conversation, Target: &pb.ExpandMessageRequest_MessageIndex{MessageIndex: index},
		Mode: mode, MaxReplyBytes: proto.Int32(maxReply),
	})
}

// children asks for one page of what a summary stands for.
func (c *client) children(ctx context.Context, id, page string) (*pb.ExpandMessageResponse, error) {
	return c.contexts.ExpandMessage(ctx, &pb.ExpandMessageRequest{
		ConversationId: c.conversation, Target: &pb.ExpandMessageRequest_SummaryId{SummaryId: id},
		Mode: pb.ExpandMode_EXPAND_MODE_RETURN_ONLY, PageToken: page, MaxReplyBytes: proto.Int32(maxReply),
	})
}

// build begins the next turn.
func (c *client) build(ctx context.Context, format pb.ContextFormat) (*pb.BuildContextResponse, error) {
	return c.contexts.BuildContext(ctx, &pb.BuildContextRequest{
		ConversationId: c.conversation, Budget: c.budget, MaxReplyBytes: proto.Int32(maxReply), Format: format,
	})
}

// dryRun builds the current turn again, in the API's own messages, and commits nothing.
func (c *client) dryRun(ctx context.Context) (*pb.BuildContextResponse, error) {
	return c.contexts.BuildContext(ctx, &pb.BuildContextRequest{
		ConversationId: c.conversation, Budget: c.budget, MaxReplyBytes: proto.Int32(maxReply),
		Format: pb.ContextFormat_CONTEXT_FORMAT_NEUTRAL, SameTurn: true, DryRun: true,
	})
}
