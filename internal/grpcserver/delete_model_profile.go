package grpcserver

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

func deleteModelProfileRules() table[*pb.DeleteModelProfileRequest] {
	return table[*pb.DeleteModelProfileRequest]{
		text("model", nameLimit(), (*pb.DeleteModelProfileRequest).GetModel),
		requestID((*pb.DeleteModelProfileRequest).GetRequestId),
	}
}

// DeleteModelProfile removes a model's profile.
func (s *service) DeleteModelProfile(ctx context.Context, req *pb.DeleteModelProfileRequest) (*pb.DeleteModelProfileResponse, error) {
	r, err := requestOf("DeleteModelProfile", req, &req.RequestId)
	if err != nil {
		return nil, err
	}
	if err := s.engine.DeleteModelProfile(ctx, defaultNamespace, req.GetModel(), r); err != nil {
		return nil, err
	}
	return &pb.DeleteModelProfileResponse{}, nil
}
