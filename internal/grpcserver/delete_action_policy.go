package grpcserver

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

func deleteActionPolicyRules() table[*pb.DeleteActionPolicyRequest] {
	return append(actionKeyRules[*pb.DeleteActionPolicyRequest](), requestID((*pb.DeleteActionPolicyRequest).GetRequestId))
}

// DeleteActionPolicy removes an action policy.
func (s *service) DeleteActionPolicy(ctx context.Context, req *pb.DeleteActionPolicyRequest) (*pb.DeleteActionPolicyResponse, error) {
	r, err := requestOf("DeleteActionPolicy", req, &req.RequestId)
	if err != nil {
		return nil, err
	}
	if err := s.engine.DeleteActionPolicy(ctx, defaultNamespace, fromActionKey(req), r); err != nil {
		return nil, err
	}
	return &pb.DeleteActionPolicyResponse{}, nil
}
