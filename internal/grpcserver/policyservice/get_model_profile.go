package policyservice

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
)

func getModelProfileRules() rules.Table[*pb.GetModelProfileRequest] {
	return rules.Table[*pb.GetModelProfileRequest]{
		rules.Text("model", schema.NameLimit(), (*pb.GetModelProfileRequest).GetModel),
	}
}

// GetModelProfile returns a model's profile.
func (s *Service) GetModelProfile(ctx context.Context, req *pb.GetModelProfileRequest) (*pb.GetModelProfileResponse, error) {
	found, err := s.engine.ModelProfile(ctx, convert.Namespace(ctx), req.GetModel())
	if err != nil {
		return nil, err
	}
	return &pb.GetModelProfileResponse{Profile: convert.ToModelProfile(*found)}, nil
}
