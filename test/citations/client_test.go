package citations

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"

	"google.golang.org/grpc"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// client is what a caller has of a sidecar.
type client struct {
	agent         pb.ContextServiceClient
	contents      pb.ContentServiceClient
	conversations pb.ConversationServiceClient
}

func newClient(c grpc.ClientConnInterface) *client {
	return &client{pb.NewContextServiceClient(c), pb.NewContentServiceClient(c), pb.NewConversationServiceClient(c)}
}

// must ends the test for a request that is in order.
func must[R any](t testing.TB) func(R, error) R {
	t.Helper()
	return func(reply R, err error) R {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return reply
	}
}

// create makes a conversation that cites, and that may say more of itself.
func (c *client) create(t testing.TB, conversation string, change func(*pb.Policy)) {
	t.Helper()
	p := &pb.Policy{Citations: &pb.CitationsPolicy{Enabled: new(true)}}
	if change != nil {
		change(p)
	}
	must[*pb.CreateConversationResponse](t)(c.conversations.CreateConversation(t.Context(), &pb.CreateConversationRequest{
		Conversation: &pb.Conversation{Id: conversation, Policy: p},
	}))
}

// outcome is what a tool said, and how it was asked.
type outcome struct {
	tool, arguments string
	id              string // of the call
	run             string
	text            string
}

// exchange is a call and its result.
func (o *outcome) exchange() []*pb.BatchAppendItem {
	call := &pb.Part{Content: &pb.Part_ToolCall{ToolCall: &pb.ToolCall{CallId: o.id, Name: o.tool, ArgumentsJson: o.arguments}}}
	result := &pb.Part{Content: &pb.Part_ToolResult{ToolResult: &pb.ToolResult{
		CallId: o.id, Name: o.tool, State: pb.ToolResultState_TOOL_RESULT_STATE_COMPLETED, Output: &pb.ToolResult_Text{Text: o.text},
	}}}
	return []*pb.BatchAppendItem{
		{Message: &pb.Message{Role: pb.Role_ROLE_ASSISTANT, Parts: []*pb.Part{call}, RunId: o.run}},
		{Message: &pb.Message{Role: pb.Role_ROLE_TOOL, Parts: []*pb.Part{result}, RunId: o.run}},
	}
}

// append puts a call and its result on record, and returns the result's receipt.
func (c *client) append(ctx context.Context, conversation string, o outcome) (*pb.Receipt, error) {
	reply, err := c.agent.BatchAppendMessages(ctx, &pb.BatchAppendMessagesRequest{ConversationId: conversation, Items: o.exchange()})
	if err != nil {
		return nil, err
	}
	return reply.GetReceipts()[1], nil
}

// cite appends what must be cited, and returns the citation.
func (c *client) cite(t testing.TB, conversation string, o outcome) *pb.Citation {
	t.Helper()
	receipt := must[*pb.Receipt](t)(c.append(t.Context(), conversation, o))
	if len(receipt.GetCitations()) != 1 {
		t.Fatalf("a result of %d bytes has %d citations", len(o.text), len(receipt.GetCitations()))
	}
	return receipt.GetCitations()[0]
}

const (
	// piece is how much of a content is sent at a time.
	piece = 1 << 20
	// room is the largest reply that these tests ask for.
	room int32 = 64 << 20
)

// store streams a content in.
func (c *client) store(ctx context.Context, header *pb.StoreContentHeader, content io.Reader) (*pb.StoreContentResponse, error) {
	stream, err := c.contents.StoreContent(ctx)
	if err != nil {
		return nil, err
	}
	err = stream.Send(&pb.StoreContentRequest{Piece: &pb.StoreContentRequest_Header{Header: header}})
	buffer := make([]byte, piece)
	for err == nil {
		var n int
		if n, err = io.ReadFull(content, buffer); n > 0 {
			if sent := stream.Send(&pb.StoreContentRequest{Piece: &pb.StoreContentRequest_Chunk{Chunk: buffer[:n]}}); sent != nil {
				err = sent
			}
		}
	}
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	return stream.CloseAndRecv()
}

// keep stores a text that belongs to a conversation, or to a run, and returns its handle.
func (c *client) keep(t testing.TB, conversation, run, text string) string {
	t.Helper()
	reply := must[*pb.StoreContentResponse](t)(c.store(t.Context(), &pb.StoreContentHeader{ConversationId: conversation, RunId: run}, bytes.NewReader([]byte(text))))
	return reply.GetCitation().GetContentId()
}

// fetch streams a content out, from a byte on.
func (c *client) fetch(ctx context.Context, conversation, handle string, from int64, to io.Writer) error {
	stream, err := c.contents.StreamContent(ctx, &pb.StreamContentRequest{ConversationId: conversation, ContentId: handle, OffsetBytes: from})
	if err != nil {
		return err
	}
	for {
		reply, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if reply.GetOffsetBytes() != from {
			return errors.New("a piece is missing, or comes twice")
		}
		from += int64(len(reply.GetChunk()))
		if _, err := to.Write(reply.GetChunk()); err != nil {
			return err
		}
	}
}

// text is all of a content.
func (c *client) text(ctx context.Context, conversation, handle string) (string, error) {
	var out bytes.Buffer
	err := c.fetch(ctx, conversation, handle, 0, &out)
	return out.String(), err
}

// excerpts are the best passages of a content.
func (c *client) excerpts(ctx context.Context, conversation, handle string, terms ...string) ([]*pb.Excerpt, error) {
	reply, err := c.contents.RetrieveContent(ctx, &pb.RetrieveContentRequest{
		ConversationId: conversation, ContentId: handle, Selection: &pb.RetrieveContentRequest_Excerpts{Excerpts: &pb.ExcerptQuery{SearchTerms: terms}},
	})
	return reply.GetExcerpts(), err
}

// part is a range of a content.
func (c *client) part(ctx context.Context, conversation, handle string, r *pb.ContentRange) (*pb.RetrieveContentResponse, error) {
	reply := room
	return c.contents.RetrieveContent(ctx, &pb.RetrieveContentRequest{
		ConversationId: conversation, ContentId: handle, Selection: &pb.RetrieveContentRequest_Range{Range: r}, MaxReplyBytes: &reply,
	})
}

// recall answers a call that a model makes of a tool that recalls.
func (c *client) recall(ctx context.Context, conversation string, call *pb.ToolCall, limit int32) (*pb.AnswerToolCallResponse, error) {
	return c.agent.AnswerToolCall(ctx, &pb.AnswerToolCallRequest{ConversationId: conversation, ToolCall: call, MaxTokens: limit})
}
