package memoryservice

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
)

func endSessionRules() rules.Table[*pb.EndSessionRequest] {
	return rules.Table[*pb.EndSessionRequest]{schema.ConversationID("conversation_id", (*pb.EndSessionRequest).GetConversationId)}
}

// EndSession says that a conversation pauses.
func (s *Service) EndSession(ctx context.Context, req *pb.EndSessionRequest) (*pb.EndSessionResponse, error) {
	session, sync, err := s.engine.EndSession(ctx, convert.Key(ctx, req.GetConversationId()))
	if err != nil {
		return nil, err
	}
	return &pb.EndSessionResponse{Session: session, Sync: convert.Each(sync, toSync)}, nil
}
