package grpcserver

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

func getActionPolicyRules() table[*pb.GetActionPolicyRequest] {
	return actionKeyRules[*pb.GetActionPolicyRequest]()
}

// GetActionPolicy returns an action policy.
func (s *service) GetActionPolicy(ctx context.Context, req *pb.GetActionPolicyRequest) (*pb.GetActionPolicyResponse, error) {
	found, err := s.engine.ActionPolicy(ctx, defaultNamespace, fromActionKey(req))
	if err != nil {
		return nil, err
	}
	return &pb.GetActionPolicyResponse{Policy: toActionPolicy(*found)}, nil
}
