package grpcserver

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

func deleteModelProfileRules() table[*pb.DeleteModelProfileRequest] {
	return table[*pb.DeleteModelProfileRequest]{
		text("model", nameLimit(), (*pb.DeleteModelProfileRequest).GetModel),
	}
}

// DeleteModelProfile removes a model's profile.
func (s *service) DeleteModelProfile(ctx context.Context, req *pb.DeleteModelProfileRequest) (*pb.DeleteModelProfileResponse, error) {
	if err := s.engine.DeleteModelProfile(ctx, defaultNamespace, req.GetModel()); err != nil {
		return nil, err
	}
	return &pb.DeleteModelProfileResponse{}, nil
}
