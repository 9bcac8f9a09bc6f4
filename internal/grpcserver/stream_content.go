package grpcserver

import (
	"google.golang.org/grpc"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func streamContentRules() table[*pb.StreamContentRequest] {
	return table[*pb.StreamContentRequest]{
		conversationID("conversation_id", (*pb.StreamContentRequest).GetConversationId),
		handle((*pb.StreamContentRequest).GetContentId),
		number("offset_bytes", placeLimit(), (*pb.StreamContentRequest).GetOffsetBytes),
	}
}

// StreamContent streams a content piece by piece, as the caller takes them.
func (s *service) StreamContent(req *pb.StreamContentRequest, stream grpc.ServerStreamingServer[pb.StreamContentResponse]) error {
	give := func(source *engine.Source, at int64, chunk []byte) error {
		piece := &pb.StreamContentResponse{OffsetBytes: at, Chunk: chunk}
		if source != nil {
			piece.Source = toSource(*source)
		}
		return stream.Send(piece)
	}
	return s.engine.StreamContent(stream.Context(), s.key(req.GetConversationId()), req.GetContentId(), req.GetOffsetBytes(), give)
}
