package grpcserver

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

func putPromptRules() table[*pb.PutPromptRequest] {
	return table[*pb.PutPromptRequest]{
		requiredMessage("prompt", (*pb.PutPromptRequest).GetPrompt, promptRules()),
		requestID((*pb.PutPromptRequest).GetRequestId),
	}
}

// PutPrompt creates or replaces a prompt.
func (s *service) PutPrompt(ctx context.Context, req *pb.PutPromptRequest) (*pb.PutPromptResponse, error) {
	r, err := requestOf("PutPrompt", req, &req.RequestId)
	if err != nil {
		return nil, err
	}
	stored, err := s.engine.PutPrompt(ctx, defaultNamespace, fromPrompt(req.GetPrompt()), r)
	if err != nil {
		return nil, err
	}
	return &pb.PutPromptResponse{Prompt: toPrompt(*stored)}, nil
}
