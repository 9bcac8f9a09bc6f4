package grpcserver

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

func deletePromptRules() table[*pb.DeletePromptRequest] {
	return table[*pb.DeletePromptRequest]{
		text("id", nameLimit(), (*pb.DeletePromptRequest).GetId),
		requestID((*pb.DeletePromptRequest).GetRequestId),
	}
}

// DeletePrompt removes a prompt.
func (s *service) DeletePrompt(ctx context.Context, req *pb.DeletePromptRequest) (*pb.DeletePromptResponse, error) {
	r, err := requestOf("DeletePrompt", req, &req.RequestId)
	if err != nil {
		return nil, err
	}
	if err := s.engine.DeletePrompt(ctx, defaultNamespace, req.GetId(), r); err != nil {
		return nil, err
	}
	return &pb.DeletePromptResponse{}, nil
}
