package grpcserver

import (
	"errors"
	"io"

	"google.golang.org/grpc"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func storeContentRules() table[*pb.StoreContentRequest] {
	return table[*pb.StoreContentRequest]{
		either("piece", func(r *pb.StoreContentRequest) bool { return r.GetPiece() != nil }),
		message("header", (*pb.StoreContentRequest).GetHeader, headerRules()),
		data("chunk", atMostBytes(maxChunkBytes), (*pb.StoreContentRequest).GetChunk),
	}
}

// StoreContent keeps what the caller streams.
func (s *service) StoreContent(stream grpc.ClientStreamingServer[pb.StoreContentRequest, pb.StoreContentResponse]) error {
	first, err := stream.Recv()
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	header := first.GetHeader()
	if header == nil {
		return violation("header", "is required in the first piece")
	}
	request, err := requestOf("StoreContent", header, &header.RequestId)
	if err != nil {
		return err
	}
	result, err := s.engine.StoreContent(stream.Context(), engine.StoreContentRequest{
		Key:         s.key(header.GetConversationId()),
		Request:     request,
		RunID:       header.GetRunId(),
		Type:        conversation.SourceType(header.GetSourceType()),
		URL:         header.GetSourceUrl(),
		Title:       header.GetSourceTitle(),
		ContentType: header.GetContentType(),
		Metadata:    header.GetMetadataJson(),
		SHA256:      fromDigest(header.GetSha256()),
		Next:        func() ([]byte, error) { return nextChunk(stream.Recv) },
	})
	if err != nil {
		return err
	}
	return stream.SendAndClose(toStoreResponse(result))
}

// nextChunk receives the next bytes. Nothing is received before they are asked for: that is what holds a fast sender back.
func nextChunk(recv func() (*pb.StoreContentRequest, error)) ([]byte, error) {
	piece, err := recv()
	switch {
	case err != nil:
		return nil, err
	case piece.GetHeader() != nil:
		return nil, violation("header", "must stand in the first piece alone")
	default:
		return piece.GetChunk(), nil
	}
}

func toStoreResponse(r *engine.StoreContentResult) *pb.StoreContentResponse {
	return &pb.StoreContentResponse{
		Citation:  toCitation(r.Cited),
		Events:    each(r.Events, toEvent),
		Revision:  r.Revision,
		Duplicate: r.Duplicate,
		Shared:    r.Shared,
	}
}
