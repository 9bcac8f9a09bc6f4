package policyservice

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
)

func putPromptRules() rules.Table[*pb.PutPromptRequest] {
	return rules.Table[*pb.PutPromptRequest]{
		rules.RequiredMessage("prompt", (*pb.PutPromptRequest).GetPrompt, promptRules()),
		schema.RequestID((*pb.PutPromptRequest).GetRequestId),
	}
}

// PutPrompt creates or replaces a prompt.
func (s *Service) PutPrompt(ctx context.Context, req *pb.PutPromptRequest) (*pb.PutPromptResponse, error) {
	stored, err := s.engine.PutPrompt(ctx, convert.Namespace(ctx), fromPrompt(req.GetPrompt()), convert.FromRequest(req))
	if err != nil {
		return nil, err
	}
	return &pb.PutPromptResponse{Prompt: toPrompt(*stored)}, nil
}
