package policyservice

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/paging"
)

// ListPrompts lists the prompts by id.
func (s *Service) ListPrompts(ctx context.Context, req *pb.ListPromptsRequest) (*pb.ListPromptsResponse, error) {
	after, _ := paging.Open(req)
	found, next, err := s.engine.Prompts(ctx, convert.Namespace(ctx), after, paging.Limit(req))
	if err != nil {
		return nil, err
	}
	prompts, more := paging.Cut(convert.Each(found, toPrompt))
	if more {
		next = prompts[len(prompts)-1].GetId()
	}
	return &pb.ListPromptsResponse{Prompts: prompts, NextPageToken: paging.Next(req, next)}, nil
}
