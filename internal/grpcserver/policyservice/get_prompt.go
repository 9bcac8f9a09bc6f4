package policyservice

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
)

func getPromptRules() rules.Table[*pb.GetPromptRequest] {
	return rules.Table[*pb.GetPromptRequest]{
		rules.Text("id", schema.NameLimit(), (*pb.GetPromptRequest).GetId),
	}
}

// GetPrompt returns a prompt.
func (s *Service) GetPrompt(ctx context.Context, req *pb.GetPromptRequest) (*pb.GetPromptResponse, error) {
	found, err := s.engine.Prompt(ctx, convert.Namespace(ctx), req.GetId())
	if err != nil {
		return nil, err
	}
	return &pb.GetPromptResponse{Prompt: toPrompt(*found)}, nil
}
