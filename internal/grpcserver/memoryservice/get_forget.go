package memoryservice

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
)

func getForgetRules() rules.Table[*pb.GetForgetRequest] {
	return rules.Table[*pb.GetForgetRequest]{
		rules.Text("forget_id", rules.ByteRange(1, 64), (*pb.GetForgetRequest).GetForgetId, rules.NoControls),
	}
}

// GetForget says how far a ForgetActor is.
func (s *Service) GetForget(ctx context.Context, req *pb.GetForgetRequest) (*pb.GetForgetResponse, error) {
	forgetting, err := s.engine.Forget(ctx, convert.Namespace(ctx), req.GetForgetId())
	if err != nil {
		return nil, err
	}
	return &pb.GetForgetResponse{Forget: toForget(forgetting)}, nil
}
