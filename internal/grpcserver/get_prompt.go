package grpcserver

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

func getPromptRules() table[*pb.GetPromptRequest] {
	return table[*pb.GetPromptRequest]{
		text("id", nameLimit(), (*pb.GetPromptRequest).GetId),
	}
}

// GetPrompt returns a prompt.
func (s *service) GetPrompt(ctx context.Context, req *pb.GetPromptRequest) (*pb.GetPromptResponse, error) {
	found, err := s.engine.Prompt(ctx, defaultNamespace, req.GetId())
	if err != nil {
		return nil, err
	}
	return &pb.GetPromptResponse{Prompt: toPrompt(*found)}, nil
}
