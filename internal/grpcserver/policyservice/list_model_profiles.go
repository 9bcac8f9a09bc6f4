package policyservice

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/paging"
)

// ListModelProfiles lists the profiles by model name.
func (s *Service) ListModelProfiles(ctx context.Context, req *pb.ListModelProfilesRequest) (*pb.ListModelProfilesResponse, error) {
	after, _ := paging.Open(req)
	found, next, err := s.engine.ModelProfiles(ctx, convert.Namespace(ctx), after, paging.Limit(req))
	if err != nil {
		return nil, err
	}
	return &pb.ListModelProfilesResponse{Profiles: convert.Each(found, convert.ToModelProfile), NextPageToken: paging.Next(req, next)}, nil
}
