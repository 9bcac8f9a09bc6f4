package policyservice

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/paging"
)

// ListActionPolicies lists the action policies by key.
func (s *Service) ListActionPolicies(ctx context.Context, req *pb.ListActionPoliciesRequest) (*pb.ListActionPoliciesResponse, error) {
	after, _ := paging.Open(req)
	found, next, err := s.engine.ActionPolicies(ctx, convert.Namespace(ctx), after, paging.Limit(req))
	if err != nil {
		return nil, err
	}
	return &pb.ListActionPoliciesResponse{Policies: convert.Each(found, toActionPolicy), NextPageToken: paging.Next(req, next)}, nil
}
