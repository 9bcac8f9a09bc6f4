package policyservice

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
)

func deleteModelProfileRules() rules.Table[*pb.DeleteModelProfileRequest] {
	return rules.Table[*pb.DeleteModelProfileRequest]{
		rules.Text("model", schema.NameLimit(), (*pb.DeleteModelProfileRequest).GetModel),
		schema.RequestID((*pb.DeleteModelProfileRequest).GetRequestId),
	}
}

// DeleteModelProfile removes a model's profile.
func (s *Service) DeleteModelProfile(ctx context.Context, req *pb.DeleteModelProfileRequest) (*pb.DeleteModelProfileResponse, error) {
	return &pb.DeleteModelProfileResponse{}, s.engine.DeleteModelProfile(ctx, convert.Namespace(ctx), req.GetModel(), convert.FromRequest(req))
}
