package policyservice

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
)

func deleteActionPolicyRules() rules.Table[*pb.DeleteActionPolicyRequest] {
	return append(actionKeyRules[*pb.DeleteActionPolicyRequest](), schema.RequestID((*pb.DeleteActionPolicyRequest).GetRequestId))
}

// DeleteActionPolicy removes an action policy.
func (s *Service) DeleteActionPolicy(ctx context.Context, req *pb.DeleteActionPolicyRequest) (*pb.DeleteActionPolicyResponse, error) {
	r, err := convert.FromRequest(req)
	if err != nil {
		return nil, err
	}
	if err := s.engine.DeleteActionPolicy(ctx, convert.Namespace(ctx), fromActionKey(req), r); err != nil {
		return nil, err
	}
	return &pb.DeleteActionPolicyResponse{}, nil
}
