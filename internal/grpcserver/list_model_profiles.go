package grpcserver

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

func listModelProfilesRules() table[*pb.ListModelProfilesRequest] {
	return table[*pb.ListModelProfilesRequest]{
		pageSize((*pb.ListModelProfilesRequest).GetPageSize),
		pageToken[*pb.ListModelProfilesRequest](),
	}
}

// ListModelProfiles lists the profiles by model name.
func (s *service) ListModelProfiles(ctx context.Context, req *pb.ListModelProfilesRequest) (*pb.ListModelProfilesResponse, error) {
	after, _ := openPage(req)
	found, next, err := s.engine.ModelProfiles(ctx, defaultNamespace, after, pageLimit(req))
	if err != nil {
		return nil, err
	}
	out := &pb.ListModelProfilesResponse{Profiles: each(found, toProfile)}
	out.NextPageToken, err = nextPage(req, next)
	return out, err
}
