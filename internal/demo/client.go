package demo

import (
	"context"
	"crypto/rand"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	palimpsestv1 "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

const (
	// deadline bounds every call.
	deadline = 20 * time.Second
	// largest is the largest reply that the API gives, and what the demo asks for: results of megabytes are read back whole.
	largest = 64 << 20
	// envelope is what a message adds to the reply around it.
	envelope = 1 << 20
)

// client is one conversation of a sidecar.
type client struct {
	connection   *grpc.ClientConn
	loop         palimpsestv1.ContextServiceClient
	record       palimpsestv1.ConversationServiceClient
	contents     palimpsestv1.ContentServiceClient
	conversation string
	budget       *palimpsestv1.Budget
}

// beside is another conversation of the same sidecar.
func (c *client) beside(name string) *client {
	other := *c
	other.conversation += "-" + name
	return &other
}

func dial(address string, window int32) (*client, error) {
	connection, err := grpc.NewClient(address,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(largest+envelope)))
	if err != nil {
		return nil, err
	}
	reserved := window / 8
	return &client{
		connection:   connection,
		loop:         palimpsestv1.NewContextServiceClient(connection),
		record:       palimpsestv1.NewConversationServiceClient(connection),
		contents:     palimpsestv1.NewContentServiceClient(connection),
		conversation: "demo-" + rand.Text(),
		budget:       &palimpsestv1.Budget{ContextWindowTokens: &window, ReservedOutputTokens: &reserved},
	}, nil
}

func (c *client) close() { _ = c.connection.Close() }

func (c *client) append(
	ctx context.Context, m *palimpsestv1.Message, notes []*palimpsestv1.AdditionalContent, requestID string,
) (*palimpsestv1.Receipt, error) {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	reply, err := c.loop.AppendMessage(ctx, &palimpsestv1.AppendMessageRequest{
		ConversationId: c.conversation, Message: m, AdditionalContent: notes, RequestId: requestID,
	})
	return reply.GetReceipt(), err
}

// expand asks for a message back.
func (c *client) expand(ctx context.Context, index int32, mode palimpsestv1.ExpandMode) (*palimpsestv1.ExpandMessageResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	limit := int32(largest)
	return c.loop.ExpandMessage(ctx, &palimpsestv1.ExpandMessageRequest{
		ConversationId: c.conversation, Target: &palimpsestv1.ExpandMessageRequest_MessageIndex{MessageIndex: index},
		Mode: mode, MaxReplyBytes: &limit,
	})
}

// answer has a call of the model's answered, and says how long that took.
func (c *client) answer(ctx context.Context, call *palimpsestv1.ToolCall) (*palimpsestv1.AnswerToolCallResponse, time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	began := time.Now()
	reply, err := c.loop.AnswerToolCall(ctx, &palimpsestv1.AnswerToolCallRequest{ConversationId: c.conversation, ToolCall: call})
	return reply, time.Since(began), err
}

// children asks for what a summary stands for, a page of it.
func (c *client) children(ctx context.Context, id, page string) (*palimpsestv1.ExpandMessageResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	limit := int32(largest)
	return c.loop.ExpandMessage(ctx, &palimpsestv1.ExpandMessageRequest{
		ConversationId: c.conversation, Target: &palimpsestv1.ExpandMessageRequest_SummaryId{SummaryId: id},
		Mode: palimpsestv1.ExpandMode_EXPAND_MODE_RETURN_ONLY, PageToken: page, MaxReplyBytes: &limit,
	})
}

// build begins the next turn.
func (c *client) build(ctx context.Context, format palimpsestv1.ContextFormat) (*palimpsestv1.BuildContextResponse, error) {
	return c.ask(ctx, &palimpsestv1.BuildContextRequest{Format: format})
}

// look builds the current turn again, in palimpsest's own messages, and commits nothing.
func (c *client) look(ctx context.Context) (*palimpsestv1.BuildContextResponse, error) {
	return c.ask(ctx, &palimpsestv1.BuildContextRequest{
		SameTurn: true, DryRun: true, Format: palimpsestv1.ContextFormat_CONTEXT_FORMAT_NEUTRAL,
	})
}

func (c *client) ask(ctx context.Context, r *palimpsestv1.BuildContextRequest) (*palimpsestv1.BuildContextResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	limit := int32(largest)
	r.ConversationId, r.Budget, r.MaxReplyBytes = c.conversation, c.budget, &limit
	return c.loop.BuildContext(ctx, r)
}

func (c *client) message(ctx context.Context, index int32) (*palimpsestv1.Message, error) {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	limit := int32(largest)
	reply, err := c.record.GetMessage(ctx, &palimpsestv1.GetMessageRequest{
		ConversationId: c.conversation, MessageIndex: index, MaxReplyBytes: &limit,
	})
	return reply.GetMessage(), err
}

func (c *client) manifest(ctx context.Context, id string) (*palimpsestv1.GetManifestResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	limit := int32(largest)
	return c.record.GetManifest(ctx, &palimpsestv1.GetManifestRequest{
		ConversationId: c.conversation, ManifestId: id, MaxReplyBytes: &limit,
	})
}
