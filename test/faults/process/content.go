package process

import (
	"context"
	"errors"
	"io"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// Store stores a content, sent in chunks of a size.
func (c *Client) Store(ctx context.Context, header *pb.StoreContentHeader, content []byte, chunk int) (*pb.StoreContentResponse, error) {
	pieces := []*pb.StoreContentRequest{{Piece: &pb.StoreContentRequest_Header{Header: header}}}
	for len(content) > 0 {
		n := min(chunk, len(content))
		pieces = append(pieces, &pb.StoreContentRequest{Piece: &pb.StoreContentRequest_Chunk{Chunk: content[:n]}})
		content = content[n:]
	}
	return c.StorePieces(ctx, pieces...)
}

// StorePieces sends a content piece by piece, as it is.
func (c *Client) StorePieces(ctx context.Context, pieces ...*pb.StoreContentRequest) (*pb.StoreContentResponse, error) {
	stream, err := c.Contents.StoreContent(ctx)
	if err != nil {
		return nil, err
	}
	if err := sendAll(stream, pieces); err != nil {
		return nil, err
	}
	return stream.CloseAndRecv()
}

// Stream is a content, or its rest, or what came of it before an error.
func (c *Client) Stream(ctx context.Context, r *pb.StreamContentRequest) (out []byte, err error) {
	stream, err := c.Contents.StreamContent(ctx, r)
	if err != nil {
		return nil, err
	}
	for {
		piece, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		if chunk := piece.GetChunk(); len(chunk) > 0 && piece.GetOffsetBytes() != r.GetOffsetBytes()+int64(len(out)) {
			return out, errors.New("a piece is missing, or comes twice")
		}
		out = append(out, piece.GetChunk()...)
	}
}
