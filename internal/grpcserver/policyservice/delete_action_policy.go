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
	return &pb.DeleteActionPolicyResponse{}, s.engine.DeleteActionPolicy(ctx, convert.Namespace(ctx), fromActionKey(req), convert.FromRequest(req))
}
