package policyservice

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
)

func deletePromptRules() rules.Table[*pb.DeletePromptRequest] {
	return rules.Table[*pb.DeletePromptRequest]{
		rules.Text("id", schema.NameLimit(), (*pb.DeletePromptRequest).GetId),
		schema.RequestID((*pb.DeletePromptRequest).GetRequestId),
	}
}

// DeletePrompt removes a prompt.
func (s *Service) DeletePrompt(ctx context.Context, req *pb.DeletePromptRequest) (*pb.DeletePromptResponse, error) {
	return &pb.DeletePromptResponse{}, s.engine.DeletePrompt(ctx, convert.Namespace(ctx), req.GetId(), convert.FromRequest(req))
}
