package contentservice

import (
	"context"
	"time"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func endRunRules() rules.Table[*pb.EndRunRequest] {
	return rules.Table[*pb.EndRunRequest]{
		schema.ConversationID("conversation_id", (*pb.EndRunRequest).GetConversationId),
		rules.Text("run_id", schema.NameLimit(), (*pb.EndRunRequest).GetRunId),
		rules.Duration("grace", "0 to 365 days", maxGrace, (*pb.EndRunRequest).GetGrace),
		schema.RequestID((*pb.EndRunRequest).GetRequestId),
	}
}

// EndRun ends a run, whose contents go after a grace time.
func (s *Service) EndRun(ctx context.Context, req *pb.EndRunRequest) (*pb.EndRunResponse, error) {
	result, err := s.engine.EndRun(ctx, engine.EndRunRequest{
		Key:     convert.Key(ctx, req.GetConversationId()),
		Request: convert.FromRequest(req),
		RunID:   req.GetRunId(),
		Grace:   convert.FromDuration(req.GetGrace()),
	})
	if err != nil {
		return nil, err
	}
	return &pb.EndRunResponse{
		ScheduledContents: result.Scheduled,
		DeleteTime:        convert.ToTime(result.DeleteAt),
		Revision:          result.Revision,
		Duplicate:         result.Duplicate,
	}, nil
}

const maxGrace = 365 * 24 * time.Hour
