package grpcserver

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

func putActionPolicyRules() table[*pb.PutActionPolicyRequest] {
	return table[*pb.PutActionPolicyRequest]{
		requiredMessage("policy", (*pb.PutActionPolicyRequest).GetPolicy, actionPolicyRules()),
		requestID((*pb.PutActionPolicyRequest).GetRequestId),
	}
}

// PutActionPolicy creates or replaces an action policy.
func (s *service) PutActionPolicy(ctx context.Context, req *pb.PutActionPolicyRequest) (*pb.PutActionPolicyResponse, error) {
	r, err := requestOf("PutActionPolicy", req, &req.RequestId)
	if err != nil {
		return nil, err
	}
	policy := fromActionPolicy(req.GetPolicy())
	if err := s.engine.PutActionPolicy(ctx, defaultNamespace, policy, r); err != nil {
		return nil, err
	}
	return &pb.PutActionPolicyResponse{Policy: toActionPolicy(policy)}, nil
}
