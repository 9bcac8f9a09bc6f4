package policyservice

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
)

// GetActionPolicy returns an action policy.
func (s *Service) GetActionPolicy(ctx context.Context, req *pb.GetActionPolicyRequest) (*pb.GetActionPolicyResponse, error) {
	found, err := s.engine.ActionPolicy(ctx, convert.Namespace(ctx), fromActionKey(req))
	if err != nil {
		return nil, err
	}
	return &pb.GetActionPolicyResponse{Policy: toActionPolicy(*found)}, nil
}
