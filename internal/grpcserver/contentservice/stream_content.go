package contentservice

import (
	"google.golang.org/grpc"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/admission"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func streamContentRules() rules.Table[*pb.StreamContentRequest] {
	return rules.Table[*pb.StreamContentRequest]{
		schema.ConversationID("conversation_id", (*pb.StreamContentRequest).GetConversationId),
		schema.ContentID((*pb.StreamContentRequest).GetContentId),
		rules.Number("offset_bytes", schema.PlaceLimit(), (*pb.StreamContentRequest).GetOffsetBytes),
	}
}

// What a stream of answers takes: a piece, and what it is made of.
const costOfStream = 4 << 20

// StreamContent streams a content piece by piece, as the caller takes them.
func (s *Service) StreamContent(req *pb.StreamContentRequest, stream grpc.ServerStreamingServer[pb.StreamContentResponse]) error {
	if err := admission.ExchangeOf(stream.Context()).AdmitStream(costOfStream); err != nil {
		return err
	}
	give := func(source *engine.Source, at int64, chunk []byte) error {
		piece := &pb.StreamContentResponse{OffsetBytes: at, Chunk: chunk}
		if source != nil {
			piece.Source = toSource(*source)
		}
		return stream.Send(piece)
	}
	return s.engine.StreamContent(stream.Context(), convert.Key(stream.Context(), req.GetConversationId()), req.GetContentId(), req.GetOffsetBytes(), give)
}
