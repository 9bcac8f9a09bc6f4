package grpcserver

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func endRunRules() table[*pb.EndRunRequest] {
	return table[*pb.EndRunRequest]{
		conversationID("conversation_id", (*pb.EndRunRequest).GetConversationId),
		text("run_id", nameLimit(), (*pb.EndRunRequest).GetRunId),
		duration("grace", "0 to 365 days", maxGrace, (*pb.EndRunRequest).GetGrace),
		requestID((*pb.EndRunRequest).GetRequestId),
	}
}

// EndRun ends a run, whose contents go after a grace time.
func (s *service) EndRun(ctx context.Context, req *pb.EndRunRequest) (*pb.EndRunResponse, error) {
	request, err := requestOf("EndRun", req, &req.RequestId)
	if err != nil {
		return nil, err
	}
	result, err := s.engine.EndRun(ctx, engine.EndRunRequest{
		Key:     s.key(req.GetConversationId()),
		Request: request,
		RunID:   req.GetRunId(),
		Grace:   fromDuration(req.GetGrace()),
	})
	if err != nil {
		return nil, err
	}
	return &pb.EndRunResponse{
		ScheduledContents: result.Scheduled,
		DeleteTime:        toTime(result.DeleteAt),
		Revision:          result.Revision,
		Duplicate:         result.Duplicate,
	}, nil
}
