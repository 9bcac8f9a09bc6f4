package grpcserver

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

func listActionPoliciesRules() table[*pb.ListActionPoliciesRequest] {
	return table[*pb.ListActionPoliciesRequest]{
		pageSize((*pb.ListActionPoliciesRequest).GetPageSize),
		pageToken[*pb.ListActionPoliciesRequest](),
	}
}

// ListActionPolicies lists the action policies by key.
func (s *service) ListActionPolicies(ctx context.Context, req *pb.ListActionPoliciesRequest) (*pb.ListActionPoliciesResponse, error) {
	after, _ := openPage(req)
	found, next, err := s.engine.ActionPolicies(ctx, defaultNamespace, after, pageLimit(req))
	if err != nil {
		return nil, err
	}
	out := &pb.ListActionPoliciesResponse{Policies: each(found, toActionPolicy)}
	out.NextPageToken, err = nextPage(req, next)
	return out, err
}
