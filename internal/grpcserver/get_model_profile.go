package grpcserver

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

func getModelProfileRules() table[*pb.GetModelProfileRequest] {
	return table[*pb.GetModelProfileRequest]{
		text("model", nameLimit(), (*pb.GetModelProfileRequest).GetModel),
	}
}

// GetModelProfile returns a model's profile.
func (s *service) GetModelProfile(ctx context.Context, req *pb.GetModelProfileRequest) (*pb.GetModelProfileResponse, error) {
	found, err := s.engine.ModelProfile(ctx, defaultNamespace, req.GetModel())
	if err != nil {
		return nil, err
	}
	return &pb.GetModelProfileResponse{Profile: toProfile(*found)}, nil
}
