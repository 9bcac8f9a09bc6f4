package grpcserver

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

func putModelProfileRules() table[*pb.PutModelProfileRequest] {
	return table[*pb.PutModelProfileRequest]{
		requiredMessage("profile", (*pb.PutModelProfileRequest).GetProfile, profileRules()),
		requestID((*pb.PutModelProfileRequest).GetRequestId),
	}
}

// PutModelProfile creates or replaces a model's profile.
func (s *service) PutModelProfile(ctx context.Context, req *pb.PutModelProfileRequest) (*pb.PutModelProfileResponse, error) {
	r, err := requestOf("PutModelProfile", req, &req.RequestId)
	if err != nil {
		return nil, err
	}
	profile := fromProfile(req.GetProfile())
	if err := s.engine.PutModelProfile(ctx, defaultNamespace, profile, r); err != nil {
		return nil, err
	}
	return &pb.PutModelProfileResponse{Profile: toProfile(profile)}, nil
}
