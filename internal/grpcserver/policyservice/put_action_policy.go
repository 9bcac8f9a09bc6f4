package policyservice

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
)

func putActionPolicyRules() rules.Table[*pb.PutActionPolicyRequest] {
	return rules.Table[*pb.PutActionPolicyRequest]{
		rules.RequiredMessage("policy", (*pb.PutActionPolicyRequest).GetPolicy, actionPolicyRules()),
		schema.RequestID((*pb.PutActionPolicyRequest).GetRequestId),
	}
}

// PutActionPolicy creates or replaces an action policy.
func (s *Service) PutActionPolicy(ctx context.Context, req *pb.PutActionPolicyRequest) (*pb.PutActionPolicyResponse, error) {
	policy := fromActionPolicy(req.GetPolicy())
	if err := s.engine.PutActionPolicy(ctx, convert.Namespace(ctx), policy, convert.FromRequest(req)); err != nil {
		return nil, err
	}
	return &pb.PutActionPolicyResponse{Policy: toActionPolicy(policy)}, nil
}
