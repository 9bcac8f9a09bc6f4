package policyservice

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
)

func putModelProfileRules() rules.Table[*pb.PutModelProfileRequest] {
	return rules.Table[*pb.PutModelProfileRequest]{
		rules.RequiredMessage("profile", (*pb.PutModelProfileRequest).GetProfile, profileRules()),
		schema.RequestID((*pb.PutModelProfileRequest).GetRequestId),
	}
}

// PutModelProfile creates or replaces a model's profile.
func (s *Service) PutModelProfile(ctx context.Context, req *pb.PutModelProfileRequest) (*pb.PutModelProfileResponse, error) {
	profile := convert.FromModelProfile(req.GetProfile())
	if err := s.engine.PutModelProfile(ctx, convert.Namespace(ctx), profile, convert.FromRequest(req)); err != nil {
		return nil, err
	}
	return &pb.PutModelProfileResponse{Profile: convert.ToModelProfile(profile)}, nil
}
