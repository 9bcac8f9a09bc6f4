package process

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// maxMessageBytes lets the sidecar's limits be met, instead of gRPC's own at the client.
const maxMessageBytes = 256 << 20

// Client is a connection to a sidecar, and its services.
type Client struct {
	Context       pb.ContextServiceClient
	Conversations pb.ConversationServiceClient
	Policies      pb.PolicyServiceClient
	Contents      pb.ContentServiceClient
	Memories      pb.MemoryServiceClient
	Connection    *grpc.ClientConn
}

// Dial returns a client. It connects with the first call.
func (s *Sidecar) Dial() (*Client, error) {
	connection, err := grpc.NewClient(s.Address(),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessageBytes), grpc.MaxCallSendMsgSize(maxMessageBytes)))
	if err != nil {
		return nil, err
	}
	return &Client{
		Context:       pb.NewContextServiceClient(connection),
		Conversations: pb.NewConversationServiceClient(connection),
		Policies:      pb.NewPolicyServiceClient(connection),
		Contents:      pb.NewContentServiceClient(connection),
		Memories:      pb.NewMemoryServiceClient(connection),
		Connection:    connection,
	}, nil
}

// Close closes the connection.
func (c *Client) Close() { _ = c.Connection.Close() }

// Reason is the reason that an error of the API carries; empty for one that gRPC made itself.
func Reason(err error) string {
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			return info.GetReason()
		}
	}
	return ""
}

// listPage is the most messages that a page can hold.
const listPage = 1000

// maxReplyBytes is the largest answer that the API lets a caller ask for.
const maxReplyBytes int32 = 64 << 20

// Messages lists everything on record of a conversation, oldest first.
func (c *Client) Messages(ctx context.Context, conversation string, view pb.ListView) ([]*pb.Message, error) {
	reply := maxReplyBytes
	request := &pb.ListMessagesRequest{ConversationId: conversation, View: view, PageSize: listPage, MaxReplyBytes: &reply}
	var all []*pb.Message
	for {
		page, err := c.Conversations.ListMessages(ctx, request)
		if err != nil {
			return nil, err
		}
		all = append(all, page.GetMessages()...)
		if page.GetNextPageToken() == "" {
			return all, nil
		}
		request.PageToken = page.GetNextPageToken()
	}
}

// Export is everything on record of a conversation, as the API exports it.
func (c *Client) Export(ctx context.Context, conversation string) ([]byte, error) {
	stream, err := c.Conversations.ExportConversation(ctx, &pb.ExportConversationRequest{ConversationId: conversation})
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	for {
		piece, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return out.Bytes(), nil
		}
		if err != nil {
			return nil, err
		}
		out.Write(piece.GetChunk())
	}
}

// Import creates a conversation from an export, sent in chunks of a size.
func (c *Client) Import(ctx context.Context, conversation string, export []byte, chunk int) (*pb.Conversation, error) {
	pieces := []*pb.ImportConversationRequest{
		{Payload: &pb.ImportConversationRequest_ConversationId{ConversationId: conversation}},
	}
	for len(export) > 0 {
		n := min(chunk, len(export))
		pieces = append(pieces, &pb.ImportConversationRequest{Payload: &pb.ImportConversationRequest_Chunk{Chunk: export[:n]}})
		export = export[n:]
	}
	return c.ImportPieces(ctx, pieces...)
}

// ImportPieces sends an import piece by piece, as it is.
func (c *Client) ImportPieces(ctx context.Context, pieces ...*pb.ImportConversationRequest) (*pb.Conversation, error) {
	stream, err := c.Conversations.ImportConversation(ctx)
	if err != nil {
		return nil, err
	}
	if err := sendAll(stream, pieces); err != nil {
		return nil, err
	}
	reply, err := stream.CloseAndRecv()
	return reply.GetConversation(), err
}

// Sum is the hash that a build names, after it was held against the bytes, where the build has any.
func Sum(rendered *pb.Rendered) (string, error) {
	named := rendered.GetContentSha256()
	if len(rendered.GetMessagesJson()) == 0 {
		return named, nil
	}
	h := sha256.New()
	h.Write(rendered.GetSystemJson())
	h.Write([]byte{0})
	h.Write(rendered.GetMessagesJson())
	if hex.EncodeToString(h.Sum(nil)) != named {
		return "", errors.New("content_sha256 is not the hash of the bytes beside it")
	}
	return named, nil
}

// sendAll sends pieces until the sidecar has answered: its answer, which the caller receives, says why.
func sendAll[P any](stream interface{ Send(P) error }, pieces []P) error {
	for _, piece := range pieces {
		if err := stream.Send(piece); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return nil
}
