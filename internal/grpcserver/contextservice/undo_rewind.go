package contextservice

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func undoRewindRules() rules.Table[*pb.UndoRewindRequest] {
	return rules.Table[*pb.UndoRewindRequest]{
		schema.ConversationID("conversation_id", (*pb.UndoRewindRequest).GetConversationId),
		schema.RequestID((*pb.UndoRewindRequest).GetRequestId),
	}
}

// UndoRewind brings back what the newest rewind took back.
func (s *Service) UndoRewind(ctx context.Context, req *pb.UndoRewindRequest) (*pb.UndoRewindResponse, error) {
	r, err := s.engine.UndoRewind(ctx, engine.UndoRewindRequest{Key: convert.Key(ctx, req.GetConversationId()), Request: convert.FromRequest(req)})
	if err != nil {
		return nil, err
	}
	return &pb.UndoRewindResponse{
		StartIndex:       r.Range.First,
		EndIndex:         r.Range.End,
		RevivedSummaries: convert.Each(r.Revived, convert.SummaryID),
		Events:           convert.Each(r.Events, convert.ToEvent),
		Revision:         r.Revision,
		Duplicate:        r.Duplicate,
	}, nil
}
